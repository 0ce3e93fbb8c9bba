package tokens

import (
	"math/big"
	"strings"

	"github.com/swapper-go/swapper/fault"
)

// maxDecimalText bounds what [ParseDecimal] reads. The largest amount of any
// chain, 2^256-1 base units, has 78 digits.
const maxDecimalText = 160

// formatDecimal returns raw base units as a decimal number of tokens with
// exactly `shown` decimal places, truncated rather than rounded, or with
// `decimals` places if that is fewer. Trailing zeros stay; there is no point
// without places; a negative number starts with its sign. A negative `decimals`
// appends that many zeros. The text may read as zero where raw is not: compute
// with base units only (protocol: utilities.md §5).
//
// A nil raw is an unknown amount and reads as zero.
func formatDecimal(raw *big.Int, decimals, shown int) string {
	if raw == nil {
		raw = new(big.Int)
	}
	var space [96]byte
	digits := raw.Append(space[:0], 10)
	out := make([]byte, 0, len(digits)+max(decimals, -decimals, 0)+2)
	if digits[0] == '-' {
		out, digits = append(out, '-'), digits[1:]
	}
	for range -decimals {
		digits = append(digits, '0')
	}
	if decimals <= 0 {
		return string(append(out, digits...))
	}
	whole := len(digits) - decimals
	if whole > 0 {
		out = append(out, digits[:whole]...)
	} else {
		out = append(out, '0')
	}
	if shown <= 0 {
		return string(out)
	}
	out = append(out, '.')
	for i := whole; i < whole+min(shown, decimals); i++ {
		if i < 0 {
			out = append(out, '0')
		} else {
			out = append(out, digits[i])
		}
	}
	return string(out)
}

// ParseDecimal returns the base units of a decimal number of tokens. It accepts
// `^[0-9]+(\.[0-9]+)?$` of moderate length and nothing else: no sign, blank,
// exponent or other base. Digits beyond the token's decimals must be zeros,
// because cutting them would change the amount (protocol: utilities.md §5). The
// error is an [fault.InvalidInput] without field.
func ParseDecimal(text string, decimals int) (*big.Int, error) {
	if len(text) > maxDecimalText {
		return nil, fault.New(fault.InvalidInput, "decimal number is longer than %d characters", maxDecimalText)
	}
	whole, frac, point := strings.Cut(text, ".")
	if !isDigits(whole) || point && !isDigits(frac) {
		return nil, fault.New(fault.InvalidInput, "%q is not a decimal number", text)
	}
	// digits[:keep] are base units, all after it is finer than one of them.
	digits, keep := whole+frac, len(whole)+decimals
	if keep > len(digits) {
		digits += strings.Repeat("0", keep-len(digits))
	}
	keep = max(keep, 0)
	if strings.Trim(digits[keep:], "0") != "" {
		return nil, fault.New(fault.InvalidInput, "%q has more than %d decimal places", text, decimals)
	}
	if keep == 0 {
		return new(big.Int), nil
	}
	raw, ok := new(big.Int).SetString(digits[:keep], 10)
	if !ok {
		return nil, fault.New(fault.InvalidInput, "%q is not a decimal number", text)
	}
	return raw, nil
}

func isDigits(s string) bool {
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	return s != ""
}
