package wire

import (
	"math"
	"math/big"

	"github.com/swapper-go/swapper/internal/bigs"
)

// Bound is how much of one kind of gas a transaction may use, and what it offers for
// a unit, in fri.
type Bound struct {
	MaxAmount uint64
	MaxPrice  *big.Int // below 2^128, never nil
}

// Bounds are the bounds of a transaction for the three kinds of gas.
type Bounds struct {
	L1, L2, L1Data Bound
}

// Bounds returns the bounds of a transaction that may use g, at the rate.
func (r FeeRate) Bounds(g Gas) Bounds {
	return Bounds{Bound{g.L1, bigs.OrZero(r.L1)}, Bound{g.L2, bigs.OrZero(r.L2)}, Bound{g.L1Data, bigs.OrZero(r.L1Data)}}
}

// Gas returns the amounts.
func (b Bounds) Gas() Gas { return Gas{b.L1.MaxAmount, b.L2.MaxAmount, b.L1Data.MaxAmount} }

// Rate returns the prices.
func (b Bounds) Rate() FeeRate { return FeeRate{b.L1.MaxPrice, b.L2.MaxPrice, b.L1Data.MaxPrice} }

// Of what a trial used, bounds have a quarter on top, and what a trial leaves out: the
// account's check of its signature. What a trial can make of the protocol's constants is
// bounded, since a wallet must have what its transactions may cost.
const (
	trialMargin = 4 // the part that is added
	trialMost   = 4 // times the constants
	gasValidate = 5_000_000
)

// Fit returns bounds that also allow what a trial has used. They are never below what
// they were.
func (b Bounds) Fit(used Gas) Bounds {
	raise := func(to *uint64, used, extra, most uint64) {
		if used > 0 {
			*to = max(*to, min(sum(sum(used, used/trialMargin), extra), *to*trialMost, most))
		}
	}
	raise(&b.L2.MaxAmount, used.L2, gasValidate, maxTxGas)
	raise(&b.L1Data.MaxAmount, used.L1Data, 0, math.MaxUint64)
	return b
}

// MaxFee is what a transaction with these bounds can cost at most, without a tip: a node
// refuses it if its sender has less STRK.
func (b Bounds) MaxFee() *big.Int { return b.Rate().Cost(b.Gas()) }
