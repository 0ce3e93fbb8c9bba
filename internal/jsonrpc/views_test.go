package jsonrpc

import (
	"encoding/json"
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/swapper-go/swapper/internal/jsonrpc/rpctest"
	"github.com/swapper-go/swapper/internal/trial"
)

// A node that loses a contradiction is asked last for a minute, whatever it answers
// meanwhile, and is handed what all nodes are handed.
func TestContradictedNode(t *testing.T) {
	var asked [2]int
	var urls []string
	for i := range asked {
		urls = append(urls, rpctest.Serve(t, func(calls []rpctest.Call) any {
			var all []any
			for _, c := range calls {
				if c.Method == "who" {
					asked[i]++
				}
				all = append(all, rpctest.Result(c, i+1))
			}
			return all
		}).URL)
	}
	now := time.Unix(1_800_000_000, 0)
	n := trial.Must(Dial(Dialect{Identity: "network", Check: func(json.RawMessage) error { return nil }, Judge: func(string, *Error) Verdict { return Answer }}, urls, http.DefaultTransport, func() time.Time { return now }))(t)
	who := func(node Node) int {
		t.Helper()
		var got int
		trial.Do(t, AskAll(t.Context(), node, []Request{{Method: "who", Result: &got}}))
		return got
	}
	views, _ := n.Singles()
	if got := fmt.Sprint(who(views[0]), who(views[1]), who(n)); got != "1 2 1" || views[0].Several() {
		t.Errorf("the views answer %s", got)
	}
	views[0].Contradicts(true)
	views[1].Contradicts(false)
	if views, _ = n.Singles(); who(n) != 2 || who(views[0]) != 2 || who(views[1]) != 1 || who(n) != 2 {
		t.Error("the first node has kept its place")
	}
	asked = [2]int{}
	if err := n.Each(t.Context(), func() []Request { return []Request{{Method: "who", Result: new(int)}} }, func([]Request) {}); err != nil || asked != [2]int{1, 1} {
		t.Errorf("handed to %v, %v", asked, err)
	}
	now = now.Add(recheck)
	if who(n) != 1 {
		t.Error("the first node has lost its place for more than a minute")
	}
	views, _ = n.Singles()
	views[0].Contradicts(true)
	if got := n.Contradictions(); len(got) != 2 || got[0] != 2 || got[1] != 1 {
		t.Errorf("contradictions %v", got)
	}
}
