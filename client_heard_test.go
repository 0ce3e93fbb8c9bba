package swapper_test

import (
	"context"
	"slices"
	"testing"

	"github.com/swapper-go/swapper"
	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/internal/trial"
	"github.com/swapper-go/swapper/swappertest"
)

// teller is a backend that is told of blocks, or not.
type teller struct {
	bitcoin.Backend
	told bool
}

func (teller) Follow(ctx context.Context, _ func([]bitcoin.Hash)) error {
	<-ctx.Done()
	return ctx.Err()
}
func (teller) Heard() uint64                                { return 0 }
func (teller) Unchanged(*bitcoin.Tx, uint64) (uint32, bool) { return 0, false }
func (b teller) Subscriptions() []bitcoin.Subscription {
	return []bitcoin.Subscription{{Lost: 3}, {Alive: b.told, Messages: 7}}
}

// A part that is to tell of events and tells nothing is named, and is no reason not to be ready.
func TestReadyNamesWhatIsNotHeard(t *testing.T) {
	t.Parallel()
	net := swappertest.Start(t, swappertest.Options{})
	for told, want := range map[bool][]string{true: nil, false: {"bitcoin"}} {
		config := net.Config()
		config.Bitcoin = teller{config.Bitcoin, told}
		client := trial.Must(swapper.Open(t.Context(), config))(t)
		ready, err := client.Ready(t.Context())
		if err != nil || !slices.Equal(ready.Unheard, want) {
			t.Errorf("told %t: %v is not heard, %v; want %v", told, ready.Unheard, err, want)
		}
		stats, err := client.Stats(t.Context())
		if err != nil || !slices.Equal(stats.Parts["bitcoin"].Subscriptions, teller{told: told}.Subscriptions()) {
			t.Errorf("told %t: subscriptions %+v, %v", told, stats.Parts["bitcoin"].Subscriptions, err)
		}
		if err := client.Close(); err != nil {
			t.Error(err)
		}
	}
}
