package wire

import (
	"errors"
	"fmt"
	"io"
)

// Reasons why a string is not a Starknet address.
var (
	errAddressForm  = errors.New("not a valid Starknet address: it must be 0x and up to 64 hexadecimal digits")
	errAddressRange = errors.New("the Starknet address is out of range")
	errZeroAddress  = errors.New("the zero address is not a wallet")
)

// firstBeyond is 2^251 - 256, the first number above all addresses.
var firstBeyond = MustFelt("0x07ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff00")

// fewestDigits are those of an address that could be of no other chain.
const fewestDigits = 56

func validAddress(f Felt) bool { return f.Cmp(&firstBeyond) < 0 }

// ParseAddress reads the address of a contract, which on Starknet every account is:
// 0x or 0X and hexadecimal digits of any case, not zero and below 2^251-256. The case
// of the digits is not a checksum on this network. Leading zeros may be missing, as some
// wallets drop them. With strict there must be 56 at least: a shorter text may be a mistyped
// address of an EVM chain, and one account in 2^31 is so short (§4, protocol: utilities.md §6.5). Digits without 0x, which the reference reads
// as hexadecimal in one place and as decimal in another, are refused (§20.6).
func ParseAddress(s string, strict bool) (Felt, error) {
	f, err := parseContract(s, strict)
	if err == nil && f.IsZero() {
		return Felt{}, errZeroAddress
	}
	return f, err
}

// Address returns the canonical text of what [ParseAddress] reads: 0x and 64
// lower-case digits.
func Address(s string, strict bool) (canonical string, err error) {
	f, err := ParseAddress(s, strict)
	if err != nil {
		return "", err
	}
	return Hex64(f), nil
}

// parseContract is [ParseAddress] for places in which there may be no address: zero.
func parseContract(s string, strict bool) (Felt, error) {
	digits, ok := hexDigits(s)
	if !ok || len(digits) > 64 || strict && len(digits) < fewestDigits {
		return Felt{}, errAddressForm
	}
	f, err := parseHex(digits)
	if err != nil {
		for i := range len(digits) {
			if nibble(digits[i]) > 15 {
				return Felt{}, errAddressForm
			}
		}
		return Felt{}, errAddressRange
	}
	if !validAddress(f) {
		return Felt{}, errAddressRange
	}
	return f, nil
}

// RandomAddress returns an address whose key does not exist, for requests that only
// explore: random bytes of 251 bits, none of which is one of the few that are no
// addresses.
func RandomAddress(rand io.Reader) (string, error) {
	for {
		var b [32]byte
		if _, err := io.ReadFull(rand, b[:]); err != nil {
			return "", fmt.Errorf("random address: %w", err)
		}
		b[0] &= 7
		if f, err := FeltOfBytes(b[:]); err == nil && validAddress(f) && !f.IsZero() {
			return Hex64(f), nil
		}
	}
}
