package engine

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/swapper-go/swapper/internal/bounds"
	"github.com/swapper-go/swapper/internal/swap"
)

// How other processes' changes are read. A change is dated by the clock of the process that
// made it, before it is stored: what is stored late, or by a clock that is behind, is found
// by the wide look.
const (
	listenEvery = time.Second
	lookBack    = 3 * time.Second
	wideEvery   = 30 * time.Second
	wideBack    = 2 * time.Minute
	heardKept   = 65_536 // swaps
)

// peerChanges is what a process that shares its store knows of the changes there. Safe for
// concurrent use.
type peerChanges struct {
	mu        sync.Mutex
	heard     *bounds.Cache[string, heard] // nil: the store is not shared, and nothing has to be remembered
	listeners int                          // callers of listen that have not stopped
	stop      context.CancelFunc
	all       sync.WaitGroup
}

// heard is the last version of a swap that subscribers were told of.
type heard struct {
	version uint64
	state   int
}

// news reports whether subscribers were not told of a change yet, and notes that they are. From
// is the state of which they were told last.
func (o *peerChanges) news(c Change) (Change, bool) {
	if o.heard == nil {
		return c, true
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	last, ok := o.heard.Get(c.Record.ID)
	if ok && last.version >= c.Record.Version {
		return c, false
	}
	if ok {
		c.From = last.state
	}
	o.heard.Add(c.Record.ID, heard{c.Record.Version, c.Record.State})
	return c, true
}

// knows reports whether a version was heard of before.
func (o *peerChanges) knows(id string, version uint64) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	last, ok := o.heard.Get(id)
	return ok && last.version >= version
}

// publish reports a change to subscribers once, whichever process made it.
func (g *Engine) publish(c Change) {
	if c, ok := g.peers.news(c); ok {
		g.feed.publish(c)
	}
}

// listen has what other processes change published until the last caller of listen
// calls what it returned.
func (g *Engine) listen() (stop func()) {
	o := &g.peers
	if o.heard == nil {
		return func() {}
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.listeners++; o.listeners == 1 && g.base.Err() == nil {
		ctx, cancel := context.WithCancel(g.base)
		o.stop = cancel
		o.all.Go(func() { g.listening(ctx) })
	}
	return func() {
		o.mu.Lock()
		defer o.mu.Unlock()
		if o.listeners--; o.listeners == 0 && o.stop != nil {
			o.stop()
			o.stop = nil
		}
	}
}

// wait returns when no goroutine reads changes. Cancel the base context first.
func (o *peerChanges) wait() {
	o.mu.Lock() // a reader has either begun by now or will see that the context has ended
	defer o.all.Wait()
	o.mu.Unlock()
}

func (g *Engine) listening(ctx context.Context) {
	tick := time.NewTicker(listenEvery)
	defer tick.Stop()
	began := g.Now()
	from, wide := began, time.Time{} // from: all that was dated before is known, unless it came late
	for failing := false; ; {
		now, back := g.Now(), lookBack
		if now.Sub(wide) >= wideEvery {
			back = wideBack
		}
		err := g.hear(ctx, swap.At(from.Add(-back)), swap.At(began.Add(-lookBack)))
		switch {
		case ctx.Err() != nil:
			return
		case err != nil && !failing:
			g.log.Warn("what other processes have changed cannot be read", "err", err)
		case err == nil:
			from = now
			if back == wideBack {
				wide = now
			}
		}
		failing = err != nil
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// hear publishes what was stored at since or later and is not known yet. What was dated
// before began, when the process listened at the earliest, is known from now on.
func (g *Engine) hear(ctx context.Context, since, began swap.Millis) error {
	for e, err := range g.Store.Find(ctx, changes("", "", since)) {
		switch {
		case err != nil && e.ID == "":
			return err
		case err != nil || g.peers.knows(e.ID, e.Version):
			continue
		}
		f := found{entry: e}
		g.decodeFound(&f)
		switch {
		case f.err != nil:
			if !errors.Is(f.err, ErrUnreadable) {
				return f.err
			}
		case f.record.Changed < began:
			g.peers.news(Change{Record: f.record})
		default:
			g.forget(e.ID)
			g.publish(Change{Record: f.record, From: f.record.State})
		}
	}
	return nil
}
