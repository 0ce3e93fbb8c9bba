package engine

import (
	"cmp"
	"context"
	"crypto/rand"
	"fmt"
	"log/slog"
	"runtime/debug"
	"sync"
	"time"

	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/internal/async"
	"github.com/swapper-go/swapper/internal/bounds"
	"github.com/swapper-go/swapper/internal/fleet"
	"github.com/swapper-go/swapper/internal/lp"
	"github.com/swapper-go/swapper/internal/swap"
	"github.com/swapper-go/swapper/storage"
)

// Config is what an [Engine] is made of. All fields but LPAt, Punish, Probe and Fleet are needed.
type Config struct {
	Store    storage.Store
	Reader   Reader
	Executor Executor
	Flows    []*swap.Flow
	Now      func() time.Time
	Log      *slog.Logger

	// LPAt returns the URL of the LP that has an address on a chain, "" if no such LP is
	// known. A swap that was recovered from the chain has only its LP's address.
	// Nil: such swaps do without their LP.
	LPAt func(chain, address string) string

	// Punish excludes an LP that, by err, has lied about a pair. Nil: lies are stored
	// with the swaps, and have no consequence.
	Punish func(url string, about lp.Pair, err error)

	// Probe sends a small request to the LP at a URL and returns nil if it answers
	// anything. Nil: only other calls notice that an LP answers again.
	Probe func(ctx context.Context, url string) error

	// Fleet divides the work of Run among the processes that share the store. Nil: all of it is
	// done here.
	Fleet *fleet.Fleet

	// Fresh is how long the facts of a pass serve callers without input; 0 is a second.
	Fresh       time.Duration
	PassTimeout time.Duration // for the questions of one pass; 0 is 30 s
	KeepExpired time.Duration // how long an expired quote stays in the store; 0 is 24 h
}

// Engine moves swaps. Whatever wakes it (a caller, a timer, an event, a
// restart), it does the same: load the record, observe, decide by the
// type's table, write by compare-and-set, and only then act. Safe for concurrent
// use, also by several processes on one store.
type Engine struct {
	Store       storage.Store
	reader      Reader
	Flows       map[swap.Type]*swap.Flow
	Now         func() time.Time
	log         *slog.Logger
	lpAt        func(chain, address string) string
	punish      func(url string, about lp.Pair, err error)
	passTimeout time.Duration
	freshFor    time.Duration
	keepExpired time.Duration
	Effects     *runner
	feed        feed
	hints       hints
	census      census
	peers       peerChanges
	fleet       *fleet.Fleet
	shared      bool                          // other processes use the store too
	hearing     listener                      // nil: nodes tell nothing
	said        *bounds.Cache[string, string] // by id: see [said]; of swaps that Run does not follow
	backoffs    *backoffs
	settled     *bounds.Cache[string, *swap.Record] // decoded, by id; for lists
	read        *bounds.Cache[string, read]         // by id
	spared      *bounds.Cache[string, time.Time]    // quotes that could not be deleted, until when
	base        context.Context
	stop        context.CancelFunc

	mu     sync.Mutex
	slots  map[string]*passSlot
	fresh  []freshPass // the oldest first
	passes sync.WaitGroup
}

// New returns an engine. It does nothing until it is asked; Close ends what it
// has begun.
func New(c Config) *Engine {
	base, stop := context.WithCancel(context.Background())
	_, shared := c.Store.(storage.Leaser)
	g := &Engine{
		Store: c.Store, reader: c.Reader, Flows: map[swap.Type]*swap.Flow{}, Now: c.Now, log: c.Log, lpAt: c.LPAt, punish: c.Punish,
		passTimeout: c.PassTimeout, freshFor: cmp.Or(c.Fresh, snapshotLife), keepExpired: c.KeepExpired,
		base: base, stop: stop, slots: map[string]*passSlot{}, settled: bounds.NewCache[string, *swap.Record](settledKept),
		read:   bounds.NewCache[string, read](readKept),
		spared: bounds.NewCache[string, time.Time](sparedKept), fleet: c.Fleet, shared: shared,
	}
	if g.hearing, _ = c.Reader.(listener); g.hearing != nil {
		g.said = bounds.NewCache[string, string](saidOthers)
	}
	if shared {
		g.peers.heard = bounds.NewCache[string, heard](heardKept)
	}
	if g.passTimeout <= 0 {
		g.passTimeout = 30 * time.Second
	}
	if g.keepExpired <= 0 {
		g.keepExpired = 24 * time.Hour
	}
	for _, f := range c.Flows {
		g.Flows[f.Type] = f
	}
	g.backoffs = &backoffs{probe: c.Probe, base: base, now: c.Now}
	g.Effects = &runner{
		executor: c.Executor, still: g.stillDue, mark: g.markStarted, report: g.reportOutcome, backoffs: g.backoffs, base: base,
		log: c.Log, now: c.Now, running: map[effectKey]bool{}, owner: c.Fleet.Owner(), shared: shared,
	}
	if g.Effects.owner == "" {
		g.Effects.owner = rand.Text()
	}
	return g
}

