package settle

import (
	"fmt"
	"math/big"
	"slices"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/internal/bigs"
)

// Takes is what must be offered at least so that nodes take a transaction in the place of
// another one with the same nonce: a tenth more.
func Takes(price *big.Int) *big.Int { return bigs.Percent(price, 110) }

// Offer is what is offered for it, a quarter more: who signs it wants it executed.
func Offer(price *big.Int) *big.Int { return bigs.Percent(price, 125) }

// Claims reports whether a plan claims an escrow, which is possible for a time only.
func Claims(plan chains.Plan) bool {
	return slices.ContainsFunc(plan.Steps, func(s chains.Step) bool { return s.Kind == chains.StepClaimSecret || s.Kind == chains.StepClaimBitcoin })
}

// CheckReplaces demands that transactions from the nonce n on exclude those with the nonces
// first to last, which they replace. A claim may come before, which leaves nothing to claim
// to the old one.
func CheckReplaces(plan chains.Plan, n, first, last uint64) error {
	if n < first && !Claims(plan) || n > last {
		return fmt.Errorf("has nonce %d, must have %d: it replaces a pending transaction with that nonce, and only one of the two may be executed", n, first)
	}
	return nil
}
