package starknet

import "github.com/swapper-go/swapper/internal/starknet/wire"

// Address returns the canonical text of a contract (account) address: `0x` and
// 64 lower-case hex digits. It accepts `0x` or `0X` and 56 to 64 hex digits of any case,
// not zero and below 2^251-256. The case of the digits is not a checksum on this
// network. Leading zeros may be missing, as some wallets drop them; a shorter text may be
// a mistyped address of an EVM chain (protocol: chain-starknet.md §4, utilities.md §6.5).
func Address(s string) (canonical string, err error) { return wire.Address(s) }

// TokenAddress returns the canonical text of a token's contract address. It
// accepts what [Address] accepts.
func TokenAddress(s string) (canonical string, err error) { return Address(s) }
