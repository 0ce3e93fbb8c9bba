package engine

import (
	"context"
	"errors"
	"math"
	"time"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/internal/lp"
	"github.com/swapper-go/swapper/internal/swap"
	"github.com/swapper-go/swapper/storage"
)

// sparedFor is how long the purge skips a quote that it could not delete, so that a
// peer that did not answer is not asked every minute.
const sparedFor = time.Hour

// sparedKept is how many of those are remembered.
const sparedKept = 16_384

// Purge deletes quotes that expired long ago and can hold no money. Nothing is
// deleted on anybody's word: see mayPurge.
func (g *Engine) Purge(ctx context.Context) {
	before := swap.At(g.Now().Add(-g.keepExpired))
	q := storage.Query{Index: swap.ByPurge, Range: &storage.Range{Min: math.MinInt64, Max: int64(before)}}
	for e, err := range g.Store.Find(ctx, q) {
		if err == nil && !g.fleet.Mine(e.ID) {
			continue
		}
		if err != nil {
			if ctx.Err() == nil {
				g.log.Warn("expired swap is unreadable; not deleted", "swap", storage.Label(e.ID), "err", err)
			}
			continue
		}
		r, err := decode(e)
		if err != nil || !r.MayPurge() {
			continue
		}
		now := g.Now()
		if again, ok := g.spared.Get(r.ID); ok && now.Before(again) {
			continue
		}
		res, err := g.Advance(ctx, r.ID, swap.Look{}) // the chain's last word
		if err != nil || !g.harmless(res) {
			g.spared.Add(r.ID, now.Add(sparedFor))
			continue
		}
		if err := g.Store.Delete(ctx, r.ID, res.Record.Version); err != nil && !errors.Is(err, storage.ErrConflict) && !errors.Is(err, storage.ErrNotFound) {
			g.log.Warn("deleting an expired swap failed", "swap", storage.Label(r.ID), "err", err)
		}
		g.forget(r.ID)
	}
}

// harmless reports whether the swap is still an expired quote after a look, and
// the chain, where the type has an escrow or an address to pay to, was heard to
// know of nothing there.
func (g *Engine) harmless(res *Result) bool {
	r := res.Record
	f := g.Flows[r.Type]
	if f == nil {
		return false
	}
	row, ok := f.State(r.State)
	if !ok || !row.Hidden || !r.MayPurge() {
		return false
	}
	switch {
	case r.Gas != nil:
		return res.Observation.Received.Known() && len(res.Observation.Received.Value) == 0
	case r.Type == swap.TrustedFromBTCLN:
		// A payment may still hang; whether one came only the LP knows.
		in := swap.Decision{R: r, Obs: res.Observation, Now: res.At}
		return swap.TrustedLNOver(in) && (swap.LPSays(lp.CodeExpired, lp.CodeGasUnpaid)(in) || r.Settled)
	case r.Escrow == nil:
		return true
	case r.Type == swap.FromBTCLN && r.Escrow.Real == nil: // only the user can open it, and was never asked to
		return !swap.LPSays(lp.CodeDone)(swap.Decision{R: r, Obs: res.Observation, Now: res.At})
	}
	absent := func(f swap.Fact[chains.EscrowFact]) bool { return f.Known() && f.Value.State == chains.EscrowNone }
	return absent(res.Observation.Escrow) || absent(res.Observation.Found)
}
