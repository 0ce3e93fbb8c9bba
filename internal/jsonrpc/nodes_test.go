package jsonrpc

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/internal/devnet/loopback"
	"github.com/swapper-go/swapper/internal/httpx"
	"github.com/swapper-go/swapper/internal/jsonrpc/rpctest"
	"github.com/swapper-go/swapper/internal/trial"
)

// result answers a call; the network that a node serves is always the right one.
func result(c rpctest.Call, value any) any {
	if c.Method == "network" {
		value = "right"
	}
	return rpctest.Result(c, value)
}

// testDialect is that of a family of chains whose nodes name their network, "right",
// and may be behind: then they answer "head" with a number below 100.
var testDialect = Dialect{
	Identity: "network",
	Check: func(answer json.RawMessage) error {
		var name string
		switch err := json.Unmarshal(answer, &name); {
		case err != nil:
			return errors.New("did not name its network")
		case name != "right":
			return &ForeignError{Says: "serves " + name}
		}
		return nil
	},
	Judge: func(_ string, err *Error) Verdict {
		switch err.Code {
		case 3, -32601:
			return Answer
		case -32004:
			return Elsewhere
		}
		return Trouble
	},
	Head: func(r Request, _ json.RawMessage, got any) (uint64, bool, bool) {
		if r.Method != "head" {
			return 0, false, false
		}
		n := uint64(*got.(*int))
		return n, n < 100, true
	},
	Unit: "block",
}

// echo answers every call with its first parameter.
func echo(calls []rpctest.Call) any {
	var all []any
	for _, c := range calls {
		var params []any
		_ = json.Unmarshal(c.Params, &params)
		all = append(all, result(c, append(params, nil)[0]))
	}
	return all
}

func newTestNodes(t *testing.T, urls ...string) *Nodes {
	t.Helper()
	n := trial.Must(Dial(testDialect, urls, http.DefaultTransport, time.Now))(t)
	n.Retry = httpx.RetryPolicy{Calls: 1}
	t.Cleanup(n.Close)
	return n
}

// echoes are calls whose answers are their numbers.
func echoes(count int) ([]Request, []int) {
	requests, answers := make([]Request, count), make([]int, count)
	for i := range requests {
		requests[i] = Request{Method: "echo", Params: []any{i}, Result: &answers[i]}
	}
	return requests, answers
}

func checkEchoes(t *testing.T, n *Nodes, count int) {
	t.Helper()
	requests, answers := echoes(count)
	trial.Do(t, n.Batch(t.Context(), requests))
	for i, got := range answers {
		if got != i || requests[i].Err != nil {
			t.Fatalf("answer %d is %d, %v", i, got, requests[i].Err)
		}
	}
}

// Servers differ in how many calls they take at once, and in how they say so.
func TestNodesThatTakeFewCalls(t *testing.T) {
	const most = 7
	for name, refuse := range map[string]func(calls []rpctest.Call) any{
		"one object": func(calls []rpctest.Call) any {
			return rpctest.Refusal(rpctest.Call{ID: json.RawMessage("null")}, -32600, "batch too large")
		},
		"one answer":            func(calls []rpctest.Call) any { return []any{rpctest.Refusal(calls[0], -32600, "batch too large")} },
		"a part of the answers": func(calls []rpctest.Call) any { return echo(calls[:1]) },
		"HTTP 413":              func([]rpctest.Call) any { return http.StatusRequestEntityTooLarge },
		"size of the answers": func(calls []rpctest.Call) any {
			all := echo(calls).([]any)
			for i := most; i < len(calls); i++ {
				all[i] = rpctest.Refusal(calls[i], -32003, "response too large")
			}
			return all
		},
	} {
		t.Run(name, func(t *testing.T) {
			for _, limit := range []int{most, 1} {
				var trips atomic.Int64
				s := rpctest.Serve(t, func(calls []rpctest.Call) any {
					trips.Add(1)
					if len(calls) > limit {
						return refuse(calls)
					}
					return echo(calls)
				})
				n := newTestNodes(t, s.URL)
				checkEchoes(t, n, 150)
				before := trips.Load()
				checkEchoes(t, n, 3) // the size is remembered
				if got := trips.Load() - before; got > 3 {
					t.Errorf("%d requests for 3 calls", got)
				}
			}
		})
	}
}

