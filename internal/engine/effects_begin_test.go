package engine

import (
	"context"
	"errors"
	"testing"

	"github.com/swapper-go/swapper/internal/swap"
	"github.com/swapper-go/swapper/storage"
)

// TestEffectBeginsOnlyOnceItIsMarked makes no effect begin that could not be stored
// as begun, and marks again after a lost race only.
func TestEffectBeginsOnlyOnceItIsMarked(t *testing.T) {
	broken := errors.New("disk full")
	secret, public := &swap.LightningPart{}, &swap.LightningPart{Revealed: 1}
	for name, c := range map[string]struct {
		effect swap.Effect
		part   *swap.LightningPart
		errs   []error // of marking; more marking is a fault
		begins bool
	}{
		"marked":                   {swap.Effect{Mark: true}, secret, []error{nil}, true},
		"reveals":                  {swap.Effect{Reveals: true}, secret, []error{nil}, true},
		"reveals what is public":   {swap.Effect{Reveals: true}, public, nil, true},
		"neither":                  {swap.Effect{}, secret, nil, true},
		"lost a race":              {swap.Effect{Mark: true}, secret, []error{storage.ErrConflict, nil}, true},
		"the store does not write": {swap.Effect{Mark: true}, secret, []error{broken}, false},
	} {
		n := 0
		x := &runner{base: t.Context(),
			still: func(context.Context, string, swap.Effect) (*swap.Record, swap.Effect, error) {
				return &swap.Record{Lightning: c.part}, c.effect, nil
			},
			mark: func(_ context.Context, r *swap.Record, _ swap.Effect) (*swap.Record, error) {
				n++
				return r, c.errs[n-1]
			}}
		if _, _, err := x.begin("a", c.effect); (err == nil) != c.begins || n != len(c.errs) {
			t.Errorf("%s: marked %d times, %v", name, n, err)
		}
	}
	x := &runner{base: t.Context(), still: func(context.Context, string, swap.Effect) (*swap.Record, swap.Effect, error) {
		return nil, swap.Effect{}, broken
	}}
	if _, _, err := x.begin("a", swap.Effect{}); err == nil {
		t.Error("it begins though nothing is known of the swap")
	}
}
