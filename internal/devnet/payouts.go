package devnet

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/swapper-go/swapper/internal/devnet/lp"
)

// confirmer mines blocks for payouts of LPs that wait for one.
type confirmer struct {
	stop    context.CancelFunc
	running sync.WaitGroup
}

// confirmPayouts mines a block whenever an LP's payout has waited for one for so long.
func (n *Net) confirmPayouts(patience time.Duration) *confirmer {
	ctx, stop := context.WithCancel(context.Background())
	c := &confirmer{stop: stop}
	c.running.Go(func() {
		tick := time.NewTicker(max(patience/8, time.Millisecond))
		defer tick.Stop()
		waits, tip, since := false, uint32(0), time.Now()
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
			}
			before, height := waits, tip
			waits = slices.ContainsFunc(n.LPs, (*lp.LP).PayoutWaits)
			if tip, _ = n.Bitcoin.Tip(); !before || tip != height {
				since = time.Now()
			}
			if waits && time.Since(since) >= patience {
				_ = n.Mine(1) // the next tick tries again
			}
		}
	})
	return c
}

// Close ends the mining.
func (c *confirmer) Close() error {
	c.stop()
	c.running.Wait()
	return nil
}
