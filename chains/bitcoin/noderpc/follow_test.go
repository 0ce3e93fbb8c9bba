package noderpc_test

import (
	"context"
	"crypto/rand"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/chains/bitcoin/backendtest"
	"github.com/swapper-go/swapper/chains/bitcoin/noderpc"
	"github.com/swapper-go/swapper/fault"
)

// waits is what is wrong with the node's long polls, and what is known of them.
type waits struct {
	mu      sync.Mutex
	trouble backendtest.Trouble
	unknown bool         // the node does not know the method
	hasty   bool         // it answers at once
	mute    bitcoin.Hash // what a mute node calls the best block
	at      uint32       // and its height
	calls   int
	longest time.Duration // of the calls so far
}

func (w *waits) set(f func(*waits)) {
	w.mu.Lock()
	defer w.mu.Unlock()
	f(w)
}

func (w *waits) get() (trouble backendtest.Trouble, unknown, hasty bool, calls int, longest time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.trouble, w.unknown, w.hasty, w.calls, w.longest
}

func (c *core) spoil(trouble backendtest.Trouble) {
	height, tip := c.net.Tip()
	c.waits.set(func(w *waits) { w.trouble, w.mute, w.at = trouble, tip, height })
}

// wait answers waitforblockheight.
func (c *core) wait(r *http.Request, want uint32, most time.Duration) (any, error) {
	c.waits.set(func(w *waits) { w.calls++ })
	began := time.Now()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for {
		height, tip := c.net.Tip()
		trouble, unknown, hasty, _, _ := c.waits.get()
		waited := time.Since(began)
		c.waits.set(func(w *waits) { w.longest = max(w.longest, waited) })
		switch {
		case unknown:
			return nil, &coreError{-32601, "Method not found"}
		case trouble.Cut:
			panic(http.ErrAbortHandler)
		case trouble.Flooding:
			_, _ = rand.Read(tip[:])
			return map[string]any{"hash": tip.String(), "height": height + 5}, nil
		case trouble.Silent:
		case trouble.Mute:
			if waited >= most {
				c.waits.set(func(w *waits) { tip, height = w.mute, w.at })
				return map[string]any{"hash": tip.String(), "height": height}, nil
			}
		case height >= want || waited >= most || hasty:
			return map[string]any{"hash": tip.String(), "height": height}, nil
		}
		select {
		case <-r.Context().Done():
			return nil, r.Context().Err()
		case <-tick.C:
		}
	}
}

// following is a client that follows the blocks of its node.
func following(t *testing.T, o noderpc.Options, deliver func([]bitcoin.Hash)) *noderpc.Client {
	t.Helper()
	b := coreClient(t, o)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error)
	go func() { done <- b.Follow(ctx, deliver) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err == nil {
			t.Error("following ended by itself")
		}
	})
	return b
}

func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		if holds() {
			return
		}
	}
	t.Fatalf("not within a minute: %s", what)
}

func TestNothingIsHeardWithoutLongPoll(t *testing.T) {
	t.Parallel()
	c, server := newCore(t)
	b := coreClient(t, noderpc.Options{URL: server.URL})
	_, unchanged := b.Unchanged(&bitcoin.Tx{}, 1)
	if err := b.Follow(t.Context(), nil); err != nil || b.Heard() != 0 || b.Subscriptions() != nil || unchanged {
		t.Errorf("following: %v; mark %d, subscriptions %v", err, b.Heard(), b.Subscriptions())
	}
	if _, _, _, calls, _ := c.waits.get(); calls != 0 {
		t.Errorf("the node was waited for %d times", calls)
	}
	for _, o := range []noderpc.Options{{WebSocket: server.URL}, {WebSocket: "ws://127.0.0.1/ws", LongPoll: true}} {
		o.Network, o.URL = bitcoin.Regtest, server.URL
		if _, err := noderpc.New(o); fault.CodeOf(err) != fault.InvalidInput {
			t.Errorf("%+v: %v", o, err)
		}
	}
}

// Whoever waits at the node for a block takes no request's place, and none of its time.
func TestLongPollDelaysNothing(t *testing.T) {
	t.Parallel()
	c, server := newCore(t)
	b := following(t, noderpc.Options{URL: server.URL, LongPoll: true, Concurrency: 1, HTTP: &http.Client{Timeout: 4 * time.Second}}, func([]bitcoin.Hash) {})
	eventually(t, "the node is waited for longer than other requests may take", func() bool {
		_, _, _, _, longest := c.waits.get()
		return longest > 4500*time.Millisecond
	})
	if b.Heard() == 0 || b.Subscriptions()[0].Lost != 0 {
		t.Errorf("mark %d, %+v", b.Heard(), b.Subscriptions())
	}
	before := b.Heard()
	if _, err := b.TipHeight(t.Context()); err != nil {
		t.Errorf("with one place for requests: %v", err)
	}
	if _, err := c.net.Mine(1); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the block is heard of", func() bool { return b.Heard() > before })
}

// A node that cannot be waited for is asked as if there was no long poll.
func TestNodesThatCannotBeWaitedFor(t *testing.T) {
	t.Parallel()
	for what, spoil := range map[string]func(*core){
		"the method is unknown": func(c *core) { c.waits.unknown = true },
		"it is btcd":            func(c *core) { c.address = func(int, int) any { return nil } },
		"it does not wait":      func(c *core) { c.waits.hasty = true },
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			c, server := newCore(t)
			spoil(c)
			b := following(t, noderpc.Options{URL: server.URL, LongPoll: true}, func([]bitcoin.Hash) {})
			eventually(t, "two attempts fail", func() bool { return b.Subscriptions()[0].Lost > 1 })
			eventually(t, "nothing is heard", func() bool { return b.Heard() == 0 && !b.Subscriptions()[0].Alive })
			if _, _, _, calls, _ := c.waits.get(); calls > 10 {
				t.Errorf("the node was waited for %d times", calls)
			}
			if _, err := b.TipHeight(t.Context()); err != nil {
				t.Errorf("other requests: %v", err)
			}
		})
	}
}

// What a false node says of blocks costs five requests a second at most.
func TestFloodOfLongPolls(t *testing.T) {
	t.Parallel()
	c, server := newCore(t)
	c.spoil(backendtest.Trouble{Flooding: true})
	began := time.Now()
	b := following(t, noderpc.Options{URL: server.URL, LongPoll: true}, func([]bitcoin.Hash) {})
	eventually(t, "the flood comes", func() bool { return b.Subscriptions()[0].Messages > 15 })
	if _, _, _, calls, _ := c.waits.get(); calls > 2+int(time.Since(began)/(200*time.Millisecond)) {
		t.Errorf("the node was waited for %d times in %s", calls, time.Since(began))
	}
}
