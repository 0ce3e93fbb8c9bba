package engine

import (
	"context"
	"errors"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/internal/async"
	"github.com/swapper-go/swapper/internal/swap"
	"github.com/swapper-go/swapper/internal/trial"
	"github.com/swapper-go/swapper/storage"
)

// waitingReader also says how long is to be waited, and notes which questions were routine.
type waitingReader struct {
	toyReader
	waits, routine atomic.Int64
}

func (w *waitingReader) Escrow(ctx context.Context, chain, contract string, q chains.EscrowQuery) (chains.EscrowFact, error) {
	if async.IsRoutine(ctx) {
		w.routine.Add(1)
	}
	return w.toyReader.Escrow(ctx, chain, contract, q)
}

func (w *waitingReader) ETA(context.Context, swap.ETAAsk) (int, error) {
	w.waits.Add(1)
	return 7, nil
}

// waitingLamp is a lamp that is also shown with how long is to be waited: it asks for that
// once the escrow was asked for.
func waitingLamp() *swap.Flow {
	f := lamp()
	escrow := f.Ask
	f.Ask = func(in swap.Decision) swap.Ask {
		a := escrow(in)
		if in.Obs.Escrow.Asked && !in.Obs.ETA.Asked {
			a.ETA = &swap.ETAAsk{}
		}
		return a
	}
	return f
}

// What is only shown is asked for whoever waits for a pass: not by a routine pass, unless
// somebody has joined it in time; and one that has left it out serves no caller.
func TestRoutinePassLeavesOutWhatIsOnlyShown(t *testing.T) {
	const joinsIt, comesLater, comesAfter = 500 * time.Millisecond, 1500 * time.Millisecond, 2500 * time.Millisecond
	for name, c := range map[string]struct {
		caller        time.Duration // when somebody comes; 0: nobody
		why           purpose
		waits, passes int64
	}{
		"nobody":                    {0, forView, 0, 1},
		"joins it":                  {joinsIt, forView, 1, 1},
		"too late":                  {comesLater, forView, 1, 2},
		"just after":                {comesAfter, forView, 1, 2},
		"an effect joins it":        {joinsIt, forFacts, 0, 1},
		"an effect is late":         {comesLater, forFacts, 0, 1},
		"an effect comes after":     {comesAfter, forFacts, 0, 1},
		"an effect comes by itself": {time.Minute, forFacts, 1, 2},
	} {
		inBubble(t, name, func(t *testing.T) {
			w := &waitingReader{toyReader: toyReader{delay: time.Second}}
			f := waitingLamp()
			ask := f.Ask
			f.Ask = func(in swap.Decision) swap.Ask { // a round more, which takes a second too
				if in.Obs.ETA.Asked && !in.Obs.Found.Asked {
					return swap.Ask{Found: &chains.EscrowQuery{}}
				}
				return ask(in)
			}
			g := toyEngine(t, new(storage.Memory), w, &toyExecutor{}, f)
			create(t, g, "a")
			if c.caller > 0 {
				go func() {
					time.Sleep(c.caller)
					res, err := g.advance(t.Context(), "a", nil, c.why)
					if err != nil || c.why == forView && (!res.Observation.ETA.Known() || res.Observation.ETA.Value != 7) {
						t.Errorf("the caller is not told how long to wait: %+v, %v", res, err)
					}
				}()
			}
			trial.Must(g.advance(t.Context(), "a", nil, asRoutine))(t)
			time.Sleep(2 * time.Minute)
			if waits, passes := w.waits.Load(), w.asked.Load()/2; waits != c.waits || passes != c.passes {
				t.Errorf("asked %d times how long to wait in %d passes; want %d in %d", waits, passes, c.waits, c.passes)
			}
		})
	}
}

// A look that brought no answer gives its place back and comes again soon; one that did
// comes again in its rhythm.
func TestLookWithoutAnswerComesAgainSoon(t *testing.T) {
	now := time.Unix(1_800_000_000, 0)
	w := &waitingReader{}
	f := lamp()
	f.States[0].Every = time.Minute
	g := newEngine(t, Config{Reader: w, Flows: []*swap.Flow{f}, Now: func() time.Time { return now }})
	r := newToy("a")
	r.CreatedAt, r.Expiry = swap.At(now), swap.At(now.Add(24*time.Hour))
	add(t, g, r)
	s := &schedule{at: map[string]*turn{}}
	s.set("a", now)
	inTime := time.Minute - slack
	for i, c := range []struct {
		err  error
		next time.Duration
	}{
		{nil, inTime}, {errors.New("down"), time.Second}, {errors.New("down"), 2 * time.Second}, {errors.New("down"), 4 * time.Second}, {nil, inTime}, {errors.New("down"), time.Second},
	} {
		w.set(chains.EscrowFact{}, c.err)
		g.follow(t.Context(), s, s.next(now))
		if got := s.at["a"].when.Sub(now); got != c.next {
			t.Errorf("after look %d: the next in %v, want %v", i, got, c.next)
		}
		now = s.at["a"].when
	}
	if asked := w.asked.Load(); w.routine.Load() != asked {
		t.Errorf("%d of %d questions were routine", w.routine.Load(), asked)
	}
	for range 20 { // never later than in its rhythm
		w.set(chains.EscrowFact{}, errors.New("down"))
		g.follow(t.Context(), s, s.next(now))
		if got := s.at["a"].when.Sub(now); got > inTime {
			t.Errorf("the next look in %v", got)
		}
		now = s.at["a"].when
	}
}

// A swap of which something is known to have happened does not wait behind routine looks,
// and what it asks is not gathered.
func TestUrgentTurnsGoFirst(t *testing.T) {
	now := time.Unix(1_800_000_000, 0)
	s := &schedule{at: map[string]*turn{}}
	take := func(id string, urgent bool) (*turn, *line) {
		s.soon(id, now, urgent)
		t := s.next(now)
		return t, s.enter(t)
	}
	for i := range parallelPasses {
		if _, l := take(strconv.Itoa(i), false); l == nil {
			t.Fatalf("no place for turn %d", i)
		}
	}
	if _, l := take("late", false); l != nil {
		t.Error("a routine turn has a place that is kept for urgent ones")
	}
	var l *line
	for i := range urgentPasses {
		var hinted *turn
		if hinted, l = take("hinted "+strconv.Itoa(i), true); l == nil {
			t.Fatalf("urgent turn %d waits behind routine ones", i)
		}
		if !s.begin(hinted) || s.begin(hinted) {
			t.Error("a turn is urgent once")
		}
	}
	if _, l := take("hinted last", true); l != nil {
		t.Error("there is no bound for urgent turns")
	}
	if next := s.leave(l); next == nil || next.id != "hinted last" {
		t.Errorf("%+v goes on before the urgent turn that waits", next)
	}
	for range urgentPasses {
		if next := s.leave(l); next != nil {
			t.Errorf("%s takes a place that is kept for urgent turns", next.id)
		}
	}
	if next := s.leave(l); next == nil || next.id != "late" {
		t.Errorf("the place goes to %+v, want the turn that waits", next)
	}

	w := &waitingReader{}
	g := toyEngine(t, new(storage.Memory), w, &toyExecutor{}, lamp())
	create(t, g, "a")
	s = &schedule{at: map[string]*turn{}}
	s.soon("a", now, true)
	g.follow(t.Context(), s, s.next(now))
	if w.asked.Load() != 1 || w.routine.Load() != 0 {
		t.Errorf("%d questions, %d of them routine; want one that is not", w.asked.Load(), w.routine.Load())
	}
}
