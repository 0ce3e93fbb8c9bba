package lightning

import (
	"encoding/hex"
	"errors"
)

// ParseHash reads 32 bytes - a payment hash, a description hash, a preimage -
// from exactly 64 hex digits in any case, without prefix (protocol:
// utilities.md §13).
func ParseHash(text string) (h [32]byte, err error) {
	if len(text) != 2*len(h) {
		return h, errors.New("must be exactly 64 hexadecimal digits")
	}
	if _, err := hex.Decode(h[:], []byte(text)); err != nil {
		return [32]byte{}, errors.New("must be exactly 64 hexadecimal digits")
	}
	return h, nil
}
