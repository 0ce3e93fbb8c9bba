package engine

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/internal/swap"
	"github.com/swapper-go/swapper/internal/trial"
	"github.com/swapper-go/swapper/storage"
)

// A pass whose questions nobody answers in its time still stores its input.
func TestInputIsStoredThoughNobodyAnswers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newEngine(t, Config{Reader: &toyReader{delay: time.Hour}, Flows: []*swap.Flow{lamp()}, PassTimeout: 3 * time.Second,
			Executor: &toyExecutor{answer: func(int64) swap.Outcome { return swap.Outcome{Done: true} }}})
		create(t, g, "a")
		began := time.Now()
		res, err := g.Advance(t.Context(), "a", swap.Reveal{Preimage: chains.Preimage{1}})
		if err != nil || res.Record.State != 1 || time.Since(began) != 3*time.Second {
			t.Errorf("%+v, %v after %s", res, err, time.Since(began))
		}
	})
}

// A pass that lost a race decides on what the other one wrote and on facts of its
// own, and ends if the swap was deleted meanwhile.
func TestLostRaceAsksAgain(t *testing.T) {
	w := &toyReader{}
	s := &failing{Store: new(storage.Memory)}
	g := toyEngine(t, s, w, &toyExecutor{answer: func(int64) swap.Outcome { return swap.Outcome{Done: true} }}, lamp())
	create(t, g, "a")
	lost := false
	s.update = func(string) error {
		if lost {
			return nil
		}
		lost = true
		w.set(chains.EscrowFact{State: chains.EscrowClaimed}, nil)
		return storage.ErrConflict
	}
	if res, err := g.Advance(t.Context(), "a", swap.Reveal{Preimage: chains.Preimage{1}}); !errors.Is(err, errNotTaken) {
		t.Errorf("decided on facts of the attempt before: %+v, %v", res, err)
	}
	if r, err := g.Load(t.Context(), "a"); err != nil || r.State != 2 || w.asked.Load() != 2 {
		t.Errorf("%+v, %v, asked %d times", r, err, w.asked.Load())
	}
	w.set(chains.EscrowFact{}, nil)
	create(t, g, "b")
	s.update = func(string) error {
		s.get = func(string) error { return storage.ErrNotFound }
		return storage.ErrConflict
	}
	if res, err := g.Advance(t.Context(), "b", swap.Reveal{Preimage: chains.Preimage{1}}); fault.CodeOf(err) != fault.NotFound {
		t.Errorf("a swap that was deleted meanwhile: %+v, %v", res, err)
	}
}

// A caller without input joins the pass that runs, and gets its error too.
func TestCallersShareAFailedPass(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var reads atomic.Int64
		s := &failing{Store: new(storage.Memory), get: func(string) error {
			reads.Add(1)
			time.Sleep(time.Second)
			return errDisk
		}}
		g := toyEngine(t, s, &toyReader{}, &toyExecutor{}, lamp())
		create(t, g, "a")
		var all sync.WaitGroup
		for range 10 {
			all.Go(func() {
				if _, err := g.Advance(t.Context(), "a", nil); !errors.Is(err, errDisk) {
					t.Error(err)
				}
			})
		}
		all.Wait()
		if n := reads.Load(); n != 1 {
			t.Errorf("ten callers at once read %d times", n)
		}
	})
}

// Close returns when no pass and no call to an LP is in progress any more: the store
// may be closed then.
func TestCloseWaitsForWhatIsInProgress(t *testing.T) {
	for name, begin := range map[string]func(g *Engine, r *swap.Record){
		"a pass":         func(g *Engine, _ *swap.Record) { _, _ = g.Advance(context.Background(), "a", nil) },
		"a sign of life": func(g *Engine, r *swap.Record) { g.backoffs.startProbing(r) },
	} {
		inBubble(t, name, func(t *testing.T) {
			var busy atomic.Int64
			slow := func(ctx context.Context) {
				busy.Add(1)
				<-ctx.Done()
				time.Sleep(time.Second)
				busy.Add(-1)
			}
			g := newEngine(t, Config{Reader: &slowToStop{slow: slow}, Flows: []*swap.Flow{lamp()},
				Probe: func(ctx context.Context, _ string) error { slow(ctx); return ctx.Err() }})
			r := create(t, g, "a")
			r.LP.URL = "https://lp"
			go begin(g, r)
			time.Sleep(firstProbe + time.Second)
			if busy.Load() != 1 {
				t.Fatalf("%d are in progress", busy.Load())
			}
			g.Close()
			if busy.Load() != 0 {
				t.Errorf("%d are in progress after Close", busy.Load())
			}
		})
	}
}

