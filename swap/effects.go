package swap

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"sync"
	"time"

	"github.com/swapper-go/swapper/storage"
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
//
// It is due when it is returned, and may have to wait for a place then: at the
// moment at which it begins the flow is asked again.
type Effect struct {
	Kind EffectKind
	// Mark says that the effect must not be started twice: that it has been
	// started is made durable before it is.
	Mark bool
	Step int // send: which transaction
	// Reveals says that it makes the preimage public. That it may have is made
	// durable before it does: from then on only a claim helps the user.
	Reveals bool
	Until   time.Time // when it must have ended; zero: any time
}

// place is what an effect waits for: each kind has places of its own, and what
// reveals a preimage waits for nothing that does not.
type place struct {
	kind    EffectKind
	reveals bool
}

func (e Effect) place() place { return place{e.Kind, e.Reveals} }

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

// placesOfAKind is how many effects of a kind are under way at a time.
const placesOfAKind = 64

// runner carries out effects beside the passes: each once at a time, a bounded
// number of each kind.
type runner struct {
	do      Performer
	still   func(ctx context.Context, id string, e Effect) (*Record, Effect, error)
	mark    func(ctx context.Context, r *Record, e Effect) (*Record, error)
	report  func(ctx context.Context, id string, o Outcome)
	absent  *absences
	base    context.Context
	log     *slog.Logger
	now     func() time.Time
	mu      sync.Mutex
	places  map[place]chan struct{}
	running map[effectKey]bool
	all     sync.WaitGroup
}

type effectKey struct{ id, effect string }

// start begins the effects that are due and not under way. It does not wait.
func (x *runner) start(r *Record, effects []Effect, now time.Time) {
	for _, e := range effects {
		if !x.absent.due(r, e, now) {
			if e.toLP() {
				x.absent.await(r)
			}
			continue
		}
		key := effectKey{r.ID, e.key()}
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
	if done { // first, so that no pass finds the effect neither under way nor done
		x.report(context.WithoutCancel(x.base), r.ID, outcome)
	}
	x.mu.Lock()
	delete(x.running, key)
	x.mu.Unlock()
}

// perform reports false if nothing was done: the effect is not due any more, or
// we are closing.
func (x *runner) perform(r *Record, e Effect) (o Outcome, done bool) {
	places := x.placesOf(e)
	select {
	case places <- struct{}{}:
		defer func() { <-places }()
	case <-x.base.Done():
		return Outcome{}, false
	}
	defer func() {
		if p := recover(); p != nil {
			x.log.Error("effect panicked", "swap", storage.Label(r.ID), "effect", e.Kind, "panic", fmt.Sprint(p), "stack", string(debug.Stack()))
			o, done = Outcome{Effect: e.Kind, Reason: "internal error", Step: e.Step}, true
		}
	}()
	r, e, err := x.begin(r.ID, e)
	if err != nil {
		return Outcome{}, false
	}
	patience := effectTimeout
	if !e.Until.IsZero() {
		patience = min(patience, e.Until.Sub(x.now()))
	}
	ctx, cancel := context.WithTimeout(x.base, patience)
	defer cancel()
	o = x.do.Perform(ctx, r, e)
	o.Effect, o.Step = e.Kind, e.Step
	return o, true
}

func (x *runner) placesOf(e Effect) chan struct{} {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.places == nil {
		x.places = map[place]chan struct{}{}
	}
	p, ok := x.places[e.place()]
	if !ok {
		p = make(chan struct{}, placesOfAKind)
		x.places[e.place()] = p
	}
	return p
}

// errNotDue says that an effect is not to be done any more.
var errNotDue = errors.New("the effect is not due any more")

// begin returns the effect and the record by which it is done now: the guards
// hold at this moment, and that it begins is durable where that has to be.
func (x *runner) begin(id string, e Effect) (r *Record, now Effect, err error) {
	ctx, cancel := context.WithTimeout(x.base, effectTimeout)
	defer cancel()
	for range maxConflicts {
		if r, now, err = x.still(ctx, id, e); err != nil {
			return nil, e, err
		}
		if !now.Mark && !(now.Reveals && r.Lightning.Revealed == 0) {
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

// wait returns when no effect is under way. The base context should have ended.
func (x *runner) wait() { x.all.Wait() }

// stillDue asks the flow again whether an effect is to be done. The facts are at
// most a second old, the clock is now.
func (g *Engine) stillDue(ctx context.Context, id string, e Effect) (*Record, Effect, error) {
	res, err := g.Advance(ctx, id, nil)
	if err != nil {
		return nil, e, err
	}
	f := g.flows[res.Record.Type]
	if f == nil || f.Effects == nil {
		return nil, e, errNotDue
	}
	now := g.now()
	for _, due := range f.Effects(In{R: res.Record, Obs: res.Observation, Now: now}) {
		if due.key() == e.key() && due.place() == e.place() && g.absences.due(res.Record, due, now) {
			return res.Record, due, nil
		}
	}
	return nil, e, errNotDue
}

// markStarted stores that an effect begins. It fails if the record has changed.
func (g *Engine) markStarted(ctx context.Context, r *Record, e Effect) (*Record, error) {
	next := r.clone()
	if next.Tried == nil {
		next.Tried = map[string]Try{}
	}
	try, now := next.Tried[e.key()], At(g.now())
	switch {
	case try.Started == 0:
		try.Started = now
	case e.Mark && try.Attempts == 0: // begun by a process that was lost: nobody heard the answer
		try.Attempts = 1
	}
	if e.Reveals && next.Lightning.Revealed == 0 {
		next.Lightning.Revealed, try.Started = now, now
	}
	next.Tried[e.key()] = try
	if err := g.write(ctx, r, next, nil); err != nil {
		return nil, err
	}
	g.forget(r.ID)
	return next, nil
}

// reportOutcome gives an outcome back to its swap, again and again if the store
// fails: an outcome that is lost is only a repeated attempt, never lost money.
func (g *Engine) reportOutcome(ctx context.Context, id string, o Outcome) {
	ctx, cancel := context.WithTimeout(ctx, g.passTimeout)
	defer cancel()
	if _, err := g.Advance(ctx, id, o); err != nil && !errors.Is(err, errNotTaken) {
		g.log.Warn("outcome not recorded", "swap", storage.Label(id), "effect", o.Effect, "err", err)
	}
}
