package jsonrpc

import (
	"context"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/swapper-go/swapper/internal/httpx"
	"github.com/swapper-go/swapper/internal/jsonrpc/rpctest"
	"github.com/swapper-go/swapper/internal/trial"
)

// lightNodes are nodes whose calls are all light but "heavy".
func lightNodes(t *testing.T, url string) *Nodes {
	t.Helper()
	d := testDialect
	d.Light = func(r Request) bool { return r.Method != "heavy" }
	n := trial.Must(Dial(d, []string{url}, http.DefaultTransport, time.Now))(t)
	n.Retry = httpx.RetryPolicy{Calls: 1}
	t.Cleanup(n.Close)
	return n
}

// gate is a node that answers nothing before it is opened.
type gate struct {
	open     chan struct{}
	arrived  atomic.Int32 // requests
	requests atomic.Int32
	mu       sync.Mutex
	calls    []string // parameters, in order
	answer   func([]rpctest.Call) any
}

func (g *gate) handle(calls []rpctest.Call) any {
	g.arrived.Add(1)
	<-g.open
	g.requests.Add(1)
	g.mu.Lock()
	for _, c := range calls {
		g.calls = append(g.calls, string(c.Params))
	}
	g.mu.Unlock()
	return g.answer(calls)
}

// crowd takes every place of the node with calls that share no request, asks as many
// callers at once, each a question of its own behind one that all ask, and returns when
// they all wait.
func crowd(t *testing.T, n *Nodes, g *gate, callers int) (wait func() []error) {
	t.Helper()
	var all sync.WaitGroup
	for range parallelRequests {
		all.Go(func() {
			if err := n.Batch(t.Context(), []Request{{Method: "heavy", Params: []any{"heavy"}, Result: new(any)}}); err != nil {
				t.Error(err)
			}
		})
	}
	for int(g.arrived.Load()) < parallelRequests {
		time.Sleep(time.Millisecond)
	}
	errs := make([]error, callers)
	for i := range callers {
		all.Go(func() {
			var same, own int
			requests := []Request{{Method: "echo", Params: []any{-1}, Result: &same}, {Method: "echo", Params: []any{i}, Result: &own}}
			errs[i] = AskAll(t.Context(), n, requests)
			if errs[i] == nil && (same != -1 || own != i) {
				t.Errorf("caller %d was told %d and %d", i, same, own)
			}
		})
	}
	waits(n, callers)
	return func() []error { all.Wait(); return errs }
}

// waits returns when so many callers wait for the node.
func waits(n *Nodes, callers int) {
	for e := n.all[0]; ; time.Sleep(time.Millisecond) {
		e.mu.Lock()
		waiting := len(e.waiting)
		e.mu.Unlock()
		if waiting == callers {
			return
		}
	}
}

// While a node is busy, what many ask it is collected and asked in few requests, and what
// several ask in the same words once in each.
func TestWhatManyAskABusyNodeGoesOutTogether(t *testing.T) {
	g := &gate{open: make(chan struct{}), answer: echo}
	n := lightNodes(t, rpctest.Serve(t, g.handle).URL)
	const callers = 64
	n.all[0].verified = true
	wait := crowd(t, n, g, callers)
	close(g.open)
	for i, err := range wait() {
		if err != nil {
			t.Errorf("caller %d: %v", i, err)
		}
	}
	if got := g.requests.Load() - parallelRequests; got > parallelRequests {
		t.Errorf("%d requests for %d callers", got, callers)
	}
	same := 0
	for _, p := range g.calls {
		if p == "[-1]" {
			same++
		}
	}
	if same == 0 || same > int(g.requests.Load()-parallelRequests) {
		t.Errorf("the same was asked %d times in %d requests", same, g.requests.Load()-parallelRequests)
	}
}

// A shared request that a node finds too large, or answers in part, is nobody's loss: each
// caller's calls go out on their own then.
func TestSharedRequestsThatAreRefused(t *testing.T) {
	for name, answer := range map[string]func([]rpctest.Call) any{
		"one object": func(calls []rpctest.Call) any {
			return rpctest.Refusal(rpctest.Call{ID: []byte("null")}, -32600, "batch too large")
		},
		"no batches": func([]rpctest.Call) any {
			return rpctest.Refusal(rpctest.Call{ID: []byte("null")}, -32600, "batch requests are not supported")
		},
		"HTTP 413":              func([]rpctest.Call) any { return http.StatusRequestEntityTooLarge },
		"a part of the answers": func(calls []rpctest.Call) any { return echo(calls[:1]) },
		"left out": func(calls []rpctest.Call) any {
			all := echo(calls).([]any)
			all[len(all)-1] = rpctest.Refusal(calls[len(calls)-1], -32003, "response too large")
			return all
		},
	} {
		t.Run(name, func(t *testing.T) {
			g := &gate{open: make(chan struct{}), answer: func(calls []rpctest.Call) any {
				if len(calls) > 2 {
					return answer(calls)
				}
				return echo(calls)
			}}
			n := lightNodes(t, rpctest.Serve(t, g.handle).URL)
			n.all[0].verified = true
			wait := crowd(t, n, g, 24)
			close(g.open)
			for i, err := range wait() {
				if err != nil {
					t.Errorf("caller %d: %v", i, err)
				}
			}
			if most := n.all[0].most; most >= batchCalls || name == "no batches" && most != 1 {
				t.Errorf("the node is sent %d calls at a time from then on", most)
			}
		})
	}
}

// Who leaves is not waited for and takes nobody along.
func TestCallersThatLeaveASharedRequest(t *testing.T) {
	g := &gate{open: make(chan struct{}), answer: echo}
	n := lightNodes(t, rpctest.Serve(t, g.handle).URL)
	n.all[0].verified = true
	wait := crowd(t, n, g, 2)
	ctx, cancel := context.WithCancel(t.Context())
	left := make(chan error, 1)
	go func() {
		left <- n.Batch(ctx, []Request{{Method: "echo", Params: []any{"gone"}, Result: new(string)}})
	}()
	waits(n, 3)
	cancel()
	if err := <-left; err == nil {
		t.Error("who left was answered")
	}
	close(g.open)
	for i, err := range wait() {
		if err != nil {
			t.Errorf("caller %d: %v", i, err)
		}
	}
	if slices.Contains(g.calls, `["gone"]`) {
		t.Error("what nobody waits for was asked")
	}
}
