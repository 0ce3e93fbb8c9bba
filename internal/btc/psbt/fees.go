package psbt

import (
	"errors"
	"math"
	"math/big"
	"slices"

	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/internal/bigs"
	"github.com/swapper-go/swapper/internal/btc/rawtx"
)

// Fee rates are float64 sat/vB (protocol: bitcoin.md §5). A "backend rate" is
// the rate that a backend recommends for one of the next blocks.

// minPostedFeeRate is the lowest rate in sat/vB that liquidity providers accept.
const minPostedFeeRate = 1

// WalletFeeRate is the rate for a transaction whose user asked for none: a
// quarter above the backend rate, rounded down, so that it does not get stuck
// when fees rise while the user signs. It is never below minimum, what nodes
// relay at all: rounding down alone would turn low rates into 0.
func WalletFeeRate(backend, minimum float64) (float64, error) {
	if !nonNegative(backend) || !nonNegative(minimum) {
		return 0, errors.New("the Bitcoin backend returned an invalid fee rate")
	}
	rate := max(math.Floor(float64(backend*1.25)), minimum)
	if rate <= 0 {
		return 0, errors.New("the Bitcoin backend returned no fee rate")
	}
	return rate, nil
}

// VaultFeeRate is the rate for the transaction of a vault swap. given is what
// the user asked for, 0 for nothing; quoted is the least that the quote
// allows. Errors about given have the code InvalidInput.
func VaultFeeRate(given, quoted, wallet float64) (float64, error) {
	if !nonNegative(quoted) || !nonNegative(wallet) {
		return 0, errors.New("the quote or the Bitcoin backend has an invalid fee rate")
	}
	least := max(quoted, minPostedFeeRate)
	switch {
	case given == 0:
		return max(least, wallet), nil
	case !nonNegative(given):
		return 0, fault.New(fault.InvalidInput, "must be a number greater than 0")
	case given < least:
		return 0, fault.New(fault.InvalidInput, "must be at least %v sat/vB for this swap", least)
	}
	return given, nil
}

// QuoteFeeRateCap is the highest rate that a quote may demand, given the fixed
// or backend rate. The same bound over the rate that a transaction was made for
// is what a signed transaction may pay: above it somebody made a mistake.
func QuoteFeeRateCap(rate float64) float64 { return 10 + float64(1.5*rate) }

// What miners get for a Bitcoin transaction of a swap at most, unless the operator says
// otherwise: docs/security.md reckons why.
const (
	// usualMinerFeePPM is the bound in millionths of the swap: 5 %.
	usualMinerFeePPM = 50_000
	// SmallMinerFee, in sats, always passes: 141 vB, a payment with change, at 709
	// sat/vB, or 301 vB, a vault's transaction with one coin and change, at 332 sat/vB.
	SmallMinerFee = 100_000
)

// maxMinerFee is the most, in sats, that a transaction which pays sats may pay miners,
// its unconfirmed parents included: ppm millionths of it, 0 for [usualMinerFeePPM], or
// [SmallMinerFee] if that is more.
func maxMinerFee(sats, ppm int64) int64 {
	if ppm <= 0 {
		ppm = usualMinerFeePPM
	}
	most := bigs.MulDiv(big.NewInt(sats), big.NewInt(ppm), big.NewInt(1_000_000))
	if most.Cmp(big.NewInt(rawtx.MaxMoney)) > 0 {
		return rawtx.MaxMoney
	}
	return max(most.Int64(), SmallMinerFee)
}

// oneCoinFee is the fee in sats of d at its rate, if one confirmed coin of the change's
// type pays for it and there is change: what a quote can say before the wallet is known.
func (d Draft) oneCoinFee() int64 {
	inputs := append(slices.Clone(d.Required), Coin{Type: d.Change})
	return int64(math.Ceil(float64(d.FeeRate * d.vbytes(inputs, d.Change.ScriptLen()))))
}

// BalanceFeeRate is the rate at which a spendable balance is estimated: fixed if
// above 0, else the backend rate times multiplier (0 for 1); never below minimum.
// Errors have the code InvalidInput.
func BalanceFeeRate(fixed, backend, multiplier, minimum float64) (float64, error) {
	rate := fixed
	if fixed == 0 {
		rate = backend
		if multiplier != 0 {
			rate = float64(backend * multiplier)
		}
	}
	if !nonNegative(rate) || !nonNegative(minimum) {
		return 0, fault.New(fault.InvalidInput, "must be a number greater than 0")
	}
	return max(rate, minimum), nil
}
