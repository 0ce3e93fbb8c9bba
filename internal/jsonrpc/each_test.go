package jsonrpc

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/internal/jsonrpc/rpctest"
)

// A node that failed is not asked beside one that is up; if all failed, all are.
func TestEachAsksWhoIsUp(t *testing.T) {
	var asked [2]atomic.Int32
	var urls []string
	for i := range asked {
		urls = append(urls, rpctest.Serve(t, func(calls []rpctest.Call) any {
			var all []any
			for _, c := range calls {
				if c.Method != "network" {
					asked[i].Add(1)
				}
				all = append(all, result(c, 16))
			}
			return all
		}).URL)
	}
	n := newTestNodes(t, urls...)
	ask := func(ctx context.Context) (answers int, err error) {
		err = n.Each(ctx, func() []Request { return []Request{{Method: "block", Result: new(int)}} }, func(r []Request) {
			if r[0].Err == nil {
				answers++
			}
		})
		return answers, err
	}
	if answers, err := ask(t.Context()); err != nil || answers != 2 {
		t.Errorf("both up: %d answers, %v", answers, err)
	}
	n.all[0].note(context.DeadlineExceeded, time.Now())
	if !n.all[0].isDown(time.Now()) {
		t.Fatal("not down")
	}
	before := asked[0].Load()
	if answers, err := ask(t.Context()); err != nil || answers != 1 || asked[0].Load() != before {
		t.Errorf("one down: %d answers, %v, asked %v", answers, err, asked[0].Load() != before)
	}
	// a caller that gives up says nothing of the nodes
	over, cancel := context.WithCancel(t.Context())
	cancel()
	if answers, err := ask(over); err == nil || fault.CodeOf(err) != fault.Upstream || answers != 0 {
		t.Errorf("given up: %d answers, %v", answers, err)
	}
	if n.all[1].isDown(time.Now()) {
		t.Error("a node is down because its caller gave up")
	}
	dead := newTestNodes(t, "http://127.0.0.1:1", "http://127.0.0.1:2")
	n = dead
	if answers, err := ask(t.Context()); fault.CodeOf(err) != fault.Upstream || answers != 0 {
		t.Errorf("nodes that are dead: %d answers, %v", answers, err)
	}
}

// If every node failed lately, one is asked all the same: it may be up again.
// Whoever fails to answer is then left alone, whoever answers is up.
func TestEachAsksOneOfThoseThatAreDown(t *testing.T) {
	up := rpctest.Serve(t, func(calls []rpctest.Call) any {
		var all []any
		for _, c := range calls {
			all = append(all, rpctest.Result(c, map[string]string{"network": "right", "echo": "answer"}[c.Method]))
		}
		return all
	}).URL
	ask := func(n *Nodes) (answers int, err error) {
		err = n.Each(t.Context(), func() []Request { return []Request{{Method: "echo", Result: new(string)}} }, func(r []Request) {
			if r[0].Err == nil && *r[0].Result.(*string) == "answer" {
				answers++
			}
		})
		return answers, err
	}
	single := newTestNodes(t, up)
	single.all[0].note(context.DeadlineExceeded, time.Now())
	if answers, err := ask(single); err != nil || answers != 1 {
		t.Errorf("the only node, down before: %d answers, %v", answers, err)
	}
	if single.all[0].isDown(time.Now()) {
		t.Error("a node that answered is taken to be down")
	}
	two := newTestNodes(t, up, up)
	for _, e := range two.all {
		e.note(context.DeadlineExceeded, time.Now())
	}
	if answers, err := ask(two); err != nil || answers != 1 {
		t.Errorf("both down before: %d answers, %v, want 1", answers, err)
	}
	half := newTestNodes(t, "http://127.0.0.1:1", up)
	if answers, err := ask(half); err != nil || answers != 1 {
		t.Errorf("one dead: %d answers, %v", answers, err)
	}
	if !half.all[0].isDown(time.Now()) || half.all[1].isDown(time.Now()) {
		t.Error("which node is down is not remembered")
	}
}
