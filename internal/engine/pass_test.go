package engine

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/internal/lp"
	"github.com/swapper-go/swapper/internal/swap"
	"github.com/swapper-go/swapper/internal/trial"
	"github.com/swapper-go/swapper/storage"
)

// lamp is a small flow for testing the engine: 0 off, 1 asked, 2 on, 3 broken, 4 expired.
func lamp() *swap.Flow {
	return &swap.Flow{
		Type: swap.ToBTC,
		States: []swap.StateRow{
			{Number: 0, Name: "OFF", Pending: true, Watched: true, Every: time.Second},
			{Number: 1, Name: "ASKED", Pending: true, Watched: true, Every: time.Second},
			{Number: 2, Name: "ON", Finished: true, Success: true},
			{Number: 3, Name: "BROKEN", Finished: true, Failed: true},
			{Number: 4, Name: "GONE", Finished: true, Expired: true, Hidden: true},
		},
		Moves: []swap.Move{
			{From: []int{0, 1}, To: 2, Why: "escrow claimed", If: func(in swap.Decision) bool {
				return in.Obs.Escrow.Known() && in.Obs.Escrow.Value.State == chains.EscrowClaimed
			}},
			{From: []int{0}, To: 1, Why: "asked", On: swap.OnReveal, Do: func(in swap.Decision, next *swap.Record) {
				next.Lightning = &swap.LightningPart{Preimage: in.Input.(swap.Reveal).Preimage}
			}},
			{From: []int{1}, To: 3, Why: "refused", On: swap.OnOutcome, If: func(in swap.Decision) bool { return in.Input.(swap.Outcome).Refused }},
			{From: []int{0}, To: 4, Why: "expired", If: func(in swap.Decision) bool { return in.R.Expiry.Passed(in.Now) }},
		},
		Ask: func(in swap.Decision) swap.Ask {
			if in.R.State > 1 || in.Obs.Escrow.Asked {
				return swap.Ask{}
			}
			return swap.Ask{Escrow: &chains.EscrowQuery{}}
		},
		Effects: func(in swap.Decision) []swap.Effect {
			if in.R.State == 1 && in.R.Tried[string(swap.PostPSBT)].Outcome == "" {
				return []swap.Effect{{Kind: swap.PostPSBT, Mark: true}}
			}
			return nil
		},
		View: func(in swap.Decision) swap.View { return swap.View{} },
	}
}

// toyReader answers questions about escrows from a value that tests set.
type toyReader struct {
	Reader
	mu    sync.Mutex
	fact  chains.EscrowFact
	err   error
	asked atomic.Int64
	delay time.Duration
}

