package jsonrpc

import (
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/swapper-go/swapper/internal/httpx"
	"github.com/swapper-go/swapper/internal/jsonrpc/rpctest"
	"github.com/swapper-go/swapper/internal/trial"
)

// A node that has versions is asked for its own before the first request that depends on
// it, and along with others; again once it did not understand.
func TestFormOfAVersion(t *testing.T) {
	version := 7
	var requests [][]string
	server := rpctest.Serve(t, func(calls []rpctest.Call) any {
		var asked []string
		var all []any
		for _, c := range calls {
			asked = append(asked, c.Method+string(c.Params))
			switch {
			case c.Method == "version":
				all = append(all, rpctest.Result(c, version))
			case c.Method == "form" && string(c.Params) != map[int]string{7: `"old"`, 9: `"new"`}[version]:
				all = append(all, rpctest.Refusal(c, -32602, "Invalid params"))
			default:
				all = append(all, rpctest.Result(c, 1))
			}
		}
		requests = append(requests, asked)
		return all
	})
	nodes := func() *Nodes {
		n := trial.Must(Dial(Dialect{
			Identity: "id", Check: func(json.RawMessage) error { return nil }, Version: "version",
			ReadVersion: func(answer json.RawMessage) (v int, err error) {
				if err = json.Unmarshal(answer, &v); err == nil && v < 7 {
					err = errors.New("is too old")
				}
				return v, err
			},
			Judge: func(string, *Error) Verdict { return Answer },
		}, []string{server.URL}, http.DefaultTransport, time.Now))(t)
		n.Retry = httpx.RetryPolicy{Calls: 1}
		t.Cleanup(n.Close)
		return n
	}
	n := nodes()
	form := func(v int) any {
		if v < 9 {
			return "old"
		}
		return "new"
	}
	ask := func(r ...Request) error {
		requests = nil
		for i := range r {
			r[i].Result = new(int)
		}
		return AskAll(t.Context(), n, r)
	}
	expect := func(what string, want ...[]string) {
		t.Helper()
		if !slices.EqualFunc(requests, want, slices.Equal) {
			t.Errorf("%s: %v, want %v", what, requests, want)
		}
	}
	if err := ask(Request{Method: "form", Form: form}); err != nil {
		t.Error(err)
	}
	expect("the first", []string{"id[]", "version[]"}, []string{`form"old"`})
	if err := ask(Request{Method: "form", Form: form}, Request{Method: "named", Named: map[string]int{"a": 1}, Params: []any{2}}); err != nil {
		t.Error(err)
	}
	expect("the second", []string{`form"old"`, `named{"a":1}`})
	version = 9
	if err := ask(Request{Method: "form", Form: form}); err == nil {
		t.Error("what a node did not understand is an answer")
	}
	if err := ask(Request{Method: "form", Form: form}); err != nil {
		t.Error(err)
	}
	expect("after it speaks another one", []string{"id[]", "version[]"}, []string{`form"new"`})
	n = nodes()
	if err := ask(Request{Method: "plain", Params: []any{3}}); err != nil {
		t.Error(err)
	}
	expect("one that does not depend on it", []string{"plain[3]", "id[]", "version[]"})
	version = 3
	n = nodes()
	if err := ask(Request{Method: "plain"}); err == nil {
		t.Error("a node that is too old is believed")
	}
}
