package lightning

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// maxMsat is all the bitcoin there will ever be.
const maxMsat = 21_000_000 * msatPerBTC

const msatPerBTC = 100_000_000_000

var errAmount = errors.New("amount is not a number of at most 21 million bitcoin in whole millisatoshis")

// parsePrefix splits what follows "ln" in the human-readable part into the
// network and the amount, which is nil if there is none.
func parsePrefix(hrp string) (network string, msat *int64, err error) {
	for _, network := range []string{"bcrt", "tbs", "bc", "tb", "sb"} { // longer ones first
		amount, ok := strings.CutPrefix(hrp, network)
		if !ok || amount != "" && (amount[0] < '0' || amount[0] > '9') {
			continue
		}
		if amount == "" {
			return network, nil, nil
		}
		v, err := parseAmount(amount)
		if err != nil {
			return "", nil, err
		}
		return network, &v, nil
	}
	return "", nil, fmt.Errorf("unknown network prefix %.8q", "ln"+hrp)
}

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
		unit = 1
		if digits = digits[:len(digits)-1]; digits == "" {
			digits = "0"
		}
	default:
		digits = s
	}
	v, err := strconv.ParseUint(digits, 10, 63)
	if err != nil || v > maxMsat/unit {
		return 0, errAmount
	}
	return int64(v * unit), nil
}