// slowToStop answers no question, and needs a while to notice that none is wanted.
type slowToStop struct {
	Reader
	slow func(context.Context)
}

func (w *slowToStop) Escrow(ctx context.Context, _, _ string, _ chains.EscrowQuery) (chains.EscrowFact, error) {
	w.slow(ctx)
	return chains.EscrowFact{}, ctx.Err()
}

// Turns are taken in the order of their times, however they were set and moved.
func TestTurnsComeInTheirOrder(t *testing.T) {
	now := time.Unix(1_800_000_000, 0)
	random := rand.New(rand.NewPCG(1, 2))
	for range 50 {
		s := &schedule{at: map[string]*turn{}}
		want := map[string]time.Time{}
		for range 60 {
			id := string(rune('a' + random.IntN(20)))
			when := now.Add(time.Duration(random.IntN(1000)) * time.Second)
			switch random.IntN(4) {
			case 0:
				if s.soon(id, when, false); want[id].IsZero() || when.Before(want[id]) {
					want[id] = when
				}
			case 1:
				s.drop(id)
				delete(want, id)
			default:
				s.set(id, when)
				want[id] = when
			}
		}
		var last time.Time
		n := 0
		for turn := s.next(now.Add(time.Hour)); turn != nil; turn = s.next(now.Add(time.Hour)) {
			if turn.when.Before(last) || !turn.when.Equal(want[turn.id]) {
				t.Fatalf("%s comes at %v after %v, want at %v", turn.id, turn.when, last, want[turn.id])
			}
			last = turn.when
			n++
		}
		if n != len(want) {
			t.Fatalf("%d turns of %d swaps", n, len(want))
		}
	}
}

// A followed swap whose pass fails is looked at again by itself, at growing pauses
// that end with the first success; what a hint owes it is paid then.
func TestFollowedSwapIsRetried(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		var tried []time.Time
		down := true
		s := &failing{Store: new(storage.Memory), get: func(string) error {
			mu.Lock()
			defer mu.Unlock()
			tried = append(tried, time.Now())
			if down {
				return errDisk
			}
			return nil
		}}
		g := toyEngine(t, s, &toyReader{}, &toyExecutor{}, lamp())
		create(t, g, "a")
		follow(t, g)
		attempts := func(wait time.Duration) (pauses []time.Duration) {
			time.Sleep(wait)
			mu.Lock()
			defer mu.Unlock()
			for i := 1; i < len(tried); i++ {
				pauses = append(pauses, tried[i].Sub(tried[i-1]).Round(time.Second))
			}
			tried = nil
			return pauses
		}
		first := attempts(2 * time.Minute)
		if len(first) < 3 || !slices.IsSorted(first) || first[0] == first[len(first)-1] {
			t.Fatalf("pauses after failures: %v", first)
		}
		mu.Lock()
		down = false
		mu.Unlock()
		attempts(10 * time.Minute)
		if well := attempts(time.Minute); len(well) < 5 {
			t.Errorf("pauses of a swap that is well: %v", well)
		}
		mu.Lock()
		down = true
		mu.Unlock()
		if second := attempts(30 * time.Second); len(second) == 0 || slices.Max(second) > 2*first[0]+10*time.Second {
			t.Errorf("the first pauses after another failure: %v, once %v", second, first)
		}
	})
}

