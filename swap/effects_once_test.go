package swap

import (
	"context"
	"log/slog"
	"testing"
	"time"
)

// once counts how often an effect is carried out.
type once struct{ done int }

func (o *once) Perform(context.Context, *Record, Effect) Outcome {
	o.done++
	return Outcome{Done: true}
}

// TestMarkedEffectWaitsForItsOutcome makes sure that an effect that must not
// happen twice is not begun again by a pass that runs while its outcome is
// being stored.
func TestMarkedEffectWaitsForItsOutcome(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	r := &Record{Head: Head{ID: "x"}}
	e := Effect{Kind: PostPSBT, Mark: true}
	does, reports := &once{}, 0
	x := &runner{do: does, base: ctx, log: slog.New(slog.DiscardHandler), now: time.Now, running: map[effectKey]bool{},
		still: func(context.Context, string, Effect) (*Record, Effect, error) { return r, e, nil },
		mark:  func(_ context.Context, r *Record, _ Effect) (*Record, error) { return r, nil }}
	x.report = func(context.Context, string, Outcome) {
		if reports++; reports == 1 {
			x.start(r, []Effect{e}, time.Now()) // the outcome is not in the record yet
		}
	}
	x.start(r, []Effect{e}, time.Now())
	x.wait()
	if does.done != 1 || reports != 1 {
		t.Errorf("carried out %d times, reported %d times", does.done, reports)
	}
	x.start(r, []Effect{e}, time.Now())
	if x.wait(); does.done != 2 {
		t.Error("it cannot be begun any more")
	}
}
