package engine

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"github.com/swapper-go/swapper/internal/swap"
)

// once counts how often an effect is carried out.
type once struct{ done int }

func (o *once) Execute(context.Context, *swap.Record, swap.Effect) swap.Outcome {
	o.done++
	return swap.Outcome{Done: true}
}

// TestMarkedEffectWaitsForItsOutcome makes sure that an effect that must not
// happen twice is not begun again by a pass that runs while its outcome is
// being stored.
func TestMarkedEffectWaitsForItsOutcome(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	r := &swap.Record{Head: swap.Head{ID: "x"}}
	e := swap.Effect{Kind: swap.PostPSBT, Mark: true}
	does, reports := &once{}, 0
	x := &runner{executor: does, base: ctx, log: slog.New(slog.DiscardHandler), now: time.Now, running: map[effectKey]bool{},
		still: func(context.Context, string, swap.Effect) (*swap.Record, swap.Effect, error) { return r, e, nil },
		mark:  func(_ context.Context, r *swap.Record, _ swap.Effect) (*swap.Record, error) { return r, nil }}
	x.report = func(context.Context, string, swap.Outcome) {
		if reports++; reports == 1 {
			x.start(r, []swap.Effect{e}, time.Now()) // the outcome is not in the record yet
		}
	}
	x.start(r, []swap.Effect{e}, time.Now())
	x.Drain()
	if does.done != 1 || reports != 1 {
		t.Errorf("carried out %d times, reported %d times", does.done, reports)
	}
	x.start(r, []swap.Effect{e}, time.Now())
	if x.Drain(); does.done != 2 {
		t.Error("it cannot be begun any more")
	}
}