// While Run runs, a swap whose pass for a hint failed has another turn soon, though
// its state asks for none for an hour, and so has one whose LP is back.
func TestRunLooksSoonForHintsAndForProvidersThatAreBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := lamp()
		for i := range f.States {
			f.States[i].Every = time.Hour
		}
		var down, looked atomic.Bool
		s := &failing{Store: new(storage.Memory), get: func(id string) error {
			if down.Load() && id == "hinted" {
				return errDisk
			}
			if id == "other" {
				looked.Store(true)
			}
			return nil
		}}
		w := &toyReader{}
		g := toyEngine(t, s, w, &toyExecutor{}, f)
		g.backoffs.probe = func(context.Context, string) error { return errDisk }
		hinted, waits := newToy("hinted"), newToy("waits")
		hash := []byte{31: 7}
		hinted.Escrow = &swap.EscrowPart{Real: &chains.Escrow{Hash: hash}}
		waits.LP.URL = "https://lp"
		for _, r := range []*swap.Record{hinted, waits, newToy("other")} {
			r.Expiry = 0
			add(t, g, r)
		}
		follow(t, g)
		time.Sleep(2 * time.Hour)
		looked.Store(false)
		for range 3600 { // until the other's next look is an hour away
			if time.Sleep(time.Second); looked.Load() {
				break
			}
		}
		synctest.Wait()
		w.set(chains.EscrowFact{State: chains.EscrowClaimed}, nil)
		down.Store(true)
		trial.Do(t, g.Look(t.Context(), "CITREA", chains.Hint{EscrowHash: hash}))
		down.Store(false)
		g.backoffs.startProbing(waits)
		g.Heard("https://lp/quote")
		time.Sleep(time.Minute)
		for id, want := range map[string]int{"hinted": 2, "waits": 2, "other": 0} {
			if r, err := g.Load(t.Context(), id); err != nil || r.State != want {
				t.Errorf("%s: state %d, %v; want %d", id, r.State, err, want)
			}
		}
	})
}

// Which answers of an LP end which pauses: those for effects that are calls to it,
// once it has answered since the last failure and a short pause is over.
func TestWhichPausesAnAnswerEnds(t *testing.T) {
	now := time.Unix(1_800_000_000, 0)
	tried := swap.Try{Attempts: 20}
	failed := now.Add(-lpPause)
	tried.NotBefore = swap.At(failed.Add(swap.Backoff(tried.Attempts)))
	for name, c := range map[string]struct {
		effect swap.EffectKind
		heard  time.Time
		now    time.Time
		want   bool
	}{
		"heard since, and paused": {swap.PostPSBT, failed.Add(time.Millisecond), now, true},
		"the pause is not over":   {swap.PostPSBT, failed.Add(time.Millisecond), now.Add(-time.Millisecond), false},
		"heard as it failed":      {swap.PostPSBT, failed, now, false},
		"not a call to the LP":    {swap.SendTx, failed.Add(time.Millisecond), now, false},
		"its own pause is over":   {swap.SendTx, failed, tried.NotBefore.Time(), true},
	} {
		a := &backoffs{base: t.Context(), now: func() time.Time { return c.heard }, lps: map[string]*backoff{"lp": {waiting: map[string]bool{}}}}
		a.heard("https://lp/x")
		e := swap.Effect{Kind: c.effect}
		r := newToy("a")
		r.LP.URL, r.Tried = "https://lp", map[string]swap.Try{e.Key(): tried}
		if got := a.due(r, e, c.now); got != c.want {
			t.Errorf("%s: due %v, want %v", name, got, c.want)
		}
	}
}

