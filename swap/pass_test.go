package swap

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
	"github.com/swapper-go/swapper/storage"
	"github.com/swapper-go/swapper/storage/storagetest"
	"github.com/swapper-go/swapper/swap/lp"
)

// lamp is a small flow for testing the engine: 0 off, 1 asked, 2 on, 3 broken, 4 expired.
func lamp() *Flow {
	return &Flow{
		Type: ToBTC,
		States: []StateRow{
			{Number: 0, Name: "OFF", Pending: true, Watched: true, Every: time.Second},
			{Number: 1, Name: "ASKED", Pending: true, Watched: true, Every: time.Second},
			{Number: 2, Name: "ON", Finished: true, Success: true},
			{Number: 3, Name: "BROKEN", Finished: true, Failed: true},
			{Number: 4, Name: "GONE", Finished: true, Expired: true, Hidden: true},
		},
		Moves: []Move{
			{From: []int{0, 1}, To: 2, Why: "escrow claimed", If: func(in In) bool {
				return in.Obs.Escrow.Known() && in.Obs.Escrow.Value.State == chains.EscrowClaimed
			}},
			{From: []int{0}, To: 1, Why: "asked", On: OnReveal, Do: func(in In, next *Record) {
				next.Lightning = &LightningPart{Preimage: in.Input.(Reveal).Preimage}
			}},
			{From: []int{1}, To: 3, Why: "refused", On: OnOutcome, If: func(in In) bool { return in.Input.(Outcome).Refused }},
			{From: []int{0}, To: 4, Why: "expired", If: func(in In) bool { return in.R.Expiry.Passed(in.Now) }},
		},
		Ask: func(in In) Ask {
			if in.R.State > 1 || in.Obs.Escrow.Asked {
				return Ask{}
			}
			return Ask{Escrow: &chains.EscrowQuery{}}
		},
		Effects: func(in In) []Effect {
			if in.R.State == 1 && in.R.Tried[string(PostPSBT)].Outcome == "" {
				return []Effect{{Kind: PostPSBT, Mark: true}}
			}
			return nil
		},
		View: func(in In) View { return View{} },
	}
}

// toyWorld answers questions about escrows from a value that tests set.
type toyWorld struct {
	World
	mu    sync.Mutex
	fact  chains.EscrowFact
	err   error
	asked atomic.Int64
	delay time.Duration
}

func (w *toyWorld) Escrow(ctx context.Context, chain, contract string, q chains.EscrowQuery) (chains.EscrowFact, error) {
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

func (w *toyWorld) set(f chains.EscrowFact, err error) {
	w.mu.Lock()
	w.fact, w.err = f, err
	w.mu.Unlock()
}

// toyPerformer counts attempts and answers as told.
type toyPerformer struct {
	started atomic.Int64
	answer  func(n int64) Outcome
}

func (p *toyPerformer) Perform(ctx context.Context, r *Record, e Effect) Outcome {
	return p.answer(p.started.Add(1))
}

func toyEngine(t *testing.T, store storage.Store, w World, p Performer, f *Flow) *Engine {
	t.Helper()
	g := New(Config{Store: store, World: w, Performer: p, Flows: []*Flow{f}, Now: time.Now, KeepExpired: time.Minute,
		Log: quiet})
	t.Cleanup(g.Close)
	return g
}

var quiet = slog.New(slog.DiscardHandler)

func newToy(id string) *Record {
	return &Record{Head: Head{ID: id, Type: ToBTC, Chain: "CITREA", Signer: "0x1", CreatedAt: At(time.Now()), Expiry: At(time.Now().Add(time.Hour))}}
}

func create(t *testing.T, g *Engine, id string) *Record {
	t.Helper()
	r := newToy(id)
	if err := g.Create(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	return r
}

func TestCallersShareAPass(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &toyWorld{delay: 100 * time.Millisecond}
		g := toyEngine(t, new(storagetest.Memory), w, &toyPerformer{}, lamp())
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
		if _, err := g.Advance(t.Context(), "a", nil); err != nil {
			t.Fatal(err)
		}
		if n := w.asked.Load(); n != 1 {
			t.Errorf("a caller within a second asked again")
		}
		time.Sleep(snapshotLife)
		if _, err := g.Advance(t.Context(), "a", nil); err != nil {
			t.Fatal(err)
		}
		if n := w.asked.Load(); n != 2 {
			t.Errorf("a caller after a second got old facts")
		}
		g.Close()
	})
}

