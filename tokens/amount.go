package tokens

import "math/big"

// Amount is a number of base units of a token. An amount whose Raw is nil is
// unknown (a swap whose quote has not fixed it yet).
//
// The receiver of an Amount must not modify Raw.
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

// Decimal returns the amount for display: a decimal number with the token's
// display decimals, truncated rather than rounded, without the ticker. An
// unknown amount reads as zero, because the text is typed as a decimal number
// wherever it travels (protocol: utilities.md §5).
func (a Amount) Decimal() string {
	return formatDecimal(a.Raw, a.Token.Decimals, a.Token.DisplayDecimals)
}

// Units returns the base units as a decimal integer, "0" for an unknown amount.
func (a Amount) Units() string {
	if a.Raw == nil {
		return "0"
	}
	return a.Raw.String()
}

// String returns the decimal number and the token's display text, for logs and
// messages: `0.00051040 BTC-LN`.
func (a Amount) String() string {
	if a.Raw == nil {
		return "unknown amount of " + a.Token.String()
	}
	return a.Decimal() + " " + a.Token.String()
}