// Close stops effects and passes, waits for them, and ends subscriptions. What
// was cut off is done again after the next start.
func (g *Engine) Close() {
	g.mu.Lock() // every pass either begins before or sees that the engine is closed
	g.stop()
	g.mu.Unlock()
	g.peers.wait()
	g.Effects.Drain()
	g.passes.Wait()
	g.backoffs.wait()
	g.feed.close()
}

// Result is what a pass found.
type Result struct {
	Record      *swap.Record
	Observation *swap.Observation // the facts of the pass
	At          time.Time
	AsOf        map[string]uint64 // the blocks as of which facts were repeated, by chain: see [repeater]
}

// View returns how the swap is shown, by the facts of the pass.
func (g *Engine) View(res *Result) swap.View {
	f := g.Flows[res.Record.Type]
	if f == nil {
		return swap.View{}
	}
	return ViewOf(f, res)
}

// StoredView returns how a record is shown without asking anybody.
func (g *Engine) StoredView(r *swap.Record) swap.View {
	return g.View(&Result{Record: r, Observation: &swap.Observation{}, At: g.Now()})
}

// errNotTaken says that no row of the table takes the input.
var errNotTaken = fault.New(fault.InvalidState, "not possible in the swap's current state; check its status")

// snapshotLife is how long the facts of a pass serve callers without input, if the configuration
// does not say.
const snapshotLife = time.Second

// LocalFresh is [Config.Fresh] of a client of a local network, whose blocks come at once. Benchmarks
// set it to a second, as elsewhere, before they open a client.
var LocalFresh = 200 * time.Millisecond

// maxSteps bounds the rows taken in one pass. The longest real row is four.
const maxSteps = 16

// writeTime is how long a pass may use the store after its time for requests is
// over: a pass that got no answers must still store its input.
const writeTime = 5 * time.Second

// maxConflicts is how often a pass that lost a compare-and-set begins again.
const maxConflicts = 3

// passSlot holds the passes of one swap, of which at most one runs.
type passSlot struct {
	running *passRun // nil when none is
	last    *passRun // the one before, while it is fresh
}

// freshPass is a pass that ended well, and whose facts may still be fresh.
type freshPass struct {
	id   string
	pass *passRun
}

// passRun is one pass. It outlives the callers that wait for it.
type passRun struct {
	*async.Future[*Result]

	// Engine.mu guards these.
	ended   time.Time // zero until it has ended well
	routine bool      // no caller waits for its view
	partial bool      // it has left out what is only shown
}

// Advance runs a pass over a swap and returns what it found. A caller without
// input joins a pass that is running, or gets the result of one that has just
// ended; a caller with input gets a pass of its own. The pass
// has its own deadline: a caller that goes away does not end it.
//
// Errors: fault.NotFound for an unknown id; fault.InvalidState when no row of
// the table takes the input; what the store says. A failed question is no
// error: it is a fact without an answer, and moves nothing.
func (g *Engine) Advance(ctx context.Context, id string, input swap.Input) (*Result, error) {
	return g.advance(ctx, id, input, forView)
}

// purpose is what a pass is for.
type purpose int

const (
	forView   purpose = iota // somebody wants to see how the swap stands
	forFacts                 // something is to be decided: what only a view shows is not needed
	atMoment                 // as forFacts, because a time has come: nothing has happened, as far as is known
	asRoutine                // as forFacts, but no caller waits: it may be asked together with what other swaps ask
)

// advance is Advance for a purpose. A routine pass does without what only a view shows, as
// long as no caller has joined it who wants that.
func (g *Engine) advance(ctx context.Context, id string, input swap.Input, why purpose) (*Result, error) {
	for {
		f, mine, err := g.join(id, input, why)
		if err != nil {
			return nil, err
		}
		if mine {
			return f.Wait(ctx)
		}
		if _, err := f.Wait(ctx); err != nil && ctx.Err() != nil {
			return nil, err
		}
	}
}

// join returns the pass that answers the caller, or, with mine false, one
// that has to end first.
func (g *Engine) join(id string, input swap.Input, why purpose) (f *passRun, mine bool, err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	l := g.slots[id]
	if l == nil {
		l = &passSlot{}
		g.slots[id] = l
	}
	enough := func(f *passRun) bool { return input == nil && (why != forView || !f.partial) }
	if f = l.running; f != nil {
		if enough(f) {
			f.routine = f.routine && why != forView
			return f, true, nil
		}
		return f, false, nil
	}
	if g.isFresh(l.last) && enough(l.last) {
		return l.last, true, nil
	}
	if g.base.Err() != nil {
		return nil, false, ErrClosed
	}
	f = &passRun{Future: async.NewFuture[*Result](), routine: why == asRoutine}
	l.running = f
	g.passes.Add(1)
	go g.runPass(id, l, f, input, why)
	return f, true, nil
}

