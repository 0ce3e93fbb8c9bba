package engine

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"sync"
	"time"

	"github.com/swapper-go/swapper/internal/swap"
	"github.com/swapper-go/swapper/storage"
)

// place is what an effect waits for: each kind has places of its own, and what
// reveals a preimage waits for nothing that does not.
type place struct {
	kind    swap.EffectKind
	reveals bool
}

func placeOf(e swap.Effect) place { return place{e.Kind, e.Reveals} }

// Executor carries out effects. Execute is called with a record that will not
// change, and returns within its context.
type Executor interface {
	Execute(ctx context.Context, r *swap.Record, e swap.Effect) swap.Outcome
}

// effectTimeout bounds one attempt.
const effectTimeout = 60 * time.Second

// effectGrace is what an attempt that must not happen twice gets beyond that before another
// process takes it for lost: for a write of the store, and clocks that differ.
const effectGrace = 30 * time.Second

// placesOfAKind is how many effects of one kind may be in progress at a time.
const placesOfAKind = 64

// runner carries out effects beside the passes: each once at a time, a bounded
// number of each kind.
type runner struct {
	executor Executor
	still    func(ctx context.Context, id string, e swap.Effect) (*swap.Record, swap.Effect, error)
	mark     func(ctx context.Context, r *swap.Record, e swap.Effect) (*swap.Record, error)
	report   func(ctx context.Context, id string, o swap.Outcome)
	backoffs *backoffs
	owner    string
	shared   bool // others may be making attempts too
	base     context.Context
	log      *slog.Logger
	now      func() time.Time
	mu       sync.Mutex
	places   map[place]chan struct{}
	running  map[effectKey]bool
	all      sync.WaitGroup
}

type effectKey struct{ id, effect string }

// start begins the effects that are due and not yet in progress. It does not wait.
func (x *runner) start(r *swap.Record, effects []swap.Effect, now time.Time) {
	for _, e := range effects {
		if x.elsewhere(r, e, now) {
			continue
		}
		if !x.backoffs.due(r, e, now) {
			if e.ToLP() {
				x.backoffs.startProbing(r)
			}
			continue
		}
		key := effectKey{r.ID, e.Key()}
		x.mu.Lock()
		busy := x.running[key] || x.base.Err() != nil
		if !busy {
			x.running[key] = true
			x.all.Add(1)
		}
		x.mu.Unlock()
		if busy {
			continue
		}
		go x.run(r, e, key)
	}
}

func (x *runner) run(r *swap.Record, e swap.Effect, key effectKey) {
	defer x.all.Done()
	outcome, done := x.execute(r, e)
	if done { // first, so that no pass sees the effect as neither in progress nor done
		x.report(context.WithoutCancel(x.base), r.ID, outcome)
	}
	x.mu.Lock()
	delete(x.running, key)
	x.mu.Unlock()
}

// execute reports false if nothing was done: the effect is not due any more, or
// we are closing.
func (x *runner) execute(r *swap.Record, e swap.Effect) (o swap.Outcome, done bool) {
	places := x.placesOf(e)
	select {
	case places <- struct{}{}:
		defer func() { <-places }()
	case <-x.base.Done():
		return swap.Outcome{}, false
	}
	defer func() {
		if p := recover(); p != nil {
			x.log.Error("effect panicked", "swap", storage.Label(r.ID), "effect", e.Kind, "panic", fmt.Sprint(p), "stack", string(debug.Stack()))
			o, done = swap.Outcome{Effect: e.Kind, Reason: "internal error", Step: e.Step, By: x.owner}, true
		}
	}()
	r, e, err := x.begin(r.ID, e)
	if err != nil {
		return swap.Outcome{}, false
	}
	patience := effectTimeout
	if !e.Until.IsZero() {
		patience = min(patience, e.Until.Sub(x.now()))
	}
	if busy := r.Tried[e.Key()].Busy; busy != 0 { // a process that was paused must not act when another takes over
		patience = min(patience, busy.Time().Add(-effectGrace/2).Sub(x.now()))
	}
	ctx, cancel := context.WithTimeout(x.base, patience)
	defer cancel()
	o = x.executor.Execute(ctx, r, e)
	if o.Err != nil {
		x.log.Warn("effect failed", "swap", storage.Label(r.ID), "effect", e.Kind, "refused", o.Refused, "err", o.Err)
	}
	o.Effect, o.Step, o.By = e.Kind, e.Step, x.owner
	return o, true
}

