package lightning

import (
	"errors"
	"strconv"
	"strings"
)

// maxMsat is all the bitcoin there will ever be.
const maxMsat = 21_000_000 * msatPerBTC

const msatPerBTC = 100_000_000_000

var errAmount = errors.New("amount is not a whole number of millisatoshis of at most 21 million bitcoin")

// parseAmount reads digits and an optional multiplier.
func parseAmount(s string) (msat int64, err error) {
	unit := uint64(msatPerBTC)
	digits := s[:len(s)-1]
	switch s[len(s)-1] {
	case 'm':
		unit = msatPerBTC / 1_000
	case 'u':
		unit = msatPerBTC / 1_000_000
	case 'n':
		unit = msatPerBTC / 1_000_000_000
	case 'p': // a tenth of a millisatoshi
		if !strings.HasSuffix(digits, "0") {
			return 0, errAmount
		}
		unit, digits = 1, digits[:len(digits)-1]
	default:
		digits = s
	}
	v, err := strconv.ParseUint(digits, 10, 63)
	if err != nil || v > maxMsat/unit {
		return 0, errAmount
	}
	return int64(v * unit), nil
}
