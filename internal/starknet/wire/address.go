package wire

import (
	"errors"
	"fmt"
	"io"
)

// Reasons why a string is not a Starknet address.
var (
	errAddressForm  = errors.New("not a valid Starknet address: it must be 0x and 56 to 64 hexadecimal digits")
	errAddressRange = errors.New("the Starknet address is out of range")
	errZeroAddress  = errors.New("the zero address is not a wallet")
)

// firstBeyond is 2^251 - 256, the first number above all addresses.
var firstBeyond = MustFelt("0x07ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff00")

// fewestDigits are those of an address that could be of no other chain.
const fewestDigits = 56

func validAddress(f Felt) bool { return f.Cmp(&firstBeyond) < 0 }

// Address returns the canonical text of an address that a person, a wallet or an LP writes: 0x and 64
// lower-case digits. It accepts 0x or 0X and 56 to 64 hexadecimal digits of any case, not zero and
// below 2^251-256. The case of the digits is not a checksum on this network. Leading zeros may be
// missing, as some wallets drop them; a shorter text may be a mistyped address of an EVM chain, and
// the one account in 2^31 that is so short must be written with zeros (§4, protocol: utilities.md §6.5).
// Digits without 0x, which the reference reads as hexadecimal in one place and as decimal in another, are refused (§20.6).
func Address(s string) (canonical string, err error) {
	if digits, ok := hexDigits(s); !ok || len(digits) < fewestDigits {
		return "", errAddressForm
	}
	f, err := ParseAddress(s)
	if err != nil {
		return "", err
	}
	return Hex64(f), nil
}

// ParseAddress reads the address of a contract, which on Starknet every account is, where it is a
// number of the network: as [Address], with however many digits.
func ParseAddress(s string) (Felt, error) {
	f, err := parseContract(s)
	if err == nil && f.IsZero() {
		return Felt{}, errZeroAddress
	}
	return f, err
}

// parseContract is [ParseAddress] for places in which there may be no address: zero.
func parseContract(s string) (Felt, error) {
	digits, ok := hexDigits(s)
	if !ok || len(digits) > 64 {
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
