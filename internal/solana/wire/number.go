package wire

import (
	"errors"
	"strconv"
)

var errNumber = errors.New("is not a decimal number below 2^64")

// parseNumber reads decimal digits and nothing else.
func parseNumber(s string) (uint64, error) {
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return 0, errNumber
		}
	}
	n, err := strconv.ParseUint(s, 10, 64)
	if err != nil || len(s) > 20 {
		return 0, errNumber
	}
	return n, nil
}
