package verify

import (
	"errors"
	"math/big"

	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/internal/bigs"
	"github.com/swapper-go/swapper/internal/lp"
	"github.com/swapper-go/swapper/tokens"
)

// roundingSats is how many sats a declared fee may exceed its formula by:
// conversions there and back round a few times.
const roundingSats = 3

var (
	million    = big.NewInt(1_000_000)
	shareUnits = big.NewInt(100_000)
)

// fairSend checks what the user pays for sats on Bitcoin or Lightning: units of
// the token, without the network fee.
func (a Agreed) fairSend(sats, units, feeSats *big.Int) (PriceResult, error) {
	return a.fairButRounded(lp.CheckPrice, true, PriceQuote{Sats: sats, Units: units, FeeSats: feeSats,
		BaseFee: a.BaseFee, FeePPM: a.FeePPM, Decimals: a.Token.Decimals, Price: a.Price}, nil)
}

// fairReceive checks what the user gets for sats. unit is the smallest amount that
// a vault pays out; nil: a base unit.
func (a Agreed) fairReceive(sats, units, feeSats, unit *big.Int) (PriceResult, error) {
	return a.fairButRounded(lp.CheckPrice, false, PriceQuote{Sats: sats, Units: units, FeeSats: feeSats,
		BaseFee: a.BaseFee, FeePPM: a.FeePPM, Decimals: a.Token.Decimals, Price: a.Price}, unit)
}

func (a Agreed) fair(c lp.Check, check func(PriceQuote) (PriceResult, error), q PriceQuote) (PriceResult, error) {
	if q.Price == nil && q.Decimals >= 0 {
		return PriceResult{}, errUnknown("the market price is")
	}
	r, err := check(q)
	switch {
	case errors.Is(err, errQuote):
		return PriceResult{}, lp.Lie(c, "%w", err)
	case err != nil:
		return PriceResult{}, err
	case !r.Within(a.Policy.tolerance()):
		return r, lp.Lie(c, "the price is %s ppm worse than the market price, at most %d ppm are accepted", r.DifferencePPM, a.Policy.tolerance())
	}
	return r, nil
}

// rounded is what honest arithmetic may cost at most: LPs round amounts to whole
// sats and base units a few times, which is much of a small amount.
var (
	roundedSats  = big.NewInt(2)
	roundedUnits = big.NewInt(3)
)

// fewSats are what the roundings of an amount of a few sats come to together.
const fewSats = 5

// fairButRounded is [Agreed.fair] for amounts of any size. What two sats make up
// for is accepted. Where it takes coarse base units too, or unit, the smallest that
// the LP's vault can pay out, the amount is too small for them, and the LP has not
// lied. unit may be nil.
func (a Agreed) fairButRounded(c lp.Check, send bool, q PriceQuote, unit *big.Int) (PriceResult, error) {
	check, sign := ReceivePrice, int64(-1)
	if send {
		check, sign = sendPrice, 1
	}
	r, err := a.fair(c, check, q)
	if _, lied := errors.AsType[*lp.LPError](err); !lied {
		return r, err
	}
	kind := q
	kind.Sats = bigs.Add(q.Sats, new(big.Int).Mul(roundedSats, big.NewInt(sign)))
	if r.DifferencePPM != nil && kind.Sats.Cmp(q.FeeSats) > 0 {
		if _, again := a.fair(c, check, kind); again == nil {
			return r, nil
		}
	}
	units := roundedUnits
	if unit != nil {
		units = bigs.Add(units, unit)
	}
	kind.Sats = bigs.Add(q.Sats, big.NewInt(sign*fewSats))
	kind.Units = bigs.Add(q.Units, new(big.Int).Mul(units, big.NewInt(-sign)))
	exchanged := bigs.Add(q.Sats, new(big.Int).Mul(q.FeeSats, big.NewInt(sign)))
	worth, noPrice := FromBitcoin(exchanged, q.Price, q.Decimals)
	few := noPrice == nil && worth.Cmp(units) <= 0 && (!send || q.Units.Cmp(bigs.Add(worth, units)) <= 0)
	_, again := a.fair(c, check, kind)
	switch {
	case few, again == nil && r.DifferencePPM == nil, !send && exchanged.Cmp(roundedSats) <= 0:
		return r, fault.Invalid("amount", "is too small: after fees and gas only %s sats are exchanged, too few for the token's smallest unit", exchanged)
	case again == nil:
		return r, fault.Invalid("amount", "is so small that rounding may explain a price %s ppm worse than the market price, at most %d ppm are accepted; use a larger amount", r.DifferencePPM, a.Policy.tolerance())
	}
	return r, err
}

