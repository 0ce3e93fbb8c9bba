package coinselect

import (
	"errors"
	"math"

	"github.com/swapper-go/swapper/fault"
)

// Fee rates are float64 sat/vB (protocol: bitcoin.md §5). A "backend rate" is
// the rate that a backend recommends for one of the next blocks.

// MinPostedFeeRate is the lowest rate in sat/vB that liquidity providers accept.
const MinPostedFeeRate = 1

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
	least := max(quoted, MinPostedFeeRate)
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
