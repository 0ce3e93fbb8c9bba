package engine

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/internal/swap"
	"github.com/swapper-go/swapper/internal/trial"
	"github.com/swapper-go/swapper/storage"
)

// What a caller brings gets a pass of its own: it is not lost in one that is
// running, whether that ends well or not.
func TestInputWaitsForItsOwnPass(t *testing.T) {
	for name, fails := range map[string]bool{"the pass before ends well": false, "the pass before fails": true} {
		inBubble(t, name, func(t *testing.T) {
			w := &toyReader{delay: time.Second}
			f := lamp()
			ask := f.Ask
			first := fails
			f.Ask = func(in swap.Decision) swap.Ask {
				if in.Obs.Escrow.Asked && first {
					first = false
					panic("bug")
				}
				return ask(in)
			}
			p := &toyExecutor{answer: func(int64) swap.Outcome { return swap.Outcome{Done: true} }}
			g := toyEngine(t, new(storage.Memory), w, p, f)
			create(t, g, "a")
			var all sync.WaitGroup
			all.Go(func() {
				if _, err := g.Advance(t.Context(), "a", nil); (err != nil) != fails {
					t.Errorf("the pass before: %v", err)
				}
			})
			time.Sleep(time.Millisecond)
			res, err := g.Advance(t.Context(), "a", swap.Reveal{Preimage: chains.Preimage{1}})
			if err != nil || res.Record.State != 1 {
				t.Errorf("the caller's preimage is lost: %+v, %v", res, err)
			}
			all.Wait()
		})
	}
}

// A caller with an input who goes away does not wait for the pass that runs before
// its own.
func TestCallerWithInputMayLeave(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := toyEngine(t, new(storage.Memory), &toyReader{delay: 5 * time.Second}, &toyExecutor{}, lamp())
		create(t, g, "a")
		var all sync.WaitGroup
		all.Go(func() {
			if _, err := g.Advance(t.Context(), "a", nil); err != nil {
				t.Error(err)
			}
		})
		time.Sleep(time.Millisecond)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		began := time.Now()
		if _, err := g.Advance(ctx, "a", swap.Look{}); !errors.Is(err, context.DeadlineExceeded) || time.Since(began) != time.Second {
			t.Errorf("%v after %v, want the caller's deadline after a second", err, time.Since(began))
		}
		all.Wait()
	})
}

// An input that another row comes before is decided on in the state that it leads
// to, and refused where no row takes it: it never counts as taken by the other row.
func TestAnotherRowDoesNotTakeTheInput(t *testing.T) {
	w := &toyReader{}
	w.set(chains.EscrowFact{State: chains.EscrowClaimed}, nil)
	g := toyEngine(t, new(storage.Memory), w, &toyExecutor{}, lamp())
	create(t, g, "a")
	if _, err := g.Advance(t.Context(), "a", swap.Reveal{Preimage: chains.Preimage{1}}); !errors.Is(err, errNotTaken) {
		t.Errorf("got %v, want that the preimage was not taken", err)
	}
	if r, err := g.Load(t.Context(), "a"); err != nil || r.State != 2 || r.Lightning != nil {
		t.Errorf("%+v, %v; want the fact stored and no preimage", r, err)
	}
}

// A clock that is set back does not make old facts fresh.
func TestClockSetBack(t *testing.T) {
	w := &toyReader{}
	g := toyEngine(t, new(storage.Memory), w, &toyExecutor{}, lamp())
	now := time.Now()
	g.Now = func() time.Time { return now }
	create(t, g, "a")
	for i, step := range []time.Duration{0, -time.Minute, -time.Minute} {
		now = now.Add(step)
		advance(t, g, "a", nil)
		if n := w.asked.Load(); n != int64(i+1) {
			t.Errorf("set back %d times: asked %d times", i, n)
		}
	}
}

// What is written beside a pass is in the next answer at once.
func TestMarkIsSeenAtOnce(t *testing.T) {
	g := toyEngine(t, new(storage.Memory), &toyReader{}, &toyExecutor{}, lamp())
	create(t, g, "a")
	res := advance(t, g, "a", nil)
	e := swap.Effect{Kind: swap.PostPSBT, Mark: true}
	trial.Must(g.markStarted(t.Context(), res.Record, e))(t)
	if res, err := g.Advance(t.Context(), "a", nil); err != nil || res.Record.Tried[e.Key()].Started == 0 {
		t.Errorf("%+v, %v; want the effect begun", res.Record.Tried, err)
	}
}

// An effect that panics has an outcome like one that failed, so that it is counted
// and repeated after a pause, and one that is not begun has none.
func TestOutcomeOfAnEffectThatDidNotEnd(t *testing.T) {
	broken := errors.New("obsolete")
	for name, c := range map[string]struct {
		still  error
		closed bool
		want   int // outcomes
		called int // executions
	}{
		"panics":   {nil, false, 1, 1},
		"obsolete": {broken, false, 0, 0},
		"closed":   {nil, true, 0, 0},
	} {
		ctx, stop := context.WithCancel(t.Context())
		if c.closed {
			stop()
		}
		called := 0
		var got []swap.Outcome
		e := swap.Effect{Kind: swap.SendTx, Step: 2}
		x := &runner{base: ctx, log: slog.New(slog.DiscardHandler), now: time.Now, running: map[effectKey]bool{},
			executor: executorFunc(func(context.Context, *swap.Record, swap.Effect) swap.Outcome { called++; panic("bug") }),
			still: func(context.Context, string, swap.Effect) (*swap.Record, swap.Effect, error) {
				return &swap.Record{}, e, c.still
			},
			report: func(_ context.Context, _ string, o swap.Outcome) { got = append(got, o) }}
		for range 20 { // a closed engine must not choose by chance
			x.start(&swap.Record{Head: swap.Head{ID: "a"}}, []swap.Effect{e}, time.Now())
			x.Drain()
			if !c.closed {
				break
			}
		}
		stop()
		if len(got) != c.want || called != c.called {
			t.Errorf("%s: %d outcomes, %d executions; want %d, %d", name, len(got), called, c.want, c.called)
		}
		for _, o := range got {
			if o.Effect != e.Kind || o.Step != e.Step || o.Done || o.Refused || o.Reason == "" {
				t.Errorf("%s: outcome %+v, want a failure of this step for a reason", name, o)
			}
		}
	}
}

// A caller who leaves just when the pass before ends has either an answer or an error.
func TestCallerLeavesAsThePassEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &toyReader{delay: time.Second}
		g := toyEngine(t, new(storage.Memory), w, &toyExecutor{}, lamp())
		create(t, g, "a")
		for range 200 {
			var all sync.WaitGroup
			all.Go(func() {
				if _, err := g.Advance(t.Context(), "a", swap.Look{}); err != nil {
					t.Error(err)
				}
			})
			time.Sleep(time.Millisecond)
			ctx, cancel := context.WithTimeout(t.Context(), 999*time.Millisecond)
			if res, err := g.Advance(ctx, "a", swap.Look{}); (res == nil) != (err != nil) {
				t.Fatalf("an answer %v with the error %v", res, err)
			}
			cancel()
			all.Wait()
			time.Sleep(time.Minute)
		}
	})
}