func (w *toyReader) Escrow(ctx context.Context, chain, contract string, q chains.EscrowQuery) (chains.EscrowFact, error) {
	w.asked.Add(1)
	if w.delay > 0 {
		select {
		case <-time.After(w.delay):
		case <-ctx.Done():
			return chains.EscrowFact{}, ctx.Err()
		}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.fact, w.err
}

func (w *toyReader) set(f chains.EscrowFact, err error) {
	w.mu.Lock()
	w.fact, w.err = f, err
	w.mu.Unlock()
}

// toyExecutor counts attempts and answers as told.
type toyExecutor struct {
	started atomic.Int64
	answer  func(n int64) swap.Outcome
}

func (p *toyExecutor) Execute(ctx context.Context, r *swap.Record, e swap.Effect) swap.Outcome {
	return p.answer(p.started.Add(1))
}

func toyEngine(t *testing.T, store storage.Store, w Reader, p Executor, f *swap.Flow) *Engine {
	t.Helper()
	return newEngine(t, Config{Store: store, Reader: w, Executor: p, Flows: []*swap.Flow{f}, KeepExpired: time.Minute})
}

// newEngine is an engine that ends with the test. What its configuration leaves out is a store
// of its own, the clock, a log that is thrown away, and a chain and effects that say nothing.
func newEngine(t testing.TB, c Config) *Engine {
	t.Helper()
	if c.Store == nil {
		c.Store = new(storage.Memory)
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Log == nil {
		c.Log = quiet
	}
	if c.Reader == nil {
		c.Reader = &toyReader{}
	}
	if c.Executor == nil {
		c.Executor = &toyExecutor{}
	}
	g := New(c)
	t.Cleanup(g.Close)
	return g
}

var quiet = slog.New(slog.DiscardHandler)

func newToy(id string) *swap.Record {
	return &swap.Record{Head: swap.Head{ID: id, Type: swap.ToBTC, Chain: "CITREA", Signer: "0x1", CreatedAt: swap.At(time.Now()), Expiry: swap.At(time.Now().Add(time.Hour))}}
}

// inBubble runs a case whose time passes at once.
func inBubble(t *testing.T, name string, f func(t *testing.T)) {
	t.Run(name, func(t *testing.T) { synctest.Test(t, f) })
}

// add stores a new record.
func add(t *testing.T, g *Engine, r *swap.Record) {
	t.Helper()
	trial.Do(t, g.Create(t.Context(), r))
}

// restore stores a record of another store.
func restore(t *testing.T, g *Engine, r *swap.Record) {
	t.Helper()
	trial.Do(t, g.Restore(t.Context(), r))
}

// write stores next in place of r, as a fact.
func write(t *testing.T, g *Engine, r, next *swap.Record) {
	t.Helper()
	trial.Do(t, g.write(t.Context(), r, next, nil))
}

func load(t *testing.T, g *Engine, id string) *swap.Record {
	t.Helper()
	return trial.Must(g.Load(t.Context(), id))(t)
}

// follow runs an engine until the test ends, or stop is called.
func follow(t *testing.T, g *Engine) (stop func()) {
	ctx, cancel := context.WithCancel(t.Context())
	var run sync.WaitGroup
	run.Go(func() { _ = g.Run(ctx) })
	stop = func() { cancel(); run.Wait() }
	t.Cleanup(stop)
	return stop
}

func create(t *testing.T, g *Engine, id string) *swap.Record {
	t.Helper()
	r := newToy(id)
	add(t, g, r)
	return r
}

// advance advances a swap, which has to go well.
func advance(t *testing.T, g *Engine, id string, in swap.Input) *Result {
	t.Helper()
	return trial.Must(g.Advance(t.Context(), id, in))(t)
}

func TestCallersShareAPass(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &toyReader{delay: 100 * time.Millisecond}
		g := toyEngine(t, new(storage.Memory), w, &toyExecutor{}, lamp())
		create(t, g, "a")
		var all sync.WaitGroup
		for range 50 {
			all.Go(func() {
				if _, err := g.Advance(t.Context(), "a", nil); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
		if n := w.asked.Load(); n != 1 {
			t.Errorf("50 callers at once asked the chain %d times, want 1", n)
		}
		advance(t, g, "a", nil)
		if n := w.asked.Load(); n != 1 {
			t.Errorf("a caller within a second asked again")
		}
		time.Sleep(snapshotLife)
		advance(t, g, "a", nil)
		if n := w.asked.Load(); n != 2 {
			t.Errorf("a caller after a second got old facts")
		}
	})
}

func TestCallerMayLeave(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &toyReader{delay: time.Second}
		w.set(chains.EscrowFact{State: chains.EscrowClaimed}, nil)
		g := toyEngine(t, new(storage.Memory), w, &toyExecutor{}, lamp())
		create(t, g, "a")
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
		defer cancel()
		if _, err := g.Advance(ctx, "a", nil); !errors.Is(err, context.DeadlineExceeded) {
			t.Fatalf("got %v, want the caller's deadline", err)
		}
		time.Sleep(2 * time.Second)
		r, err := g.Load(t.Context(), "a")
		if err != nil || r.State != 2 {
			t.Errorf("state %d, %v: the pass ended with its caller", r.State, err)
		}
	})
}

func TestNoAnswerMovesNothing(t *testing.T) {
	w := &toyReader{err: errors.New("node down")}
	g := toyEngine(t, new(storage.Memory), w, &toyExecutor{}, lamp())
	create(t, g, "a")
	res, err := g.Advance(t.Context(), "a", nil)
	if err != nil || res.Record.State != 0 || res.Record.Version != 1 {
		t.Fatalf("got %+v, %v; want the record untouched", res, err)
	}
	if res.Observation.Escrow.Err == nil {
		t.Error("the failure is not among the facts")
	}
}

func TestLaggingNodeIsNoNews(t *testing.T) {
	w := &toyReader{}
	w.set(chains.EscrowFact{State: chains.EscrowNone, Head: chains.Block{Height: 9}}, nil)
	g := toyEngine(t, new(storage.Memory), w, &toyExecutor{}, lamp())
	r := &swap.Record{Head: swap.Head{ID: "a", Type: swap.ToBTC, Seen: swap.Seen{Chain: 10}, Expiry: swap.At(time.Now().Add(time.Hour))}}
	add(t, g, r)
	res, err := g.Advance(t.Context(), "a", nil)
	if err != nil || !errors.Is(res.Observation.Escrow.Err, errLagging) {
		t.Errorf("got %v, %v; want an answer from behind to count as none", res.Observation.Escrow.Err, err)
	}
}

func TestInputIsTakenOnceOrRefused(t *testing.T) {
	p := &toyExecutor{answer: func(int64) swap.Outcome { return swap.Outcome{Done: true} }}
	g := toyEngine(t, new(storage.Memory), &toyReader{}, p, lamp())
	create(t, g, "a")
	res, err := g.Advance(t.Context(), "a", swap.Reveal{Preimage: chains.Preimage{1}})
	if err != nil || res.Record.State != 1 || res.Record.Lightning.Preimage != (chains.Preimage{1}) {
		t.Fatalf("got %+v, %v", res, err)
	}
	if _, err := g.Advance(t.Context(), "a", swap.Reveal{Preimage: chains.Preimage{1}}); fault.CodeOf(err) != fault.InvalidState {
		t.Errorf("got %v, want invalid_state", err)
	}
	if _, err := g.Advance(t.Context(), "nobody", nil); fault.CodeOf(err) != fault.NotFound {
		t.Errorf("got %v, want not_found", err)
	}
}

// racing lets another writer in before each of the first updates.
type racing struct {
	storage.Store
	races int
	race  func()
}

func (s *racing) Update(ctx context.Context, e storage.Entry) error {
	if s.races > 0 {
		s.races--
		s.race()
	}
	return s.Store.Update(ctx, e)
}

func TestLostRaceBeginsAgain(t *testing.T) {
	for _, races := range []int{1, maxConflicts, maxConflicts + 1} {
		mem := new(storage.Memory)
		s := &racing{Store: mem, races: races}
		s.race = func() {
			e, err := mem.Get(context.Background(), "a")
			if err != nil {
				t.Error(err)
			}
			if err := mem.Update(context.Background(), e); err != nil {
				t.Error(err)
			}
		}
		p := &toyExecutor{answer: func(int64) swap.Outcome { return swap.Outcome{Done: true} }}
		g := toyEngine(t, s, &toyReader{}, p, lamp())
		create(t, g, "a")
		_, err := g.Advance(t.Context(), "a", swap.Reveal{Preimage: chains.Preimage{1}})
		if races <= maxConflicts && err != nil {
			t.Errorf("%d races: %v", races, err)
		}
		if races > maxConflicts && !errors.Is(err, storage.ErrConflict) {
			t.Errorf("%d races: got %v, want a conflict", races, err)
		}
	}
}

func TestMarkedEffectStartsOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		mem := new(storage.Memory)
		p := &toyExecutor{answer: func(int64) swap.Outcome { time.Sleep(time.Second); return swap.Outcome{Done: true} }}
		one := toyEngine(t, mem, &toyReader{}, p, lamp())
		two := toyEngine(t, mem, &toyReader{}, p, lamp())
		create(t, one, "a")
		advance(t, one, "a", swap.Reveal{Preimage: chains.Preimage{1}})
		time.Sleep(time.Millisecond)
		for range 3 {
			advance(t, one, "a", swap.Look{})
		}
		if n := p.started.Load(); n != 1 {
			t.Errorf("started %d times, want once", n)
		}
		time.Sleep(2 * time.Second)
		r, err := one.Load(t.Context(), "a")
		if err != nil || r.Tried[string(swap.PostPSBT)].Outcome != swap.Done || r.Tried[string(swap.PostPSBT)].Started == 0 {
			t.Errorf("outcome not recorded: %+v, %v", r.Tried, err)
		}
		if _, err := two.Advance(t.Context(), "a", nil); err != nil || p.started.Load() != 1 {
			t.Errorf("a second engine started it again: %v", err)
		}
	})
}