func TestCallerMayLeave(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &toyWorld{delay: time.Second}
		w.set(chains.EscrowFact{State: chains.EscrowClaimed}, nil)
		g := toyEngine(t, new(storagetest.Memory), w, &toyPerformer{}, lamp())
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
		g.Close()
	})
}

func TestNoAnswerMovesNothing(t *testing.T) {
	w := &toyWorld{err: errors.New("node down")}
	g := toyEngine(t, new(storagetest.Memory), w, &toyPerformer{}, lamp())
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
	w := &toyWorld{}
	w.set(chains.EscrowFact{State: chains.EscrowNone, Head: chains.Block{Height: 9}}, nil)
	g := toyEngine(t, new(storagetest.Memory), w, &toyPerformer{}, lamp())
	r := &Record{Head: Head{ID: "a", Type: ToBTC, Seen: Seen{Chain: 10}, Expiry: At(time.Now().Add(time.Hour))}}
	if err := g.Create(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	res, err := g.Advance(t.Context(), "a", nil)
	if err != nil || !errors.Is(res.Observation.Escrow.Err, errLagging) {
		t.Errorf("got %v, %v; want an answer from behind to count as none", res.Observation.Escrow.Err, err)
	}
}

func TestInputIsTakenOnceOrRefused(t *testing.T) {
	p := &toyPerformer{answer: func(int64) Outcome { return Outcome{Done: true} }}
	g := toyEngine(t, new(storagetest.Memory), &toyWorld{}, p, lamp())
	create(t, g, "a")
	res, err := g.Advance(t.Context(), "a", Reveal{Secret{1}})
	if err != nil || res.Record.State != 1 || res.Record.Lightning.Preimage != (Secret{1}) {
		t.Fatalf("got %+v, %v", res, err)
	}
	if _, err := g.Advance(t.Context(), "a", Reveal{Secret{1}}); fault.CodeOf(err) != fault.InvalidState {
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
		mem := new(storagetest.Memory)
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
		p := &toyPerformer{answer: func(int64) Outcome { return Outcome{Done: true} }}
		g := toyEngine(t, s, &toyWorld{}, p, lamp())
		create(t, g, "a")
		_, err := g.Advance(t.Context(), "a", Reveal{Secret{1}})
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
		mem := new(storagetest.Memory)
		p := &toyPerformer{answer: func(int64) Outcome { time.Sleep(time.Second); return Outcome{Done: true} }}
		one := toyEngine(t, mem, &toyWorld{}, p, lamp())
		two := toyEngine(t, mem, &toyWorld{}, p, lamp())
		create(t, one, "a")
		if _, err := one.Advance(t.Context(), "a", Reveal{Secret{1}}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Millisecond)
		for range 3 {
			if _, err := one.Advance(t.Context(), "a", Look{}); err != nil {
				t.Fatal(err)
			}
		}
		if n := p.started.Load(); n != 1 {
			t.Errorf("started %d times, want once", n)
		}
		time.Sleep(2 * time.Second)
		r, err := one.Load(t.Context(), "a")
		if err != nil || r.Tried[string(PostPSBT)].Outcome != Done || r.Tried[string(PostPSBT)].Started == 0 {
			t.Errorf("outcome not recorded: %+v, %v", r.Tried, err)
		}
		if _, err := two.Advance(t.Context(), "a", nil); err != nil || p.started.Load() != 1 {
			t.Errorf("a second engine started it again: %v", err)
		}
		one.Close()
		two.Close()
	})
}

