package solana

import (
	"context"
	"time"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/internal/solana/rpc"
	"github.com/swapper-go/swapper/internal/solana/wire"
)

// Heads takes one round trip. Heights are slots, times those of the cluster's own
// clock, which is what the programs go by.
func (c *chain) Heads(ctx context.Context) (chains.Heads, error) {
	h, err := c.ledger.Heads(ctx)
	if err == nil {
		c.noteTime(h)
	}
	return h, err
}

// noteTime remembers the newest slot, and compares the clocks.
func (c *chain) noteTime(h chains.Heads) {
	c.latest.note(h.Latest.Height, c.env.Now())
	c.warnOfTime(h.Latest.Time)
}

// present is both ends of the chain by their block hashes, asked for in front of other
// questions: what is not there at a head that was read before was not there at that head.
// The clock is asked for because it shows that a node stands still.
type present struct {
	latest, final rpc.LatestBlockhash
	clock         rpc.Accounts
}

// presentRequests is how many requests [present] takes.
const presentRequests = 3

func (p *present) requests() []rpc.Request {
	return []rpc.Request{rpc.LatestBlockhashRequest(rpc.Confirmed, &p.latest), rpc.LatestBlockhashRequest(rpc.Finalized, &p.final),
		rpc.AccountsRequest([]wire.Key{wire.ClockData}, rpc.Confirmed, &p.clock)}
}

// finalSlot is the newest slot that counts as final, not above the newest one.
func (p *present) finalSlot() uint64 { return min(p.final.Slot, p.latest.Slot) }

// noteHashes remembers what the heads say of block hashes.
func (c *chain) noteHashes(p *present) {
	c.hashes.note(p.latest)
	c.hashes.note(p.final)
	c.latest.note(p.latest.Slot, c.env.Now())
}

// Limits of [chain.warnOfTime].
const (
	clockSkew   = 5 * time.Minute
	warnOfClock = time.Hour
)

// warnOfTime says when the local clock and the cluster's are far apart. The
// graces around expiries hide differences of ten minutes, not more.
func (c *chain) warnOfTime(cluster int64) {
	now := c.env.Now()
	skew := now.Sub(time.Unix(cluster, 0))
	if skew.Abs() < clockSkew {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.warned.IsZero() && now.Sub(c.warned).Abs() < warnOfClock {
		return
	}
	c.warned = now
	c.env.Log.Warn("the local clock and the chain's are far apart: check both", "ahead", skew.Round(time.Second).String())
}
