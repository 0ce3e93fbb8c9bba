package address

import (
	"testing"

	"github.com/swapper-go/swapper/chains/bitcoin"
	evmwire "github.com/swapper-go/swapper/internal/evm/wire"
	solwire "github.com/swapper-go/swapper/internal/solana/wire"
	starkwire "github.com/swapper-go/swapper/internal/starknet/wire"
	"github.com/swapper-go/swapper/internal/trial"
)

// ruleOnly is a smart chain of which only the address rule is there.
type ruleOnly struct {
	id   string
	rule func(s string) (string, error)
}

func (c ruleOnly) ID() string                       { return c.id }
func (c ruleOnly) Address(s string) (string, error) { return c.rule(s) }

func chainsNamed(ids ...string) []Chain {
	out := make([]Chain, len(ids))
	for i, id := range ids {
		rule := evmwire.Address
		switch id {
		case "SOLANA":
			rule = solwire.Address
		case "STARKNET":
			rule = starkwire.Address
		}
		out[i] = ruleOnly{id, rule}
	}
	return out
}

func parser(t testing.TB, network string, chains ...string) *Parser {
	t.Helper()
	n := trial.Must(bitcoin.ParseNetwork(network))(t)
	return trial.Must(New(Config{Network: n, Chains: chainsNamed(chains...)}))(t)
}
