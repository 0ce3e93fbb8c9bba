package wire

import (
	"errors"
	"strings"

	"github.com/ethereum/go-ethereum/common"
)

// Reasons why a string is not an address of an EVM chain.
var (
	errAddressForm     = errors.New("not a valid EVM address: it must be 0x and 40 hexadecimal digits")
	errAddressChecksum = errors.New("not a valid EVM address: checksum mismatch (EIP-55), a character is wrong")
	errZeroAddress     = errors.New("the zero address is not a wallet")
)

// Address returns the EIP-55 text of an account or contract address: `0x` and 40
// hex digits, whose case must be a valid EIP-55 checksum unless it is all lower
// or all upper. The zero address is refused: what is sent there is lost, and as
// recipient of a vault withdrawal it closes the vault (protocol: chain-evm.md
// §13). All EVM chains share this form.
func Address(s string) (canonical string, err error) {
	canonical, err = TokenAddress(s)
	if err == nil && canonical == zeroAddress {
		return "", errZeroAddress
	}
	return canonical, err
}

// TokenAddress is [Address] for tokens, where the zero address stands for the
// chain's own currency.
func TokenAddress(s string) (canonical string, err error) {
	if len(s) != 42 || s[:2] != "0x" {
		return "", errAddressForm
	}
	digits := s[2:]
	for i := range len(digits) {
		c := digits[i] | 0x20 // lower-cases letters, leaves digits
		if (digits[i] < '0' || digits[i] > '9') && (c < 'a' || c > 'f') {
			return "", errAddressForm
		}
	}
	canonical = common.HexToAddress(s).Hex()
	if canonical != s && digits != strings.ToLower(digits) && digits != strings.ToUpper(digits) {
		return "", errAddressChecksum
	}
	return canonical, nil
}

const zeroAddress = "0x0000000000000000000000000000000000000000"
