package trial

import (
	"context"
	"sync"
	"testing"
	"time"
)

// Hasten has a local network's time go twenty times as fast until stop is called: what is
// known of a swap serves for a second, and some looks are seconds apart. Quotes expire so much sooner, too:
// it is for one swap after the other, while that goes on.
func Hasten(t testing.TB, network interface{ Advance(time.Duration) error }) (stop func()) {
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() {
		tick := time.NewTicker(50 * time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
			}
			if err := network.Advance(time.Second); err != nil && ctx.Err() == nil {
				t.Error(err)
				return
			}
		}
	})
	return func() { cancel(); running.Wait() }
}