func TestUnknownOutcomeIsTriedAgainAndRefusalAfterItStaysUnknown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &toyExecutor{answer: func(n int64) swap.Outcome {
			if n == 1 {
				return swap.Outcome{Reason: "no answer"}
			}
			return swap.Outcome{Refused: true, Reason: "already used"}
		}}
		f := lamp()
		f.Moves = f.Moves[:2] // no row for a refusal: only the history counts here
		g := toyEngine(t, new(storage.Memory), &toyReader{}, p, f)
		create(t, g, "a")
		advance(t, g, "a", swap.Reveal{Preimage: chains.Preimage{1}})
		time.Sleep(time.Second)
		if n := p.started.Load(); n != 1 {
			t.Fatalf("%d attempts at once, want a pause", n)
		}
		time.Sleep(10 * time.Second)
		advance(t, g, "a", swap.Look{})
		time.Sleep(time.Second)
		r := load(t, g, "a")
		if try := r.Tried[string(swap.PostPSBT)]; try.Attempts != 2 || try.Outcome != "" {
			t.Errorf("got %+v; a refusal after an unanswered attempt must stay unknown", try)
		}
	})
}

// An attempt whose process ended before the answer came has none either.
func TestRefusalAfterALostProcessStaysUnknown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		mem := new(storage.Memory)
		f := lamp()
		one := toyEngine(t, mem, &toyReader{}, &toyExecutor{answer: func(int64) swap.Outcome { time.Sleep(time.Second); return swap.Outcome{Done: true} }}, f)
		create(t, one, "a")
		advance(t, one, "a", swap.Reveal{Preimage: chains.Preimage{1}})
		time.Sleep(time.Millisecond)
		one.Close() // in the middle of the attempt
		two := toyEngine(t, mem, &toyReader{}, &toyExecutor{answer: func(int64) swap.Outcome { return swap.Outcome{Refused: true, Reason: "already used"} }}, f)
		f.Moves = f.Moves[:2] // no row for a refusal: only the history counts here
		advance(t, two, "a", swap.Look{})
		time.Sleep(time.Second)
		r := load(t, two, "a")
		if try := r.Tried[string(swap.PostPSBT)]; try.Attempts != 2 || try.Outcome != "" {
			t.Errorf("got %+v; a refusal after an attempt that was cut off must stay unknown", try)
		}
	})
}