func TestNodesKeepConnectionsAndBounds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // a connection whose request is not noted as written within 50 ms is not kept
		var opened, under, most atomic.Int64
		var memory loopback.Network
		l := trial.Must(memory.Listen(""))(t)
		s := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if now := under.Add(1); now > most.Load() {
				most.Store(now)
			}
			defer under.Add(-1)
			time.Sleep(2 * time.Millisecond)
			var calls []rpctest.Call
			_ = json.NewDecoder(r.Body).Decode(&calls)
			_ = json.NewEncoder(w).Encode(echo(calls))
		}), ConnState: func(_ net.Conn, state http.ConnState) {
			if state == http.StateNew {
				opened.Add(1)
			}
		}}
		go func() { _ = s.Serve(l) }()
		defer s.Close()
		transport := memory.Transport()
		transport.MaxIdleConnsPerHost = parallelRequests
		n := trial.Must(Dial(testDialect, []string{"http://" + l.Addr().String()}, transport, time.Now))(t)
		defer n.Close()
		for range 30 {
			checkEchoes(t, n, 2)
		}
		if opened.Load() != 1 {
			t.Errorf("%d connections for requests one after the other", opened.Load())
		}
		var wait sync.WaitGroup
		for range 30 {
			wait.Go(func() { checkEchoes(t, n, 250) })
		}
		wait.Wait()
		if most.Load() > parallelRequests {
			t.Errorf("%d requests at once, at most %d are allowed", most.Load(), parallelRequests)
		}
	})
}

// A URL often holds a key, and what a node says is not to be trusted either.
func TestNodeErrorsAreShortAndKeepSecrets(t *testing.T) {
	const key = "S3CR3TK3Y"
	long := strings.Repeat("very ", 1000)
	bad := rpctest.Serve(t, func(calls []rpctest.Call) any {
		var all []any
		for _, c := range calls {
			if c.Method == "network" {
				all = append(all, result(c, nil))
			} else {
				all = append(all, rpctest.Refusal(c, 3, long))
			}
		}
		return all
	})
	requests, _ := echoes(1)
	trial.Do(t, newTestNodes(t, bad.URL+"/"+key).Batch(t.Context(), requests))
	if err := requests[0].Err; err == nil || len(err.Error()) > maxErrorText || CodeOf(err) != 3 || fault.CodeOf(err) != fault.Upstream || fault.Public(err) != "the node returned error 3" {
		t.Errorf("the node's error has %d bytes, code %d, is %s and reads %q", len(err.Error()), CodeOf(err), fault.CodeOf(err), fault.Public(err))
	}
	closed := httptest.NewServer(nil)
	closed.Close()
	moved := httptest.NewServer(http.RedirectHandler("http://127.0.0.1:1/"+key, http.StatusFound))
	defer moved.Close()
	for _, base := range []string{closed.URL, moved.URL} {
		url := strings.Replace(base, "http://", "http://user:"+key+"@", 1) + "/" + key + "?key=" + key
		err := newTestNodes(t, url).Batch(t.Context(), requests)
		if err == nil || strings.Contains(err.Error(), key) || fault.CodeOf(err) != fault.Upstream {
			t.Errorf("error %v", err)
		}
	}
	for _, url := range []string{"ftp://host/" + key, "host/" + key, "http://[" + key, "ws://host/" + key, ""} {
		if _, err := Dial(testDialect, []string{url}, http.DefaultTransport, time.Now); err == nil || strings.Contains(err.Error(), key) {
			t.Errorf("%q: %v", url, err)
		}
	}
}

// A node that is down at first is asked again while the context lasts.
func TestNodesAreAskedAgain(t *testing.T) {
	var asked atomic.Int64
	s := rpctest.Serve(t, func(calls []rpctest.Call) any {
		if asked.Add(1) < 3 {
			return http.StatusBadGateway
		}
		return echo(calls)
	})
	n := newTestNodes(t, s.URL)
	n.Retry = httpx.RetryPolicy{Delay: time.Millisecond}
	checkEchoes(t, n, 1)
	synctest.Test(t, func(t *testing.T) {
		n := trial.Must(Dial(testDialect, []string{s.URL}, always502{}, time.Now))(t)
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		defer cancel()
		requests, _ := echoes(1)
		began := time.Now()
		err := n.Batch(ctx, requests)
		if !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), "HTTP status 502") || time.Since(began) > 30*time.Second {
			t.Errorf("after %v: %v", time.Since(began), err)
		}
	})
}

