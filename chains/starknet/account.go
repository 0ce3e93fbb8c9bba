package starknet

import (
	"fmt"

	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/internal/starknet/wire"
)

// account reads the address in a named input field.
func account(field, s string) (wire.Felt, error) {
	at, err := wire.ParseAddress(s)
	if err != nil {
		return wire.Felt{}, fault.Invalid(field, "%w", err)
	}
	return at, nil
}

func fieldOf(i int) string { return fieldIn("signedTxs", i) }

func fieldIn(list string, i int) string { return fmt.Sprintf("%s[%d]", list, i) }
