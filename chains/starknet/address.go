// Package starknet reads Starknet addresses and fee rates.
package starknet

import (
	"errors"
	"strings"
)

// Reasons why a string is not a Starknet address.
var (
	errAddressForm  = errors.New("not a valid Starknet address: it must be 0x and 64 hexadecimal digits")
	errAddressRange = errors.New("the Starknet address is out of range")
	errZeroAddress  = errors.New("the zero address is not a wallet")
)

// firstBeyond is 2^251 - 256, the first number above all addresses, as 64 hex
// digits.
const firstBeyond = "07ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff00"

const zeroDigits = "0000000000000000000000000000000000000000000000000000000000000000"

// Address returns the canonical text of a contract (account) address: `0x` and
// 64 lower-case hex digits. It accepts `0x` or `0X` and hex digits of any case,
// not zero and below 2^251-256. The case of the digits is not a checksum on this
// network. With strict, exactly 64 digits are required, because shorter texts
// cannot be distinguished from addresses of other chains; without it, missing
// leading zeros are accepted because some wallets drop them (protocol:
// chain-starknet.md §4, utilities.md §6.5).
func Address(s string, strict bool) (canonical string, err error) {
	if len(s) < 3 || len(s) > 66 || strict && len(s) != 66 || s[0] != '0' || s[1]|0x20 != 'x' {
		return "", errAddressForm
	}
	digits := strings.ToLower(s[2:])
	for i := range len(digits) {
		if c := digits[i]; (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return "", errAddressForm
		}
	}
	digits = zeroDigits[len(digits):] + digits
	switch {
	case digits == zeroDigits:
		return "", errZeroAddress
	case digits >= firstBeyond: // texts of equal length compare like their numbers
		return "", errAddressRange
	}
	return "0x" + digits, nil
}

// TokenAddress returns the canonical text of a token's contract address. It
// accepts what [Address] accepts without strict.
func TokenAddress(s string) (canonical string, err error) { return Address(s, false) }
