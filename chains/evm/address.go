package evm

import "github.com/swapper-go/swapper/internal/evm/wire"

// Address returns the EIP-55 text of an account or contract address: `0x` and 40
// hex digits, whose case must be a valid EIP-55 checksum unless it is all lower
// or all upper. The zero address is refused: anything sent there is lost. All
// EVM chains use this format.
//
// strict has no effect here, because there is only one accepted format; it
// exists for chains that also accept a looser one.
func Address(s string, strict bool) (canonical string, err error) { return wire.Address(s, strict) }

// TokenAddress is like [Address], but accepts the zero address, which means the
// chain's native currency.
func TokenAddress(s string) (canonical string, err error) { return wire.TokenAddress(s) }
