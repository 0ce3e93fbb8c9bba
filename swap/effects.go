package swap

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"sync"
	"time"
)

// EffectKind names something that is done to the outside world.
type EffectKind string

const (
	SendTx       EffectKind = "send"      // broadcast the next submitted transaction
	PostPSBT     EffectKind = "post"      // hand the user's PSBT to the LP
	CallWithdraw EffectKind = "withdraw"  // hand our invoice to an LNURL-withdraw service
	Publish      EffectKind = "publish"   // give the preimage to the watchtowers
	Broadcast    EffectKind = "broadcast" // send the user's Bitcoin payment
	SetRefund    EffectKind = "refund"    // tell the LP where a payment goes back to
)

// Effect is something to be done now. It is recomputed from the record and the
// facts of each pass, so that a crash before it repeats it, and it is never
// waited for: its [Outcome] is the input of another pass.
type Effect struct {
	Kind EffectKind
	// Mark says that the effect must not be started twice: that it has been
	// started is made durable before it is.
	Mark bool
	Step int // send: which transaction
}

// key is the name of the effect's history in Record.Tried.
func (e Effect) key() string {
	if e.Kind == SendTx {
		return fmt.Sprintf("%s:%d", e.Kind, e.Step)
	}
	return string(e.Kind)
}

// due reports whether it is time for an effect, by its history.
func (e Effect) due(r *Record, now time.Time) bool {
	return int64(r.Tried[e.key()].NotBefore) <= now.UnixMilli()
}

// Performer carries out effects. Perform is called with a record that will not
// change, and returns within its context.
type Performer interface {
	Perform(ctx context.Context, r *Record, e Effect) Outcome
}

// effectTimeout bounds one attempt.
const effectTimeout = 60 * time.Second

// runner carries out effects beside the passes: one per swap and kind at a
// time, a bounded number in all.
type runner struct {
	do      Performer
	mark    func(ctx context.Context, r *Record, e Effect) (*Record, error)
	report  func(ctx context.Context, id string, o Outcome)
	base    context.Context
	slots   chan struct{}
	log     *slog.Logger
	mu      sync.Mutex
	running map[effectKey]bool
	all     sync.WaitGroup
}

type effectKey struct {
	id   string
	kind EffectKind
}

// start begins the effects that are due and not under way. It does not wait.
func (x *runner) start(r *Record, effects []Effect, now time.Time) {
	for _, e := range effects {
		if !e.due(r, now) {
			continue
		}
		key := effectKey{r.ID, e.Kind}
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

func (x *runner) run(r *Record, e Effect, key effectKey) {
	defer x.all.Done()
	outcome, done := x.perform(r, e)
	x.mu.Lock()
	delete(x.running, key)
	x.mu.Unlock()
	if done {
		x.report(context.WithoutCancel(x.base), r.ID, outcome)
	}
}

// perform reports false if nothing was done: the swap moved, or we are closing.
func (x *runner) perform(r *Record, e Effect) (o Outcome, done bool) {
	select {
	case x.slots <- struct{}{}:
		defer func() { <-x.slots }()
	case <-x.base.Done():
		return Outcome{}, false
	}
	ctx, cancel := context.WithTimeout(x.base, effectTimeout)
	defer cancel()
	defer func() {
		if p := recover(); p != nil {
			x.log.Error("effect panicked", "swap", r.ID, "effect", e.Kind, "panic", fmt.Sprint(p), "stack", string(debug.Stack()))
			o, done = Outcome{Effect: e.Kind, Reason: "internal error", Step: e.Step}, true
		}
	}()
	if e.Mark {
		marked, err := x.mark(ctx, r, e)
		if err != nil {
			return Outcome{}, false // somebody else started it, or the swap moved; a later pass decides again
		}
		r = marked
	}
	o = x.do.Perform(ctx, r, e)
	o.Effect, o.Step = e.Kind, e.Step
	return o, true
}

// wait returns when no effect is under way. The base context should have ended.
func (x *runner) wait() { x.all.Wait() }

// markStarted stores that an effect begins. It fails if the record has changed.
func (g *Engine) markStarted(ctx context.Context, r *Record, e Effect) (*Record, error) {
	next := r.clone()
	if next.Tried == nil {
		next.Tried = map[string]Try{}
	}
	try := next.Tried[e.key()]
	switch {
	case try.Started == 0:
		try.Started = At(g.now())
	case try.Attempts == 0: // begun by a process that was lost: nobody heard the answer
		try.Attempts = 1
	}
	next.Tried[e.key()] = try
	if err := g.write(ctx, r, next); err != nil {
		return nil, err
	}
	return next, nil
}

// reportOutcome gives an outcome back to its swap, again and again if the store
// fails: an outcome that is lost is only a repeated attempt, never lost money.
func (g *Engine) reportOutcome(ctx context.Context, id string, o Outcome) {
	ctx, cancel := context.WithTimeout(ctx, g.passTimeout)
	defer cancel()
	if _, err := g.Advance(ctx, id, o); err != nil && !errors.Is(err, errNotTaken) {
		g.log.Warn("outcome not recorded", "swap", id, "effect", o.Effect, "err", err)
	}
}
