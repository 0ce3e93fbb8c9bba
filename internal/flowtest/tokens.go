package flowtest

import (
	"testing"

	evmwire "github.com/swapper-go/swapper/internal/evm/wire"
	solwire "github.com/swapper-go/swapper/internal/solana/wire"
	starkwire "github.com/swapper-go/swapper/internal/starknet/wire"
	"github.com/swapper-go/swapper/internal/tokenlist"
	"github.com/swapper-go/swapper/tokens"
)

// Chains are the chains of the catalogue.
var Chains = []string{"STARKNET", "SOLANA", "BOTANIX", "CITREA", "ALPEN", "GOAT"}

// Tokens returns the catalogue's tokens of the given chains, whose addresses are read as
// the chains read them.
func Tokens(t testing.TB, ids ...string) *tokenlist.Registry {
	t.Helper()
	var list []tokenlist.Chain
	for _, id := range ids {
		rule := evmwire.TokenAddress
		switch id {
		case "SOLANA":
			rule = solwire.TokenAddress
		case "STARKNET":
			rule = starkwire.Address
		}
		list = append(list, tokenlist.Chain{ID: id, Tokens: tokens.Known(id), TokenAddress: rule})
	}
	r, err := tokenlist.New(list...)
	if err != nil {
		t.Fatal(err)
	}
	return r
}