// always502 is a transport to a node that is down.
type always502 struct{}

func (always502) RoundTrip(r *http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: http.StatusBadGateway, Header: http.Header{}, Body: http.NoBody, Request: r}, nil
}

// An answer that cannot be read, or that cannot be one to the question, leaves nothing
// behind in the results, and the node is passed over.
func TestHalfReadAnswersAreForgotten(t *testing.T) {
	type pair struct{ A, B int }
	bad := func(value any) string {
		return rpctest.Serve(t, func(calls []rpctest.Call) any {
			return []any{result(calls[0], value), result(calls[1], nil)}
		}).URL
	}
	good := rpctest.Serve(t, func(calls []rpctest.Call) any {
		return []any{result(calls[0], nil), result(calls[1], nil)}
	})
	for name, value := range map[string]any{"half read": map[string]any{"A": 5, "B": "no number"}, "refused": map[string]any{"A": 5, "B": 13}} {
		var got *pair
		r := []Request{{Method: "pair", Result: &got, Check: func(v any) error {
			if p := *v.(**pair); p != nil && p.B == 13 {
				return errors.New("13 is none")
			}
			return nil
		}}}
		if err := newTestNodes(t, bad(value), good.URL).Batch(t.Context(), r); err != nil || got != nil {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
		if err := newTestNodes(t, bad(value)).Batch(t.Context(), r); err == nil || got != nil || !strings.Contains(err.Error(), "pair") {
			t.Errorf("%s, no other node: %+v, %v", name, got, err)
		}
	}
}

// A server that takes no batches is asked one call at a time from then on, and not with
// ever smaller batches.
func TestNodesThatTakeNoBatches(t *testing.T) {
	var trips atomic.Int64
	s := rpctest.Serve(t, func(calls []rpctest.Call) any {
		trips.Add(1)
		if len(calls) > 1 {
			return rpctest.Refusal(rpctest.Call{ID: json.RawMessage("null")}, -32600, "Batch requests are not supported")
		}
		return echo(calls)
	})
	n := newTestNodes(t, s.URL)
	checkEchoes(t, n, 150)
	if got := trips.Load(); got > 2+151 { // both parts of the batch were tried
		t.Errorf("%d requests for 151 calls", got)
	}
}

// What another node may know better is asked of it; if none does, the best answer counts.
func TestAnswersThatAnotherNodeMayHave(t *testing.T) {
	serve := func(code, head int) string {
		return rpctest.Serve(t, func(calls []rpctest.Call) any {
			var all []any
			for _, c := range calls {
				switch {
				case c.Method == "head":
					all = append(all, result(c, head))
				case c.Method == "block" && code != 0:
					all = append(all, rpctest.Refusal(c, code, "no such block"))
				default:
					all = append(all, result(c, 42))
				}
			}
			return all
		}).URL
	}
	for name, c := range map[string]struct {
		urls  []string
		value int
		code  int
		head  int
	}{
		"the first has it":             {[]string{serve(0, 200), serve(-32004, 200)}, 42, 0, 200},
		"the second has it":            {[]string{serve(-32004, 200), serve(0, 200)}, 42, 0, 200},
		"an error that is final":       {[]string{serve(3, 200), serve(0, 200)}, 0, 3, 200},
		"nobody has it":                {[]string{serve(-32004, 150), serve(-32004, 151)}, 0, -32004, 151},
		"one node alone":               {[]string{serve(-32004, 150)}, 0, -32004, 150},
		"who has it is behind":         {[]string{serve(-32004, 150), serve(0, 50)}, 0, -32004, 150},
		"all are behind":               {[]string{serve(0, 50), serve(0, 60)}, 42, 0, 60},
		"who is behind is passed over": {[]string{serve(0, 50), serve(0, 160)}, 42, 0, 160},
		"one that is behind, alone":    {[]string{serve(0, 50)}, 42, 0, 50},
	} {
		var head, block int
		r := []Request{{Method: "head", Result: &head}, {Method: "block", Result: &block}}
		n := newTestNodes(t, c.urls...)
		if err := n.Batch(t.Context(), r); err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if block != c.value || CodeOf(r[1].Err) != c.code || head != c.head {
			t.Errorf("%s: %d at %d, %v; want %d at %d, code %d", name, block, head, r[1].Err, c.value, c.head, c.code)
		}
	}
}

// A node of another network is not believed, and named.
func TestForeignNodes(t *testing.T) {
	foreign := rpctest.Serve(t, func(calls []rpctest.Call) any {
		var all []any
		for _, c := range calls {
			all = append(all, rpctest.Result(c, map[string]any{"network": "wrong", "echo": 9}[c.Method]))
		}
		return all
	})
	good := rpctest.Serve(t, echo)
	n := newTestNodes(t, foreign.URL, good.URL)
	checkEchoes(t, n, 3)
	if err := n.Foreign(); fault.CodeOf(err) != fault.InvalidInput || !strings.Contains(err.Error(), "serves wrong") {
		t.Errorf("foreign: %v", err)
	}
	var got int
	err := newTestNodes(t, foreign.URL).Batch(t.Context(), []Request{{Method: "echo", Params: []any{9}, Result: &got}})
	if fault.CodeOf(err) != fault.Upstream || !strings.Contains(err.Error(), "serves wrong") || got != 0 {
		t.Errorf("alone: %d, %v", got, err)
	}
	if err := newTestNodes(t, good.URL).Foreign(); err != nil {
		t.Error(err)
	}
}

// Bodies are bounded; a batch whose answer is too long is asked for in parts.
func TestLongAnswers(t *testing.T) {
	long := strings.Repeat("x", bodyLimit/4)
	s := rpctest.Serve(t, func(calls []rpctest.Call) any {
		var all []any
		for _, c := range calls {
			all = append(all, result(c, long))
		}
		return all
	})
	patient := func(url string) *Nodes { // so much takes a busy machine longer than a request may last
		n := newTestNodes(t, url)
		n.all[0].http.Timeout = 2 * time.Minute
		return n
	}
	n := patient(s.URL)
	texts := make([]string, 6)
	var r []Request
	for i := range texts {
		r = append(r, Request{Method: "text", Result: &texts[i]})
	}
	if err := n.Batch(t.Context(), r); err != nil || len(texts[5]) != len(long) {
		t.Errorf("%d bytes, %v", len(texts[5]), err)
	}
	endless := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		for {
			if _, err := w.Write(make([]byte, 1<<20)); err != nil {
				return
			}
		}
	}))
	defer endless.Close()
	err := patient(endless.URL).Batch(t.Context(), r[:1])
	if fault.CodeOf(err) != fault.Upstream || !strings.Contains(err.Error(), "too large") {
		t.Errorf("endless: %v", err)
	}
}

