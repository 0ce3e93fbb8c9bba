package evm

import (
	"math/big"

	"github.com/ethereum/go-ethereum/common/hexutil"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/internal/bigs"
	"github.com/swapper-go/swapper/internal/evm/wire"
	"github.com/swapper-go/swapper/internal/settle"
)

// replaced are the pending transactions that a signer's plan replaces.
type replaced []*wire.Transaction

func replacedBy(plan chains.Plan, signer string) replaced {
	var old replaced
	for _, s := range plan.Replaces {
		if s.From != signer {
			continue
		}
		if tx, err := wire.ParseTransaction(hexutil.Encode(s.Raw)); err == nil && tx.FeeCap != nil {
			old = append(old, tx)
		}
	}
	return old
}

// nonce is the first of those that are replaced and not mined yet: whatever was to
// follow it is replaced along.
func (old replaced) nonce(mined uint64) uint64 { return max(mined, old[0].Nonce) }

// above raises a rate so far that nodes take its transactions instead.
func (old replaced) above(rate wire.FeeRate) wire.FeeRate {
	feeCap, tip := new(big.Int), new(big.Int)
	for _, tx := range old {
		feeCap, tip = higher(feeCap, tx.FeeCap), higher(tip, tx.TipCap)
	}
	priority := higher(rate.Priority, settle.Offer(tip))
	base := new(big.Int).Sub(settle.Offer(feeCap), priority)
	return wire.FeeRate{Base: higher(rate.Base, base), Priority: priority, L1: rate.L1}
}

// instead returns the first nonce and the fee rate of a plan that replaces pending
// transactions. A claim has a deadline: what was sent for the account before it, and
// still waits, is not waited for any longer, but replaced too.
func (c *chain) instead(old replaced, plan chains.Plan, signer string, mined uint64, rate wire.FeeRate) (first uint64, at wire.FeeRate) {
	first = old.nonce(mined)
	if before, ok := c.nonces.Offer(signer, mined); ok && mined < first && settle.Claims(plan) {
		first, old = mined, append(replaced{before}, old...)
	}
	return first, old.above(rate)
}

// check demands that new transactions exclude the old ones and that nodes take
// them instead. A claim may come before the old one, which finds nothing to claim
// then.
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
			feeCap, tip := settle.Takes(o.FeeCap), settle.Takes(o.TipCap)
			if tx.FeeCap.Cmp(feeCap) < 0 || tx.TipCap.Cmp(tip) < 0 {
				return fault.Invalid(fieldOf(i), "must offer at least %s wei per gas and a tip of %s to replace the pending transaction", feeCap, tip)
			}
		}
	}
	return nil
}

func higher(a, b *big.Int) *big.Int {
	if bigs.OrZero(a).Cmp(bigs.OrZero(b)) > 0 {
		return a
	}
	return b
}
