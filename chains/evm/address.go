package evm

import "github.com/swapper-go/swapper/internal/evm/evmwire"

// Address returns the EIP-55 text of an account or contract address: `0x` and 40
// hex digits, whose case must be a valid EIP-55 checksum unless it is all lower
// or all upper. The zero address is refused: what is sent there is lost. All EVM
// chains share this form.
//
// The form is as strict as it can be, so strict changes nothing here; it is
// there for chains that know a second, looser form.
func Address(s string, strict bool) (canonical string, err error) { return evmwire.Address(s, strict) }

// TokenAddress is [Address] for tokens, where the zero address stands for the
// chain's own currency.
func TokenAddress(s string) (canonical string, err error) { return evmwire.TokenAddress(s) }
