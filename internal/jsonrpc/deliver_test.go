package jsonrpc

import (
	"sync/atomic"
	"testing"

	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/internal/jsonrpc/rpctest"
)

// Every node gets what is delivered, also when the first one took it. It is refused only
// if all refuse it.
func TestDeliver(t *testing.T) {
	const takes, refuses, fails = 1, 2, 3
	for name, c := range map[string]struct {
		says [2]int
		want fault.Code
	}{
		"both take it":       {[2]int{takes, takes}, ""},
		"the second does":    {[2]int{refuses, takes}, ""},
		"the first does":     {[2]int{takes, refuses}, ""},
		"one fails":          {[2]int{takes, fails}, ""},
		"both refuse":        {[2]int{refuses, refuses}, fault.InvalidState},
		"refused and failed": {[2]int{refuses, fails}, fault.Upstream},
		"failed and refused": {[2]int{fails, refuses}, fault.Upstream},
		"both fail":          {[2]int{fails, fails}, fault.Upstream},
	} {
		t.Run(name, func(t *testing.T) {
			var got [2]atomic.Int32
			var urls []string
			for i := range got {
				urls = append(urls, rpctest.Serve(t, func(calls []rpctest.Call) any {
					var all []any
					for _, call := range calls {
						said := c.says[i]
						if call.Method == "network" {
							said = 16
						} else {
							got[i].Add(1)
						}
						all = append(all, result(call, said))
					}
					return all
				}).URL)
			}
			n := newTestNodes(t, urls...)
			err := n.Deliver(t.Context(), func() []Request { return []Request{{Method: "send", Result: new(int)}} }, func(r []Request) error {
				switch *r[0].Result.(*int) {
				case refuses:
					return fault.New(fault.InvalidState, "refused")
				case fails:
					return fault.New(fault.Upstream, "failed")
				}
				return r[0].Err
			})
			if c.want == "" && err != nil || c.want != "" && fault.CodeOf(err) != c.want {
				t.Errorf("%v", err)
			}
			if got[0].Load() != 1 || got[1].Load() != 1 {
				t.Errorf("handed over %d and %d times", got[0].Load(), got[1].Load())
			}
		})
	}
}
