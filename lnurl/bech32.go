package lnurl

import (
	"errors"
	"fmt"
	"unicode/utf8"

	"github.com/btcsuite/btcd/btcutil/bech32"
)

// Encode returns the bech32 form of the address of a service, in lower case.
func Encode(url string) (string, error) {
	words, err := bech32.ConvertBits([]byte(url), 8, 5, true)
	if err != nil {
		return "", fmt.Errorf("encode LNURL: %w", err)
	}
	return bech32.Encode("lnurl", words)
}

// Decode returns the address in a bech32 LNURL, in one case throughout. It is
// not checked any further than being UTF-8.
func Decode(text string) (url string, err error) {
	hrp, words, version, err := bech32.DecodeNoLimitWithVersion(text)
	switch {
	case err != nil:
		if _, ok := errors.AsType[bech32.ErrInvalidChecksum](err); ok {
			err = errors.New("wrong checksum")
		}
		return "", fmt.Errorf("LNURL: %w", err)
	case version != bech32.Version0:
		return "", errors.New("LNURL with a bech32m checksum")
	case hrp != "lnurl":
		return "", fmt.Errorf("bech32 text of %q is no LNURL", hrp)
	}
	data, err := bech32.ConvertBits(words, 5, 8, false)
	if err != nil {
		return "", fmt.Errorf("LNURL: %w", err)
	}
	if !utf8.Valid(data) {
		return "", errors.New("LNURL of an address that is not UTF-8")
	}
	return string(data), nil
}
