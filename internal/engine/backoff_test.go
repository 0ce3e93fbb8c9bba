package engine

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/internal/swap"
)

// However long an LP was away: what waits for it goes on within seconds when it
// is back, and meanwhile it is asked for a sign of life once, not by every swap.
func TestPausesEndWhenTheProviderIsBack(t *testing.T) {
	for _, away := range []time.Duration{20 * time.Second, time.Minute, 9 * time.Minute} {
		inBubble(t, away.String(), func(t *testing.T) {
			var up atomic.Bool
			var probes atomic.Int64
			p := &toyExecutor{answer: func(int64) swap.Outcome {
				if !up.Load() {
					return swap.Outcome{Reason: "no connection"}
				}
				return swap.Outcome{Done: true}
			}}
			g := newEngine(t, Config{Executor: p, Flows: []*swap.Flow{lamp()},
				Probe: func(context.Context, string) error {
					probes.Add(1)
					if !up.Load() {
						return errors.New("no connection")
					}
					return nil
				}})
			ctx, stop := context.WithCancel(t.Context())
			ended := make(chan error)
			go func() { ended <- g.Run(ctx) }()
			const swaps = 20
			for i := range swaps {
				r := newToy(string(rune('a' + i)))
				r.LP.URL = "https://lp"
				add(t, g, r)
				advance(t, g, r.ID, swap.Reveal{Preimage: chains.Preimage{1}})
			}
			time.Sleep(away)
			up.Store(true)
			time.Sleep(max(away/10, firstProbe) + lpPause + 3*time.Second)
			for i := range swaps {
				r := load(t, g, string(rune('a'+i)))
				if try := r.Tried[string(swap.PostPSBT)]; try.Outcome != swap.Done {
					t.Errorf("swap %s still waits: %+v", r.ID, try)
				}
			}
			if most := int64(away/firstProbe) + 3; probes.Load() > most {
				t.Errorf("asked for a sign of life %d times in %v", probes.Load(), away)
			}
			stop()
			<-ended
		})
	}
}

// An answer to any call ends the pauses, and an LP that answers but takes nothing
// is asked again after a pause all the same, which doubles up to a minute.
func TestAnyAnswerOfTheProviderEndsThePauses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &toyExecutor{answer: func(int64) swap.Outcome { return swap.Outcome{Reason: "no connection"} }}
		g := newEngine(t, Config{Executor: p, Flows: []*swap.Flow{lamp()},
			Probe: func(context.Context, string) error { return errors.New("no connection") }})
		r := newToy("a")
		r.LP.URL = "https://lp"
		add(t, g, r)
		advance(t, g, r.ID, swap.Reveal{Preimage: chains.Preimage{1}})
		look := func() int64 {
			t.Helper()
			advance(t, g, r.ID, swap.Look{})
			synctest.Wait()
			return p.started.Load()
		}
		for range 100 { // until the pause is long
			time.Sleep(time.Second)
			look()
		}
		before := look()
		g.Heard("https://other/tobtc")
		if n := look(); n != before {
			t.Error("another provider's answer ended the pause")
		}
		g.Heard("https://lp/tobtc")
		if n := look(); n != before+1 {
			t.Errorf("%d attempts after an answer, want one", n-before)
		}
		var at []int
		for second := range 260 {
			g.Heard("https://lp/tobtc")
			time.Sleep(time.Second)
			if n := look(); n > before+1+int64(len(at)) {
				at = append(at, second)
			}
		}
		if len(at) < 6 || len(at) > 7 || at[0] < 8 || at[1]-at[0] < 18 || at[2]-at[1] < 38 || at[4]-at[3] < 58 {
			t.Errorf("attempts after %d s with an LP that answers only other calls, want pauses of 10, 20, 40 and then 60 s", at)
		}
	})
}
