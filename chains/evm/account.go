package evm

import (
	"github.com/ethereum/go-ethereum/common"

	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/internal/evm/evmwire"
)

// account reads the address in a named input field.
func account(field, s string) (common.Address, error) {
	canonical, err := evmwire.Address(s)
	if err != nil {
		return common.Address{}, fault.Invalid(field, "%w", err)
	}
	return common.HexToAddress(canonical), nil
}

// coin reads the token address in a named input field.
func coin(field, s string) (common.Address, error) {
	canonical, err := evmwire.TokenAddress(s)
	if err != nil {
		return common.Address{}, fault.Invalid(field, "%w", err)
	}
	return common.HexToAddress(canonical), nil
}
