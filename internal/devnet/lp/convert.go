package lp

import "math/big"

var million = big.NewInt(1_000_000)

// Price is what a token is worth to the LP.
type Price struct {
	Decimals int
	MicroSat *big.Int // micro-satoshis for a whole token, above zero
}

func (p Price) unit() *big.Int {
	return new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(p.Decimals)), nil)
}

// toBTC returns what base units are worth in sats (protocol: lp-protocol.md §8.1).
func (p Price) toBTC(amount *big.Int, up bool) *big.Int {
	v := new(big.Int).Mul(amount, p.MicroSat)
	v.Quo(v, p.unit())
	if up && amount.Sign() != 0 {
		v.Add(v, big.NewInt(999_999))
	}
	return v.Quo(v, million)
}

// fromBTC returns what sats are worth in base units (protocol: lp-protocol.md §8.1).
func (p Price) fromBTC(sats *big.Int, up bool) *big.Int {
	v := new(big.Int).Mul(sats, p.unit())
	v.Mul(v, million)
	if up && sats.Sign() != 0 {
		v.Add(v, p.MicroSat).Sub(v, big.NewInt(1))
	}
	return v.Quo(v, p.MicroSat)
}

func add(a ...*big.Int) *big.Int {
	sum := new(big.Int)
	for _, v := range a {
		sum.Add(sum, v)
	}
	return sum
}

func sub(a, b *big.Int) *big.Int { return new(big.Int).Sub(a, b) }

// scale is v*by/of, towards zero.
func scale(v, by, of *big.Int) *big.Int {
	p := new(big.Int).Mul(v, by)
	return p.Quo(p, of)
}

func scaleInt(v *big.Int, by, of int64) *big.Int { return scale(v, big.NewInt(by), big.NewInt(of)) }

// scaleUp is v*by/of, rounded up.
func scaleUp(v, by, of *big.Int) *big.Int {
	p := new(big.Int).Mul(v, by)
	p.Add(p, of).Sub(p, big.NewInt(1))
	return p.Quo(p, of)
}
