package engine

import (
	"context"
	"fmt"
	"iter"
	"math"
	"sync"

	"github.com/swapper-go/swapper/internal/swap"
	"github.com/swapper-go/swapper/storage"
)

// Change says that a record was written. Record must not be changed.
type Change struct {
	Record *swap.Record
	From   int // the state before; the same as Record.State if only facts changed
}

// feed tells subscribers what was written. A slow one loses steps of a swap,
// never its last.
type feed struct {
	mu     sync.Mutex
	subs   map[*subscription]struct{}
	closed bool
}

type subscription struct {
	latest map[string]Change // not yet delivered, by id
	order  []string
	wake   chan struct{}
}

// Subscribe calls deliver with every change until ctx ends, deliver returns
// false, or the engine is closed, and returns ctx's cause, nil or [ErrClosed].
// Changes of one swap that come faster than deliver returns are merged: the last
// is kept, From is the state before the first. Those that other processes make in the same
// store come some seconds later, and those that come close together are merged too.
func (g *Engine) Subscribe(ctx context.Context, deliver func(Change) bool) error {
	s := g.feed.add()
	if s == nil {
		return ErrClosed
	}
	defer g.listen()()
	enough := false
	g.deliver(ctx, s, func(c Change) bool {
		enough = !deliver(c)
		return !enough
	})
	switch {
	case enough:
		return nil
	case ctx.Err() != nil:
		return context.Cause(ctx)
	}
	return ErrClosed
}

// deliver serves a subscription that is already registered.
func (g *Engine) deliver(ctx context.Context, s *subscription, deliver func(Change) bool) {
	defer g.feed.remove(s)
	for {
		select {
		case <-s.wake:
		case <-ctx.Done():
			return
		case <-g.base.Done():
			return
		}
		for _, c := range g.feed.take(s) {
			if ctx.Err() != nil || !deliver(c) {
				return
			}
		}
	}
}

// add returns a new subscription, nil if the feed is closed. What is published
// from now on reaches it.
func (f *feed) add() *subscription {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed {
		return nil
	}
	s := &subscription{latest: map[string]Change{}, wake: make(chan struct{}, 1)}
	if f.subs == nil {
		f.subs = map[*subscription]struct{}{}
	}
	f.subs[s] = struct{}{}
	return s
}

func (f *feed) remove(s *subscription) {
	f.mu.Lock()
	delete(f.subs, s)
	f.mu.Unlock()
}

func (f *feed) close() {
	f.mu.Lock()
	f.closed = true
	f.subs = nil
	f.mu.Unlock()
}

func (f *feed) publish(c Change) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for s := range f.subs {
		merged := c
		if old, ok := s.latest[c.Record.ID]; ok {
			merged.From = old.From
		} else {
			s.order = append(s.order, c.Record.ID)
		}
		s.latest[c.Record.ID] = merged
		select {
		case s.wake <- struct{}{}:
		default:
		}
	}
}

func (f *feed) take(s *subscription) []Change {
	f.mu.Lock()
	defer f.mu.Unlock()
	all := make([]Change, len(s.order))
	for i, id := range s.order {
		all[i] = s.latest[id]
	}
	clear(s.latest)
	s.order = s.order[:0]
	return all
}

// Changes yields the swaps that were stored at since or later, the oldest change first,
// each as it is now: what a reader of [Engine.Subscribe] missed while it was away. With a chain only those of its
// signer. A record that cannot be read is yielded as an error that wraps
// [ErrUnreadable], and the iteration goes on; any other error ends it.
func (g *Engine) Changes(ctx context.Context, chain, signer string, since swap.Millis) iter.Seq2[*swap.Record, error] {
	return func(yield func(*swap.Record, error) bool) {
		for e, err := range g.Store.Find(ctx, changes(chain, signer, since)) {
			if err != nil && e.ID == "" {
				yield(nil, fmt.Errorf("find the changed swaps: %w", err))
				return
			}
			f := found{entry: e, err: err}
			g.decodeFound(&f)
			if !yield(f.record, f.err) {
				return
			}
		}
	}
}

func changes(chain, signer string, since swap.Millis) storage.Query {
	q := storage.Query{Index: swap.ByChange, Range: &storage.Range{Min: int64(since), Max: math.MaxInt64}}
	if chain != "" {
		q.Value = swap.SignerValue(chain, signer)
	}
	return q
}
