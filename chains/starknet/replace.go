package starknet

import (
	"math"
	"math/big"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/internal/bigs"
	"github.com/swapper-go/swapper/internal/settle"
	"github.com/swapper-go/swapper/internal/starknet/wire"
)

// replaced are the pending transactions that a signer's plan replaces.
type replaced []*wire.Transaction

func replacedBy(plan chains.Plan, signer wire.Felt) replaced {
	var old replaced
	for _, s := range plan.Replaces {
		if tx, err := wire.ParseTransaction(string(s.Raw)); err == nil && tx.Sender == signer {
			old = append(old, tx)
		}
	}
	return old
}

// nonce is the first of those that are replaced and not executed yet: whatever was to
// follow it is replaced along.
func (old replaced) nonce(mined uint64) uint64 { return max(mined, old[0].Nonce) }

// above raises a rate so far that nodes take its transactions instead.
func (old replaced) above(rate wire.FeeRate) wire.FeeRate {
	for _, tx := range old {
		b := tx.Bounds
		rate = wire.FeeRate{L1: higher(rate.L1, b.L1.MaxPrice), L2: higher(rate.L2, settle.Offer(b.L2.MaxPrice)), L1Data: higher(rate.L1Data, b.L1Data.MaxPrice)}
	}
	return rate
}

// tip is what has to be offered on top in the place of transactions that had a tip.
func (old replaced) tip() uint64 {
	tip := new(big.Int)
	for _, tx := range old {
		if tx.Tip > 0 {
			tip = higher(tip, settle.Offer(new(big.Int).SetUint64(tx.Tip)))
		}
	}
	if !tip.IsUint64() {
		return math.MaxUint64
	}
	return tip.Uint64()
}

// instead returns the first nonce of a plan that replaces pending transactions, and all
// that it replaces. A claim has a deadline: what was sent for the account before it, and
// still waits, is not waited for any longer, but replaced too.
func (c *chain) instead(old replaced, plan chains.Plan, signer wire.Felt, of sender) (first uint64, all replaced) {
	first = old.nonce(of.mined)
	if before, ok := c.sent.Offer(wire.Hex64(signer), of.pending); ok && of.pending < first && settle.Claims(plan) {
		return of.pending, append(replaced{before}, old...)
	}
	return first, old
}

// check demands that new transactions exclude the old ones and that nodes take them
// instead. A claim may come before the old one, which finds nothing to claim then.
func (old replaced) check(plan chains.Plan, checked []wire.CheckedTx) error {
	if len(old) == 0 {
		return nil
	}
	if err := settle.CheckReplaces(plan, checked[0].Nonce, old[0].Nonce, old[len(old)-1].Nonce); err != nil {
		return fault.Invalid(fieldOf(0), "%w", err)
	}
	for i, tx := range checked {
		for _, o := range old {
			if o.Nonce != tx.Nonce {
				continue
			}
			price, tip := settle.Takes(o.Bounds.L2.MaxPrice), settle.Takes(new(big.Int).SetUint64(o.Tip))
			if bigs.OrZero(tx.Bounds.L2.MaxPrice).Cmp(price) < 0 || new(big.Int).SetUint64(tx.Tip).Cmp(tip) < 0 {
				return fault.Invalid(fieldOf(i), "must offer at least %s fri for a unit of L2 gas and a tip of %s to replace the pending transaction", price, tip)
			}
		}
	}
	return nil
}

func higher(a, b *big.Int) *big.Int {
	if bigs.OrZero(a).Cmp(bigs.OrZero(b)) > 0 {
		return a
	}
	return bigs.OrZero(b)
}
