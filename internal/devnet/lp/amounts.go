package lp

import "math/big"

// Terms are the fee and the limits of a service, on the bitcoin side.
type Terms struct {
	Base     int64 // sats
	PPM      int64 // millionths of the bitcoin amount
	Min, Max int64 // sats
}

// payout is what an amount out of a smart chain comes to.
type payout struct {
	amount                  *big.Int // sats that are paid out
	swapFee, netFee         *big.Int // sats
	swapFeeTok, netTok, all *big.Int // base units; all is what the user locks
}

// outside reports whether sats are not within the limits, and on which side.
func (t Terms) outside(sats *big.Int) (low, outside bool) {
	low = sats.Cmp(big.NewInt(t.Min)) < 0
	return low, low || sats.Cmp(big.NewInt(t.Max)) > 0
}

// farOutside is the same with 5 % to spare, for amounts that come from a price.
func (t Terms) farOutside(sats *big.Int) (low, outside bool) {
	low = sats.Cmp(big.NewInt(t.Min*95/100)) < 0
	return low, low || sats.Cmp(big.NewInt(t.Max*105/100)) > 0
}

// payout computes a quote from a smart chain to bitcoin. amount is in sats, with
// exactIn in base units; netFee is what paying an amount of sats costs (protocol:
// lp-protocol.md §8.2).
func (t Terms) payout(p Price, exactIn bool, amount *big.Int, netFee func(sats *big.Int) (*big.Int, error)) (q payout, err error) {
	base := big.NewInt(t.Base)
	if exactIn {
		q.amount, q.netFee, err = t.afterFees(p, amount, netFee)
		q.all = amount
	} else {
		if low, outside := t.outside(amount); outside {
			return q, outOfBounds(low, big.NewInt(t.Min), big.NewInt(t.Max))
		}
		q.amount = amount
		q.netFee, err = netFee(amount)
	}
	if err != nil {
		return q, err
	}
	q.swapFee = add(base, scaleInt(q.amount, t.PPM, 1e6))
	q.swapFeeTok, q.netTok = p.fromBTC(q.swapFee, true), p.fromBTC(q.netFee, true)
	if !exactIn {
		q.all = add(p.fromBTC(amount, true), q.swapFeeTok, q.netTok)
	}
	return q, nil
}

// afterFees is how many sats are left of base units.
func (t Terms) afterFees(p Price, units *big.Int, netFee func(*big.Int) (*big.Int, error)) (sats, fee *big.Int, err error) {
	base, grown := big.NewInt(t.Base), big.NewInt(1_000_000+t.PPM)
	sats = sub(p.toBTC(units, false), base)
	low, outside := t.farOutside(sats)
	high := outside && !low
	switch { // only to get a network fee
	case low:
		sats = big.NewInt(t.Min)
	case high:
		sats = big.NewInt(t.Max)
	}
	if fee, err = netFee(sats); err != nil {
		return nil, nil, err
	}
	sats = scale(sub(sats, fee), million, grown)
	lowNow, outsideNow := t.farOutside(sats)
	if low = low || lowNow; low || high || outsideNow {
		limit := func(sats int64) *big.Int {
			return p.fromBTC(add(scale(big.NewInt(sats), grown, million), base, fee), false)
		}
		return nil, nil, outOfBounds(low, limit(t.Min), limit(t.Max))
	}
	return sats, fee, nil
}

// gasRequest is native coin that a user wants beside the token.
type gasRequest struct {
	price  Price
	amount *big.Int // base units, above zero or zero
}

// receipt is what an amount into a smart chain comes to.
type receipt struct {
	amount, gas         *big.Int // sats that are paid for the token and for the gas
	swapFee, gasFee     *big.Int // sats
	swapFeeTok, gasTok  *big.Int // base units of token and native coin
	total, totalInSmall *big.Int // base units of the token; of the native coin
}

// receipt computes a quote from bitcoin to a smart chain. amount is base units,
// with exactIn sats; gasMax is the most gas that is sold, nil for no limit; next is
// for the bounds as the next version names them
// (protocol: lp-protocol.md §8.3).
func (t Terms) receipt(p Price, exactIn bool, amount *big.Int, gas *gasRequest, gasMax *big.Int, next bool) (q receipt, err error) {
	if exactIn {
		if low, outside := t.outside(amount); outside {
			return q, outOfBounds(low, big.NewInt(t.Min), big.NewInt(t.Max))
		}
	}
	if gas != nil && gasMax != nil && gas.amount.Cmp(gasMax) > 0 {
		return q, &refusal{Code: 20504, Msg: "Gas token amount too high!", Data: object{{"max", gasMax.String()}}}
	}
	left := big.NewInt(1_000_000 - t.PPM)
	q.gas, q.gasFee, q.gasTok, q.totalInSmall = new(big.Int), new(big.Int), new(big.Int), new(big.Int)
	if gas != nil {
		worth := gas.price.toBTC(gas.amount, true)
		q.gas = scaleUp(worth, million, left)
		q.gasFee = sub(q.gas, worth)
		q.gasTok = gas.price.fromBTC(q.gasFee, true)
		q.totalInSmall = gas.amount
	}
	if exactIn {
		q.amount = sub(amount, q.gas)
		q.swapFee = add(big.NewInt(t.Base), scaleUp(q.amount, big.NewInt(t.PPM), million))
		rest := sub(q.amount, q.swapFee)
		if rest.Sign() < 0 {
			return q, outOfBounds(true, big.NewInt(t.Min), big.NewInt(t.Max))
		}
		q.total = p.fromBTC(rest, false)
	} else {
		worth := p.toBTC(amount, true)
		q.amount = scaleUp(add(worth, big.NewInt(t.Base)), million, left)
		q.swapFee = sub(q.amount, worth)
		if low, outside := t.farOutside(q.amount); outside {
			limit := func(sats int64) *big.Int { // divided as the network's LPs do
				if next {
					return p.fromBTC(sub(scale(big.NewInt(sats), left, million), big.NewInt(t.Base)), false)
				}
				return p.fromBTC(scale(big.NewInt(sats), left, big.NewInt(1_000_000-t.Base)), false)
			}
			return q, outOfBounds(low, limit(t.Min), limit(t.Max))
		}
		q.total = amount
	}
	q.swapFeeTok = p.fromBTC(q.swapFee, true)
	return q, nil
}
