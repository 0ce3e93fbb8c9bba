package swap

import (
	"context"
	"errors"
	"math"
	"time"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/storage"
	"github.com/swapper-go/swapper/swap/lp"
)

// sparedFor is how long a quote that could not be deleted is left alone: whoever
// was silent is not asked every minute.
const sparedFor = time.Hour

// sparedKept is how many of those are remembered.
const sparedKept = 16_384

// purge deletes quotes that expired long ago and can hold no money. Nothing is
// deleted on anybody's word: see mayPurge.
func (g *Engine) purge(ctx context.Context) {
	before := At(g.now().Add(-g.keepExpired))
	q := storage.Query{Index: byPurge, Range: &storage.Range{Min: math.MinInt64, Max: int64(before)}}
	for e, err := range g.store.Find(ctx, q) {
		if err != nil {
			if ctx.Err() == nil {
				g.log.Warn("expired swap cannot be read", "swap", storage.Label(e.ID), "err", err)
			}
			continue
		}
		r, err := decode(e.ID, e.Version, e.Body)
		if err != nil || !r.mayPurge() {
			continue
		}
		now := g.now()
		if again, ok := g.spared.Get(r.ID); ok && now.Before(again) {
			continue
		}
		res, err := g.Advance(ctx, r.ID, Look{}) // the chain's last word
		if err != nil || !g.harmless(res) {
			g.spared.Add(r.ID, now.Add(sparedFor))
			continue
		}
		if err := g.store.Delete(ctx, r.ID, res.Record.Version); err != nil && !errors.Is(err, storage.ErrConflict) && !errors.Is(err, storage.ErrNotFound) {
			g.log.Warn("expired swap not deleted", "swap", storage.Label(r.ID), "err", err)
		}
		g.forget(r.ID)
	}
}

// mayPurge reports whether by the record alone nothing was ever under way:
// nothing posted, submitted, paid, opened or revealed.
func (r *Record) mayPurge() bool {
	if r.Submission != nil || len(r.Tried) > 0 {
		return false
	}
	if e := r.Escrow; e != nil && (e.InitTx != "" || e.ClaimTx != "" || e.RefundTx != "" || e.Real != nil && r.Type == FromBTCLNAuto) {
		return false
	}
	if l := r.Lightning; l != nil && l.Withdraw != nil && l.Withdraw.Asked {
		return false
	}
	if r.Gas != nil && r.Gas.Paid {
		return false
	}
	if b := r.Bitcoin; b != nil && (b.Posted || b.Tx != nil || !isZero(b.TxID)) {
		return false
	}
	return true
}

// harmless reports whether the swap is still an expired quote after a look, and
// the chain, where the type has an escrow or an address to pay to, was heard to
// know of nothing there.
func (g *Engine) harmless(res *Result) bool {
	r := res.Record
	f := g.flows[r.Type]
	if f == nil {
		return false
	}
	row, ok := f.State(r.State)
	if !ok || !row.Hidden || !r.mayPurge() {
		return false
	}
	switch {
	case r.Gas != nil:
		return res.Observation.Received.Known() && len(res.Observation.Received.Value) == 0
	case r.Type == TrustedFromBTCLN:
		// A payment may still hang; whether one came only the LP knows.
		in := In{R: r, Obs: res.Observation, Now: res.At}
		return gasOver(in) && (lpSays(lp.CodeExpired, lp.CodeGasUnpaid)(in) || r.Settled)
	case r.Escrow == nil:
		return true
	}
	for _, fact := range []Fact[chains.EscrowFact]{res.Observation.Escrow, res.Observation.Found} {
		if fact.Known() && fact.Value.State == chains.EscrowNone {
			return true
		}
	}
	return false
}
