package verify

import (
	"errors"
	"fmt"
	"math/big"

	"github.com/swapper-go/swapper/internal/bigs"
)

// errQuote is the error of a quote whose numbers cannot be compared with any
// price: an amount that is zero or negative, or a fee that is negative or as
// large as the amount.
var errQuote = errors.New("the quote is inconsistent")

// DefaultTolerancePPM is how much worse than the market price a quote may be,
// in parts per million (protocol: swap-flows-spv-and-core.md C9.4).
const DefaultTolerancePPM = 10_000

// PriceQuote is compared with the market. Its amounts must not be modified during a
// check.
type PriceQuote struct {
	Sats     *big.Int // the bitcoin side: what the LP pays out, or is paid
	Units    *big.Int // the token side in base units; when tokens are sold, without the LP's network fee
	FeeSats  *big.Int // the LP's fee as it declares it; nil: computed from the announced fees
	BaseFee  *big.Int // announced, sats; nil is 0
	FeePPM   *big.Int // announced; nil is 0
	Decimals int      // of the token; -1: the token has no price, nothing is checked
	Price    *big.Int // the market's
}

// PriceResult is the result of a check. Prices are micro-sats per whole token.
type PriceResult struct {
	// DifferencePPM is how much worse than the market the quote is for the
	// user, in parts per million of what the market would give; negative if it
	// is better. Nil if the token has no price.
	DifferencePPM *big.Int
	Market        *big.Int // the quote's price, within the precision of base units; nil if the token has no price
	Quoted        *big.Int
}

// Within reports whether the quote is at most tolerancePPM worse than the
// market. It is true for a token without a price.
func (r PriceResult) Within(tolerancePPM int64) bool {
	return r.DifferencePPM == nil || r.DifferencePPM.Cmp(big.NewInt(tolerancePPM)) <= 0
}

// sendPrice checks a quote in which the user sells tokens for bitcoin
// (protocol: lp-protocol.md §6.1, swap-flows-spv-and-core.md C9.4).
func sendPrice(q PriceQuote) (PriceResult, error) {
	return comparePrice(q, true)
}

// ReceivePrice checks a quote in which the user buys tokens for bitcoin. The
// difference is in true parts per million: the reference computes a tenth of it
// (protocol: lp-protocol.md §9 no. 2).
func ReceivePrice(q PriceQuote) (PriceResult, error) {
	return comparePrice(q, false)
}

func comparePrice(q PriceQuote, send bool) (PriceResult, error) {
	d, sats, err := q.exchanged(send)
	if err != nil {
		return PriceResult{}, err
	}
	if q.Decimals == unpriced {
		return PriceResult{}, nil
	}
	expected, err := FromBitcoin(sats, q.Price, q.Decimals)
	if err != nil {
		return PriceResult{}, err
	}
	if expected.Sign() == 0 {
		return PriceResult{}, fmt.Errorf("%w: %s sats are worth less than one base unit", errQuote, sats)
	}
	var r PriceResult
	if r.Quoted, err = perToken(sats, q.Units, d); err != nil {
		return PriceResult{}, err
	}
	if r.Market, err = perToken(sats, expected, d); err != nil {
		return PriceResult{}, err
	}
	worse := new(big.Int).Sub(expected, q.Units)
	if send {
		worse.Neg(worse)
	}
	r.DifferencePPM = worse.Mul(worse, million).Quo(worse, expected)
	return r, nil
}

// unpriced are the decimals by which a configuration says that a token is not
// compared with any market.
const unpriced = -1

// exchanged returns 10^decimals (nil for an unpriced token) and the sats that
// the tokens are exchanged for: with the fee when they are sold, without it when
// they are bought.
func (q PriceQuote) exchanged(send bool) (d, sats *big.Int, err error) {
	if q.Decimals != unpriced {
		if d, err = unit(q.Decimals); err != nil {
			return nil, nil, err
		}
	}
	switch {
	case q.Sats == nil || q.Sats.Sign() <= 0:
		return nil, nil, fmt.Errorf("%w: the bitcoin amount must be greater than zero", errQuote)
	case q.Units == nil || q.Units.Sign() <= 0:
		return nil, nil, fmt.Errorf("%w: the token amount must be greater than zero", errQuote)
	case q.FeeSats != nil && q.FeeSats.Sign() < 0:
		return nil, nil, fmt.Errorf("%w: the fee is negative", errQuote)
	}
	base, ppm := bigs.OrZero(q.BaseFee), bigs.OrZero(q.FeePPM)
	if base.Sign() < 0 || ppm.Sign() < 0 {
		return nil, nil, fmt.Errorf("%w: the announced fee is negative", errQuote)
	}
	sats = new(big.Int)
	switch {
	case q.FeeSats != nil && send:
		sats.Add(q.Sats, q.FeeSats)
	case q.FeeSats != nil:
		sats.Sub(q.Sats, q.FeeSats)
	case send:
		sats.Add(million, ppm)
		sats.Mul(sats, q.Sats).Quo(sats, million).Add(sats, base)
	default:
		sats.Sub(million, ppm)
		sats.Mul(sats, q.Sats).Quo(sats, million).Sub(sats, base)
	}
	if sats.Sign() <= 0 {
		return nil, nil, fmt.Errorf("%w: the fee is as large as the whole amount", errQuote)
	}
	return d, sats, nil
}
