package flowtest

import (
	"testing"

	"github.com/swapper-go/swapper/chains/evm"
	"github.com/swapper-go/swapper/chains/solana"
	"github.com/swapper-go/swapper/chains/starknet"
	"github.com/swapper-go/swapper/tokens"
)

// Chains are the chains of the catalogue.
var Chains = []string{"STARKNET", "SOLANA", "BOTANIX", "CITREA", "ALPEN", "GOAT"}

// Tokens returns the catalogue's tokens of the given chains, whose addresses are read as
// the chains read them.
func Tokens(t testing.TB, ids ...string) *tokens.Registry {
	t.Helper()
	var list []tokens.Chain
	for _, id := range ids {
		rule := evm.TokenAddress
		switch id {
		case "SOLANA":
			rule = solana.TokenAddress
		case "STARKNET":
			rule = starknet.TokenAddress
		}
		list = append(list, tokens.Chain{ID: id, Tokens: tokens.Known(id), TokenAddress: rule})
	}
	r, err := tokens.NewRegistry(list...)
	if err != nil {
		t.Fatal(err)
	}
	return r
}