func (x *runner) placesOf(e swap.Effect) chan struct{} {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.places == nil {
		x.places = map[place]chan struct{}{}
	}
	p, ok := x.places[placeOf(e)]
	if !ok {
		p = make(chan struct{}, placesOfAKind)
		x.places[placeOf(e)] = p
	}
	return p
}

// errNotDue says that an effect is not to be done any more.
var errNotDue = errors.New("the effect has become obsolete")

// begin returns the effect and the record by which it is done now: the guards
// hold at this moment, and that it begins is durable where that has to be.
func (x *runner) begin(id string, e swap.Effect) (r *swap.Record, now swap.Effect, err error) {
	ctx, cancel := context.WithTimeout(x.base, effectTimeout)
	defer cancel()
	for range maxConflicts {
		if r, now, err = x.still(ctx, id, e); err != nil {
			return nil, e, err
		}
		if !r.Marks(now) {
			return r, now, nil
		}
		marked, err := x.mark(ctx, r, now)
		if err == nil {
			return marked, now, nil
		}
		if !errors.Is(err, storage.ErrConflict) {
			return nil, e, err
		}
	} // somebody else started it, or the swap moves all the time: a later pass decides again
	return nil, e, errNotDue
}

// elsewhere reports whether another process on the same store is making an attempt. On a
// store of our own that process has died.
func (x *runner) elsewhere(r *swap.Record, e swap.Effect, now time.Time) bool {
	return x.shared && r.Elsewhere(e, x.owner, now)
}

// Drain returns when no effect is in progress. Cancel the base context first.
func (x *runner) Drain() {
	x.mu.Lock() // every effect has either begun by now or will see that the context has ended
	defer x.all.Wait()
	x.mu.Unlock()
}

// stillDue asks the flow again whether an effect is still due. The facts are at
// most a second old, the clock is now.
func (g *Engine) stillDue(ctx context.Context, id string, e swap.Effect) (*swap.Record, swap.Effect, error) {
	res, err := g.advance(ctx, id, nil, forFacts)
	if err != nil {
		return nil, e, err
	}
	now := g.Now()
	due, ok := StillDue(g.Flows[res.Record.Type], res, e, now, func(due swap.Effect) bool {
		return !g.Effects.elsewhere(res.Record, due, now) && g.backoffs.due(res.Record, due, now)
	})
	if !ok {
		return nil, e, errNotDue
	}
	return res.Record, due, nil
}

// markStarted stores that an effect begins. It fails if the record has changed.
func (g *Engine) markStarted(ctx context.Context, r *swap.Record, e swap.Effect) (*swap.Record, error) {
	now := g.Now()
	next := r.Begin(e, g.Effects.owner, now, now.Add(effectTimeout+effectGrace))
	defer g.forget(r.ID) // also when another process was faster: the facts of the last pass do not hold any more
	if err := g.write(ctx, r, next, nil); err != nil {
		return nil, err
	}
	return next, nil
}

// reportOutcome gives an outcome back to its swap, again and again if the store
// fails: an outcome that is lost is only a repeated attempt, never lost money.
func (g *Engine) reportOutcome(ctx context.Context, id string, o swap.Outcome) {
	ctx, cancel := context.WithTimeout(ctx, g.passTimeout)
	defer cancel()
	if _, err := g.Advance(ctx, id, o); err != nil && !errors.Is(err, errNotTaken) {
		g.log.Warn("recording an effect's outcome failed", "swap", storage.Label(id), "effect", o.Effect, "err", err)
	}
}
