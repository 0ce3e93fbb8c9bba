package wire

import (
	"strings"

	"github.com/swapper-go/swapper/fault"
)

// maxFeeDigits bounds both numbers of a fee rate: what 64 bits hold.
const maxFeeDigits = 19

// CheckFeeRate refuses a text that a caller cannot give for a fee rate: it must be
// `<price>` or `<price>;<base fee>`, in micro-lamports per compute unit and in lamports
// (protocol: utilities.md §10).
func CheckFeeRate(s string) error {
	price, base, based := strings.Cut(s, ";")
	if !decimal(price) || based && !decimal(base) {
		return fault.Invalid("feeRate", "must be <micro-lamports per compute unit>, optionally followed by ;<base fee in lamports>")
	}
	return nil
}

func decimal(s string) bool {
	return s != "" && len(s) <= maxFeeDigits && strings.Trim(s, "0123456789") == ""
}