// fairGas checks the sats that are charged for native tokens: gas drop, bounty
// and the watchtower's share (protocol: lp-protocol.md §9 no. 8). nil: nothing
// was charged and nothing promised.
func (a Agreed) fairGas(sats, units, feeSats *big.Int) (*PriceResult, error) {
	switch {
	case sats.Sign() == 0 && feeSats.Sign() == 0:
		return nil, nil // a present, if units are promised
	case units.Sign() == 0:
		return nil, lp.Lie(lp.CheckGasPrice, "%s sats are charged for gas, but no gas is paid out", sats)
	}
	q := PriceQuote{Sats: sats, Units: units, FeeSats: feeSats, FeePPM: a.FeePPM, Decimals: a.Native.Decimals, Price: a.NativePrice}
	r, err := a.fair(lp.CheckGasPrice, ReceivePrice, q)
	if err != nil && r.DifferencePPM != nil {
		// The LP rounds up to whole sats, which is much of a few of them.
		q.Sats = bigs.Sub(sats, big.NewInt(2))
		if q.Sats.Cmp(feeSats) <= 0 {
			return &r, nil // worth no more than two sats
		}
		if _, again := a.fair(lp.CheckGasPrice, ReceivePrice, q); again == nil {
			err = nil
		}
	}
	if err != nil {
		return nil, err
	}
	return &r, nil
}

// acceptedFee checks a fee for gross sats of the bitcoin side: against the
// announced one (protocol: lp-protocol.md §9 no. 3), and against the policy, since
// an LP may announce what it likes.
func (a Agreed) acceptedFee(c lp.Check, feeSats, grossSats, base *big.Int, t tokens.Token, market *big.Int) error {
	if !a.Policy.AnyFee {
		if err := a.announcedFee(c, feeSats, grossSats, base, t, market); err != nil {
			return err
		}
	}
	if most := a.Policy.fee(grossSats); feeSats.Cmp(most) > 0 {
		e := lp.Lie("", "the fee of %s sats for a swap of %s sats is above the accepted maximum of %s", feeSats, grossSats, most)
		e.Check, e.Lenient = lp.CheckFeeLimit, true // dear, but no lie
		return e
	}
	return nil
}

// announcedFee does not punish the LP: what an LP announces may have changed since
// it was loaded, and plugins of an LP may charge more for some swaps (protocol:
// lp-protocol.md §8.5).
func (a Agreed) announcedFee(c lp.Check, feeSats, grossSats, base *big.Int, t tokens.Token, market *big.Int) error {
	limit := big.NewInt(roundingSats)
	if base != nil {
		limit.Add(limit, base)
	}
	if a.FeePPM != nil {
		limit.Add(limit, bigs.MulDiv(grossSats, a.FeePPM, million))
	}
	if market != nil && t.Decimals >= 0 { // one base unit of a coarse token is worth several sats
		coarse, err := ToBitcoin(big.NewInt(2), market, t.Decimals)
		if err != nil {
			return err
		}
		limit.Add(limit, coarse)
	}
	if feeSats.Cmp(limit) > 0 {
		return doubt(c, "the fee of %s sats is above the announced maximum of %s", feeSats, limit)
	}
	return nil
}

// deposit bounds the security deposit that the user has to lock (protocol:
// lp-protocol.md §9 no. 7).
func (a Agreed) deposit(deposit, swapSats *big.Int) error {
	if deposit.Sign() == 0 {
		return nil
	}
	value, err := a.nativeSats(deposit)
	if err != nil {
		return err
	}
	if most := a.Policy.deposit(swapSats); value.Cmp(most) > 0 {
		return lp.Lie(lp.CheckDeposit, "the security deposit worth %s sats for a swap of %s sats is above the accepted maximum of %s", value, swapSats, most)
	}
	return nil
}

// nativeSats values an amount of the native token.
func (a Agreed) nativeSats(units *big.Int) (*big.Int, error) {
	if a.NativePrice == nil {
		return nil, errUnknown("the price of the native token is")
	}
	return ToBitcoin(units, a.NativePrice, a.Native.Decimals)
}

// proportionate checks a watchtower's bounty against the value of the swap.
func (a Agreed) proportionate(units, swapSats *big.Int) error {
	if units == nil || units.Sign() == 0 {
		return nil
	}
	pay, err := a.nativeSats(units)
	if err != nil {
		return err
	}
	return a.Policy.Watchtower(pay, swapSats)
}

// fairAfterWatchtower checks what the user really gets for sats, of which a
// watchtower's pay was taken: as [Agreed.fairReceive] does, less at most the pay
// that the policy accepts for the whole swap.
func (a Agreed) fairAfterWatchtower(sats, units, feeSats, swapSats *big.Int) error {
	if a.Token.Decimals < 0 {
		return nil
	}
	worth, err := ToBitcoin(units, a.Price, a.Token.Decimals)
	if err != nil {
		return err
	}
	net := bigs.Sub(sats, feeSats)
	least := bigs.Sub(net, bigs.MulDiv(net, big.NewInt(a.Policy.tolerance()), million))
	least.Sub(least, a.Policy.watchtower(swapSats)).Sub(least, big.NewInt(roundingSats))
	if worth.Cmp(least) < 0 {
		e := lp.Lie("", "the payout is worth %s sats for a swap of %s sats, but at least %s sats are due after the watchtower's fee", worth, net, least)
		e.Check, e.Lenient = lp.CheckWatchtower, true // the share was ours
		return e
	}
	return nil
}