// What is in the place of JSON-RPC is refused, whatever it is.
func TestWhatIsNoAnswer(t *testing.T) {
	for name, body := range map[string]string{
		"nothing": "", "text": "<html>", "a number": "5", "null": "null", "an answer to another call": `[{"id":77,"result":1},{"id":2,"result":"right"}]`,
		"no result": `[{"id":1},{"id":2,"result":"right"}]`, "twice": `[{"id":1,"result":1},{"id":1,"result":1},{"id":2,"result":"right"}]`, "nulls": "[null,null]",
		"an error as text": `[{"id":1,"error":"no"},{"id":2,"result":"right"}]`, "an error without code": `[{"id":1,"error":{"message":"no"}},{"id":2,"result":"right"}]`,
	} {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, body) }))
		r, got := echoes(1)
		if err := newTestNodes(t, s.URL).Batch(t.Context(), r); fault.CodeOf(err) != fault.Upstream || got[0] != 0 {
			t.Errorf("%s: %d, %v", name, got[0], err)
		}
		s.Close()
	}
}

func FuzzReplies(f *testing.F) {
	for _, s := range []string{`[{"jsonrpc":"2.0","id":1,"result":null}]`, `{"id":1,"error":{"code":-32600,"message":"batch"}}`, `[{"id":"2","result":{}},{"id":1,"error":{"code":"x","message":5,"data":[1]}}]`, "[null]", "[", "{}"} {
		f.Add([]byte(s), 2)
	}
	f.Fuzz(func(t *testing.T, data []byte, n int) {
		if n < 1 || n > 1000 {
			return
		}
		all, err := parseReplies(data, n)
		if err != nil {
			return
		}
		if len(all) != n {
			t.Fatalf("%d replies to %d calls", len(all), n)
		}
		for _, r := range all {
			if r != nil && r.Error != nil && (r.Error.Error() == "" || len(r.Error.Error()) > maxErrorText) {
				t.Fatalf("error %q", r.Error.Error())
			}
		}
	})
}