func TestPanicHarmsNobodyElse(t *testing.T) {
	f := lamp()
	ask := f.Ask
	f.Ask = func(in swap.Decision) swap.Ask {
		switch {
		case in.R.ID == "bad":
			panic("bug")
		case in.R.ID == "unreadable" && !in.Obs.LP.Asked:
			return swap.Ask{LP: &lp.StatusQuery{}} // of which the reader's own goroutine panics
		}
		return ask(in)
	}
	w := &toyReader{}
	g := toyEngine(t, new(storage.Memory), w, &toyExecutor{}, f)
	for _, id := range []string{"bad", "unreadable", "good"} {
		create(t, g, id)
	}
	for _, id := range []string{"bad", "unreadable"} {
		if _, err := g.Advance(t.Context(), id, nil); fault.CodeOf(err) != fault.Internal {
			t.Errorf("%s: got %v, want an internal error", id, err)
		}
	}
	if _, err := g.Advance(t.Context(), "good", nil); err != nil {
		t.Error(err)
	}
	if _, err := g.Advance(t.Context(), "bad", nil); fault.CodeOf(err) != fault.Internal {
		t.Errorf("second call: got %v", err)
	}
}

func TestRunFollowsAndPurges(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &toyReader{}
		g := toyEngine(t, new(storage.Memory), w, &toyExecutor{}, lamp())
		create(t, g, "claimed")
		quote := create(t, g, "quote")
		quote.Expiry = 0
		ctx, stop := context.WithCancel(t.Context())
		var all sync.WaitGroup
		all.Go(func() {
			if err := g.Run(ctx); !errors.Is(err, context.Canceled) {
				t.Errorf("Run: %v", err)
			}
		})
		late := &swap.Record{Head: swap.Head{ID: "late", Type: swap.ToBTC, Chain: "CITREA", CreatedAt: swap.At(time.Now()), Expiry: swap.At(time.Now().Add(3 * time.Second))},
			Escrow: &swap.EscrowPart{}}
		add(t, g, late)
		time.Sleep(10 * time.Second)
		if r, err := g.Load(ctx, "late"); err != nil || r.State != 4 || r.Ended == 0 {
			t.Errorf("late: %+v, %v; want it expired", r, err)
		}
		w.set(chains.EscrowFact{State: chains.EscrowClaimed}, nil)
		time.Sleep(30 * time.Second)
		if r, err := g.Load(ctx, "claimed"); err != nil || r.State != 2 {
			t.Errorf("claimed: state %d, %v; want 2", r.State, err)
		}
		time.Sleep(5 * time.Minute)
		if _, err := g.Load(ctx, "late"); err != nil {
			t.Errorf("the chain was not heard about late, but it was deleted: %v", err)
		}
		stop()
		all.Wait()
	})
}

