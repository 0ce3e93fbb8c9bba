package tokens

import "math/big"

// Amount is a number of base units of a token. An amount whose Raw is nil is
// unknown (a swap whose quote has not fixed it yet).
//
// Raw must not be changed by whoever receives an Amount.
type Amount struct {
	Raw   *big.Int
	Token Token
}

// NewAmount returns the amount of raw base units of t. It copies raw; nil makes
// an unknown amount.
func NewAmount(raw *big.Int, t Token) Amount {
	if raw != nil {
		raw = new(big.Int).Set(raw)
	}
	return Amount{Raw: raw, Token: t}
}

// Known reports whether the amount is known.
func (a Amount) Known() bool { return a.Raw != nil }
