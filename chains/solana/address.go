package solana

import (
	"errors"

	"github.com/swapper-go/swapper/internal/solana/wire"
)

// Reasons why a string is not a Solana address.
var (
	errAddressForm = wire.ErrKeyForm
	errOffCurve    = wire.ErrOffCurve
	errZeroAddress = errors.New("the address is the system program, not a wallet")
)

// Address returns s if it is the address of a Solana wallet: base58 of exactly
// 32 bytes that are a point of the ed25519 curve. Program-derived addresses
// (multisigs, vaults) are off the curve; they have no private key and the swap
// programs refuse them. Base58 is unique per value, so the canonical form is s
// itself. The all-zero address is refused (protocol: chain-solana.md §2).
func Address(s string) (canonical string, err error) {
	key, err := wire.ParseKey(s)
	if err != nil {
		return "", err
	}
	if key.IsZero() {
		return "", errZeroAddress
	}
	if !wire.OnCurve(key) {
		return "", errOffCurve
	}
	return s, nil
}

// TokenAddress returns s if it can be the address of a token (a mint): base58 of
// 32 bytes, on the curve or not, not all zero.
func TokenAddress(s string) (canonical string, err error) {
	key, err := wire.ParseKey(s)
	if err != nil {
		return "", err
	}
	if key.IsZero() {
		return "", errZeroAddress
	}
	return s, nil
}
