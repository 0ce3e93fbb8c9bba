package wire

import (
	"fmt"
	"math/big"
	"strings"

	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/internal/bigs"
)

// FeeRate is what a transaction offers for each kind of gas, in fri (10^-18 STRK). Its
// text is `<l1>,<l2>,<l1 data>;v3` (§9). Parts are never nil in what [ParseFeeRate]
// and [RateFor] return.
type FeeRate struct {
	L1, L2, L1Data *big.Int
}

const (
	feeRateSuffix  = ";v3"
	priceBits      = 128 // of max_price_per_unit in a transaction
	maxFeeRateText = 200
)

// CheckFeeRate returns an error unless s is `<l1>,<l2>,<l1 data>;v3`, three gas prices
// in fri (protocol: utilities.md §10). Only version 3 transactions are supported.
func CheckFeeRate(s string) error {
	if !strings.HasSuffix(s, feeRateSuffix) || strings.Count(s, ";") != 1 {
		return fault.Invalid("feeRate", "must be <l1 gas price>,<l2 gas price>,<l1 data gas price>;v3, in fri")
	}
	_, err := ParseFeeRate(s)
	return err
}

// ParseFeeRate reads a fee rate whose suffix is another one or missing, as records
// may hold it. The prices must be three decimal numbers below 2^128.
func ParseFeeRate(s string) (FeeRate, error) {
	if len(s) > maxFeeRateText {
		return FeeRate{}, fault.Invalid("feeRate", "is longer than %d characters", maxFeeRateText)
	}
	rate, _, _ := strings.Cut(s, ";")
	prices := strings.Split(rate, ",")
	if len(prices) != 3 {
		return FeeRate{}, fault.Invalid("feeRate", "must be <l1 gas price>,<l2 gas price>,<l1 data gas price>;v3, in fri")
	}
	var numbers [3]*big.Int
	for i, p := range prices {
		n, err := parseDecimal(p, priceBits)
		if err != nil {
			return FeeRate{}, fault.Invalid("feeRate", "has a gas price that is not a whole number of fri below 2^128")
		}
		numbers[i] = n
	}
	return FeeRate{numbers[0], numbers[1], numbers[2]}, nil
}

// String returns the text of the rate.
func (r FeeRate) String() string {
	return fmt.Sprintf("%s,%s,%s%s", bigs.OrZero(r.L1), bigs.OrZero(r.L2), bigs.OrZero(r.L1Data), feeRateSuffix)
}

// What a rate offers over the prices of the latest block, and what it never exceeds (§9).
var (
	offerPPM, million = big.NewInt(1_250_000), big.NewInt(1_000_000)

	maxL1Price     = big.NewInt(20_000_000_000_000_000)
	maxL2Price     = big.NewInt(4_000_000_000_000_000)
	maxL1DataPrice = big.NewInt(10_000_000_000_000_000)
)

// RateFor returns the rate to offer after a block with the given prices in fri: a
// quarter more, up to the caps, which are a thousand times of what gas costs and keep a
// node that lies from making transactions that no balance covers. Prices of 2^120 and
// more are refused.
func RateFor(l1, l2, l1Data *big.Int) (FeeRate, error) {
	var r FeeRate
	for _, p := range []struct {
		price, limit *big.Int
		to           **big.Int
	}{{l1, maxL1Price, &r.L1}, {l2, maxL2Price, &r.L2}, {l1Data, maxL1DataPrice, &r.L1Data}} {
		if !inBits(p.price, priceBits-8) {
			return FeeRate{}, fault.New(fault.Upstream, "the latest block of Starknet has implausible gas prices")
		}
		offer := new(big.Int).Mul(p.price, offerPPM)
		offer.Quo(offer, million)
		if offer.Cmp(p.limit) > 0 {
			offer.Set(p.limit)
		}
		*p.to = offer
	}
	return r, nil
}