func TestHintLooksAtItsSwaps(t *testing.T) {
	w := &toyReader{}
	w.set(chains.EscrowFact{State: chains.EscrowClaimed}, nil)
	g := toyEngine(t, new(storage.Memory), w, &toyExecutor{}, lamp())
	hash := make([]byte, 32)
	hash[0] = 7
	r := &swap.Record{Head: swap.Head{ID: "a", Type: swap.ToBTC, Chain: "CITREA", Expiry: swap.At(time.Now().Add(time.Hour))},
		Escrow: &swap.EscrowPart{Real: &chains.Escrow{Hash: hash}}}
	add(t, g, r)
	trial.Do(t, g.Look(t.Context(), "CITREA", chains.Hint{EscrowHash: hash, BitcoinTx: bitcoin.Hash{}}))
	if r, err := g.Load(t.Context(), "a"); err != nil || r.State != 2 {
		t.Errorf("state %d, %v; want 2", r.State, err)
	}
}

func TestSlowSubscriberKeepsTheLast(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &toyExecutor{answer: func(int64) swap.Outcome { return swap.Outcome{Refused: true} }}
		g := toyEngine(t, new(storage.Memory), &toyReader{}, p, lamp())
		create(t, g, "a")
		var got []Change
		ctx, stop := context.WithCancel(t.Context())
		var all sync.WaitGroup
		all.Go(func() {
			g.Subscribe(ctx, func(c Change) bool {
				got = append(got, c)
				time.Sleep(time.Minute)
				return true
			})
		})
		time.Sleep(time.Second)
		advance(t, g, "a", swap.Reveal{Preimage: chains.Preimage{1}})
		time.Sleep(10 * time.Minute)
		stop()
		all.Wait()
		if n := len(got); n == 0 || n > 2 || got[n-1].Record.State != 3 {
			t.Errorf("got %d changes, the last to state %d; want at most 2, ending in 3", n, got[n-1].Record.State)
		}
	})
}

func contains(b []byte, s string) bool {
	for i := 0; i+len(s) <= len(b); i++ {
		if string(b[i:i+len(s)]) == s {
			return true
		}
	}
	return false
}

type executorFunc func(ctx context.Context, r *swap.Record, e swap.Effect) swap.Outcome

func (f executorFunc) Execute(ctx context.Context, r *swap.Record, e swap.Effect) swap.Outcome {
	return f(ctx, r, e)
}
