package evm

import (
	"github.com/ethereum/go-ethereum/common"

	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/internal/evm/wire"
)

// account reads the address in a named input field.
func account(field, s string) (common.Address, error) {
	canonical, err := wire.Address(s)
	if err != nil {
		return common.Address{}, fault.Invalid(field, "%w", err)
	}
	return common.HexToAddress(canonical), nil
}

// coin reads the token address in a named input field.
func coin(field, s string) (common.Address, error) {
	canonical, err := wire.TokenAddress(s)
	if err != nil {
		return common.Address{}, fault.Invalid(field, "%w", err)
	}
	return common.HexToAddress(canonical), nil
}