// A swap that waits for its LP has one turn when that one is back; nothing is asked of
// an LP without an address, by an engine that does not ask, or that is closed; LPs
// that are back are forgotten when there are many.
func TestWhoWaitsForAProvider(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		base, stop := context.WithCancel(t.Context())
		var probes atomic.Int64
		probe := func(context.Context, string) error { probes.Add(1); return errDisk }
		of := func(id, url string) *swap.Record {
			r := newToy(id)
			r.LP.URL = url
			return r
		}
		silent := &backoffs{base: base, now: time.Now}
		silent.startProbing(of("a", "https://lp"))
		a := &backoffs{base: base, now: time.Now, probe: probe}
		a.startProbing(of("a", ""))
		time.Sleep(time.Minute)
		if len(silent.lps) != 0 || len(a.lps) != 0 || probes.Load() != 0 {
			t.Errorf("%d, %d LPs, %d calls", len(silent.lps), len(a.lps), probes.Load())
		}
		a.startProbing(of("a", "https://lp/one"))
		a.startProbing(of("b", "https://lp/two"))
		a.startProbing(of("c", "https://elsewhere"))
		a.heard("https://lp")
		s := &schedule{at: map[string]*turn{}}
		a.schedule(s, time.Now())
		if len(s.at) != 2 || s.at["a"] == nil || s.at["b"] == nil {
			t.Errorf("turns: %v", s.at)
		}
		s = &schedule{at: map[string]*turn{}}
		a.schedule(s, time.Now())
		a.heard("https://lp")
		if a.schedule(s, time.Now()); len(s.at) != 0 {
			t.Errorf("other turns for one wait: %v", s.at)
		}
		for i := len(a.lps); i < maxBackoffs; i++ {
			a.lps[string(rune('一'+i))] = &backoff{waiting: map[string]bool{}, answer: make(chan struct{})}
		}
		a.startProbing(of("d", "https://elsewhere")) // is known, so that none has to go
		if len(a.lps) != maxBackoffs {
			t.Errorf("%d LPs are remembered", len(a.lps))
		}
		a.startProbing(of("d", "https://more"))
		if len(a.lps) != maxBackoffs || a.lps["lp"] != nil || a.lps["more"] == nil {
			t.Errorf("%d LPs are remembered of at most %d", len(a.lps), maxBackoffs)
		}
		stop()
		a.wait()
		before := probes.Load()
		a.startProbing(of("e", "https://late"))
		time.Sleep(time.Minute)
		if probes.Load() != before || a.lps["late"] != nil {
			t.Error("a closed engine asks for a sign of life")
		}
	})
}

// A subscriber who was slow learns from which state a swap came, and one whose
// context ended is told nothing more.
func TestWhatASlowSubscriberIsTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := toyEngine(t, new(storage.Memory), &toyReader{}, &toyExecutor{}, lamp())
		var got []Change
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() {
			ended <- g.Subscribe(ctx, func(c Change) bool {
				got = append(got, c)
				if time.Sleep(time.Minute); len(got) == 2 {
					stop()
				}
				return true
			})
		}()
		synctest.Wait()
		a := create(t, g, "a")
		synctest.Wait()
		next := a.Clone()
		next.State = 1
		write(t, g, a, next)
		last := next.Clone()
		last.State = 2
		write(t, g, next, last)
		create(t, g, "b")
		if err := <-ended; !errors.Is(err, context.Canceled) {
			t.Errorf("ended with %v", err)
		}
		if len(got) != 2 || got[1].From != 0 || got[1].Record.State != 2 {
			t.Errorf("told %+v", got)
		}
	})
}

// An attempt at an effect has a minute, or until the effect's deadline if that is
// sooner.
func TestHowLongAnAttemptMayTake(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for name, c := range map[string]struct {
			until time.Time
			want  time.Duration
		}{
			"no deadline":     {time.Time{}, effectTimeout},
			"a late deadline": {time.Now().Add(time.Hour), effectTimeout},
			"one that is now": {time.Now().Add(time.Second), time.Second},
		} {
			var got time.Duration
			e := swap.Effect{Kind: swap.Publish, Until: c.until}
			x := &runner{base: t.Context(), log: quiet, now: time.Now, running: map[effectKey]bool{}, backoffs: &backoffs{},
				executor: executorFunc(func(ctx context.Context, _ *swap.Record, _ swap.Effect) swap.Outcome {
					end, _ := ctx.Deadline()
					got = time.Until(end)
					return swap.Outcome{Done: true}
				}),
				still: func(context.Context, string, swap.Effect) (*swap.Record, swap.Effect, error) {
					return newToy("a"), e, nil
				},
				report: func(context.Context, string, swap.Outcome) {}}
			x.start(newToy("a"), []swap.Effect{e}, time.Now())
			if x.Drain(); got != c.want {
				t.Errorf("%s: %s, want %s", name, got, c.want)
			}
		}
	})
}
