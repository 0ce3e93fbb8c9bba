package evm

import "github.com/swapper-go/swapper/internal/evm/evmwire"

// Address returns the EIP-55 text of an account or contract address: `0x` and 40
// hex digits, whose case must be a valid EIP-55 checksum unless it is all lower
// or all upper. The zero address is refused: anything sent there is lost. All
// EVM chains use this format.
func Address(s string) (canonical string, err error) { return evmwire.Address(s) }

// TokenAddress is like [Address], but accepts the zero address, which means the
// chain's native currency.
func TokenAddress(s string) (canonical string, err error) { return evmwire.TokenAddress(s) }