func TestUnknownOutcomeIsTriedAgainAndRefusalAfterItStaysUnknown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &toyPerformer{answer: func(n int64) Outcome {
			if n == 1 {
				return Outcome{Reason: "no answer"}
			}
			return Outcome{Refused: true, Reason: "already used"}
		}}
		f := lamp()
		f.Moves = f.Moves[:2] // no row for a refusal: only the history counts here
		g := toyEngine(t, new(storagetest.Memory), &toyWorld{}, p, f)
		create(t, g, "a")
		if _, err := g.Advance(t.Context(), "a", Reveal{Secret{1}}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Second)
		if n := p.started.Load(); n != 1 {
			t.Fatalf("%d attempts at once, want a pause", n)
		}
		time.Sleep(10 * time.Second)
		if _, err := g.Advance(t.Context(), "a", Look{}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Second)
		r, err := g.Load(t.Context(), "a")
		if err != nil {
			t.Fatal(err)
		}
		if try := r.Tried[string(PostPSBT)]; try.Attempts != 2 || try.Outcome != "" {
			t.Errorf("got %+v; a refusal after an unanswered attempt must stay unknown", try)
		}
		g.Close()
	})
}

// An attempt whose process ended before the answer came has none either.
func TestRefusalAfterALostProcessStaysUnknown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		mem := new(storagetest.Memory)
		f := lamp()
		one := toyEngine(t, mem, &toyWorld{}, &toyPerformer{answer: func(int64) Outcome { time.Sleep(time.Second); return Outcome{Done: true} }}, f)
		create(t, one, "a")
		if _, err := one.Advance(t.Context(), "a", Reveal{Secret{1}}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Millisecond)
		one.Close() // in the middle of the attempt
		two := toyEngine(t, mem, &toyWorld{}, &toyPerformer{answer: func(int64) Outcome { return Outcome{Refused: true, Reason: "already used"} }}, f)
		defer two.Close()
		f.Moves = f.Moves[:2] // no row for a refusal: only the history counts here
		if _, err := two.Advance(t.Context(), "a", Look{}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Second)
		r, err := two.Load(t.Context(), "a")
		if err != nil {
			t.Fatal(err)
		}
		if try := r.Tried[string(PostPSBT)]; try.Attempts != 2 || try.Outcome != "" {
			t.Errorf("got %+v; a refusal after an attempt that was cut off must stay unknown", try)
		}
	})
}

func TestPanicHarmsNobodyElse(t *testing.T) {
	f := lamp()
	ask := f.Ask
	f.Ask = func(in In) Ask {
		switch {
		case in.R.ID == "bad":
			panic("bug")
		case in.R.ID == "unreadable" && !in.Obs.LP.Asked:
			return Ask{LP: &lp.StatusQuery{}} // of which the world's own goroutine panics
		}
		return ask(in)
	}
	w := &toyWorld{}
	g := toyEngine(t, new(storagetest.Memory), w, &toyPerformer{}, f)
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
		w := &toyWorld{}
		g := toyEngine(t, new(storagetest.Memory), w, &toyPerformer{}, lamp())
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
		late := &Record{Head: Head{ID: "late", Type: ToBTC, Chain: "CITREA", CreatedAt: At(time.Now()), Expiry: At(time.Now().Add(3 * time.Second))},
			Escrow: &EscrowPart{}}
		if err := g.Create(ctx, late); err != nil {
			t.Fatal(err)
		}
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
		g.Close()
	})
}