// ErrClosed is the error of calls to an engine that was closed, or is closed under them.
var ErrClosed error = fault.New(fault.Internal, "the client is closed")

// isFresh reports whether the facts of a pass, nil for none, serve callers without input
// still. g.mu is held.
func (g *Engine) isFresh(f *passRun) bool {
	if f == nil {
		return false
	}
	age := g.Now().Sub(f.ended)
	return age >= 0 && age < g.freshFor
}

// recent returns the record that Advance would answer a caller without input with, if it
// has it at hand, else nil. It must not be changed.
func (g *Engine) recent(id string) *swap.Record {
	g.mu.Lock()
	l := g.slots[id]
	if l == nil || l.running != nil || !g.isFresh(l.last) || l.last.partial {
		g.mu.Unlock()
		return nil
	}
	f := l.last
	g.mu.Unlock()
	res, err := f.Wait(g.base) // it has ended
	if err != nil {
		return nil
	}
	return res.Record
}

// forget drops the fresh result of a swap that was written beside a pass.
func (g *Engine) forget(id string) {
	g.mu.Lock()
	if l := g.slots[id]; l != nil {
		l.last = nil
	}
	g.mu.Unlock()
}

// sweep frees the slots of swaps that no pass has used lately, with what their passes
// have decoded and found.
func (g *Engine) sweep() {
	g.mu.Lock()
	defer g.mu.Unlock()
	now, n := g.Now(), 0
	for ; n < len(g.fresh); n++ {
		old := &g.fresh[n]
		if age := now.Sub(old.pass.ended); age >= 0 && age < g.freshFor {
			break
		}
		if l := g.slots[old.id]; l != nil && l.running == nil && (l.last == old.pass || l.last == nil) {
			delete(g.slots, old.id)
		}
		*old = freshPass{}
	}
	g.fresh = g.fresh[n:]
}

func (g *Engine) runPass(id string, l *passSlot, f *passRun, input swap.Input, why purpose) {
	defer g.passes.Done()
	w, base := g.repeats(id, input, why), g.base
	var reader Reader = w
	if why == asRoutine {
		reader, base = routineReader{w, g, f}, async.Routine(g.base)
	}
	res, err := g.guarded(base, id, func(ctx context.Context) (*Result, error) {
		defer w.keep()
		return g.pass(ctx, id, f, w, reader, input)
	})
	g.mu.Lock()
	if l.running = nil; err == nil {
		f.ended, l.last = g.Now(), f
		g.fresh = append(g.fresh, freshPass{id, f})
	} else {
		delete(g.slots, id)
	}
	g.mu.Unlock()
	g.sweep()
	f.Set(res, err)
}

// guarded keeps a pass that panics from harming anything but itself.
func (g *Engine) guarded(ctx context.Context, id string, pass func(context.Context) (*Result, error)) (res *Result, err error) {
	ctx, cancel := context.WithTimeout(ctx, g.passTimeout+writeTime)
	defer cancel()
	defer func() {
		if p := recover(); p != nil {
			g.log.Error("pass panicked", "swap", storage.Label(id), "panic", fmt.Sprint(p), "stack", string(debug.Stack()))
			res, err = nil, fault.New(fault.Internal, "internal error while checking the swap")
		}
	}()
	return pass(ctx)
}

// pass runs a pass by a reader of w's. What w repeats is of no use to a pass that would change
// the swap, has something to do, or is shown to a caller who can act: that is made once more,
// by answers.
func (g *Engine) pass(ctx context.Context, id string, f *passRun, w *repeater, reader Reader, input swap.Input) (*Result, error) {
	asking, cancel := context.WithTimeout(ctx, g.passTimeout)
	defer cancel()
	turn := Turn{
		Flow: func(t swap.Type) *swap.Flow { return g.Flows[t] },
		Now:  g.Now,
		Load: func() (*swap.Record, error) {
			r, err := g.Load(ctx, id)
			if err == nil {
				w.about(r)
			}
			return r, err
		},
		Observe: func(f *swap.Flow, in swap.Decision) { Observe(asking, reader, g.Rival, f, in) },
		Write: func(r, next *swap.Record, move *swap.Move) error {
			if w.repeated() != nil {
				return errRepeated
			}
			if err := g.write(ctx, r, next, move); err != nil {
				return err
			}
			if r.Lie == nil && next.Lie != nil {
				g.accuse(ctx, next)
			}
			if move != nil && r.State != next.State {
				g.log.Info("swap moved", "swap", storage.Label(next.ID), "type", next.Type.String(), "from", r.State, "to", next.State, "why", move.Why)
			}
			return nil
		},
	}
	res, due, err := turn.Pass(input)
	if w.repeated() != nil && !g.mayRepeat(f, w, res, due, err) {
		w.askAll()
		res, due, err = turn.Pass(input)
	}
	if err != nil {
		return nil, err
	}
	res.AsOf = w.repeated()
	g.Effects.start(res.Record, due, g.Now())
	return res, nil
}