func TestHintLooksAtItsSwaps(t *testing.T) {
	w := &toyWorld{}
	w.set(chains.EscrowFact{State: chains.EscrowClaimed}, nil)
	g := toyEngine(t, new(storagetest.Memory), w, &toyPerformer{}, lamp())
	hash := make([]byte, 32)
	hash[0] = 7
	r := &Record{Head: Head{ID: "a", Type: ToBTC, Chain: "CITREA", Expiry: At(time.Now().Add(time.Hour))},
		Escrow: &EscrowPart{Real: &chains.Escrow{Hash: hash}}}
	if err := g.Create(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	if err := g.Look(t.Context(), "CITREA", chains.Hint{EscrowHash: hash, BitcoinTx: bitcoin.Hash{}}); err != nil {
		t.Fatal(err)
	}
	if r, err := g.Load(t.Context(), "a"); err != nil || r.State != 2 {
		t.Errorf("state %d, %v; want 2", r.State, err)
	}
}

func TestSlowSubscriberKeepsTheLast(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &toyPerformer{answer: func(int64) Outcome { return Outcome{Refused: true} }}
		g := toyEngine(t, new(storagetest.Memory), &toyWorld{}, p, lamp())
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
		if _, err := g.Advance(t.Context(), "a", Reveal{Secret{1}}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(10 * time.Minute)
		stop()
		all.Wait()
		if n := len(got); n == 0 || n > 2 || got[n-1].Record.State != 3 {
			t.Errorf("got %d changes, the last to state %d; want at most 2, ending in 3", n, got[n-1].Record.State)
		}
		g.Close()
	})
}

func TestBatchCollectsWhileBusy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var calls [][]int
		b := newBatch(t.Context(), func(ctx context.Context, qs []int) ([]int, error) {
			calls = append(calls, qs)
			time.Sleep(time.Second)
			return qs, nil
		}, func(error) int { return -1 })
		var all sync.WaitGroup
		for i := range 10 {
			all.Go(func() {
				time.Sleep(time.Duration(i) * time.Millisecond)
				if a, err := b.ask(t.Context(), i); err != nil || a != i {
					t.Errorf("answer %d, %v; want %d", a, err, i)
				}
			})
		}
		all.Wait()
		if len(calls) != 2 || len(calls[0]) != 1 || len(calls[1]) != 9 {
			t.Errorf("calls %v; want one question, then the other nine together", calls)
		}
		b.wait()
	})
}

func TestBatchTellsEveryAskerOfAFailure(t *testing.T) {
	for name, run := range map[string]func([]int) ([]int, error){
		"refused":    func([]int) ([]int, error) { return nil, errors.New("down") },
		"incomplete": func(qs []int) ([]int, error) { return qs[1:], nil },
		"panicked":   func(qs []int) ([]int, error) { panic("unreadable") },
	} {
		b := newBatch(t.Context(), func(_ context.Context, qs []int) ([]int, error) { return run(qs) }, func(error) int { return -1 })
		for range 2 { // a failure does not end the batch
			if a, err := b.ask(t.Context(), 1); err != nil || a != -1 {
				t.Errorf("%s: %d, %v; want the failure", name, a, err)
			}
		}
		b.wait()
	}
}

func TestSecretsDoNotPrint(t *testing.T) {
	var b []byte
	w := writerFunc(func(p []byte) (int, error) { b = append(b, p...); return len(p), nil })
	r := &Record{Head: Head{ID: "a", Seed: Secret{0xaa}}, Lightning: &LightningPart{Preimage: Secret{0xbb}}}
	timeless := &slog.HandlerOptions{ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
		if a.Key == slog.TimeKey { // its digits are nobody's secret
			return slog.Attr{}
		}
		return a
	}}
	for _, h := range []slog.Handler{slog.NewTextHandler(w, timeless), slog.NewJSONHandler(w, timeless)} {
		slog.New(h).Info("x", "record", r, "secret", r.Seed, "preimage", chains.Preimage{0xcc})
	}
	for _, leak := range []string{"aa00", "bb00", "cc00", "170", "187", "204"} {
		if contains(b, leak) {
			t.Errorf("%q in the log: %s", leak, b)
		}
	}
}

type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }

func contains(b []byte, s string) bool {
	for i := 0; i+len(s) <= len(b); i++ {
		if string(b[i:i+len(s)]) == s {
			return true
		}
	}
	return false
}

var _ StatusReader = statusReader(nil)

type statusReader func(context.Context, lp.StatusQuery) (lp.Status, error)

func (f statusReader) Status(ctx context.Context, q lp.StatusQuery) (lp.Status, error) {
	return f(ctx, q)
}
