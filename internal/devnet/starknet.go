package devnet

import (
	"context"

	"github.com/swapper-go/swapper/chains"
	chainstarknet "github.com/swapper-go/swapper/chains/starknet"
	"github.com/swapper-go/swapper/internal/devnet/starknet"
	"github.com/swapper-go/swapper/internal/devnet/starknet/contracts"
	"github.com/swapper-go/swapper/internal/starknet/wire"
	"github.com/swapper-go/swapper/tokens"
)

// describeStarknet is what a client needs to know of the Starknet network.
func (n *Net) describeStarknet() *StarknetDescription {
	d := &StarknetDescription{Chain: chainstarknet.ChainID, RPC: n.Starknet.URL(), ChainID: n.Starknet.Network().ChainID, Network: n.StarknetConfig(),
		Tokens: map[string]string{}, Listed: n.StarknetTokens()}
	for _, t := range d.Listed {
		d.Tokens[t.Ticker] = t.Address
	}
	return d
}

// StarknetConfig is the Starknet network in the library's own types.
func (n *Net) StarknetConfig() chainstarknet.Network {
	w := n.Starknet.Network()
	c := chainstarknet.Network{Bitcoin: w.Bitcoin, ChainID: w.ChainID}
	contract := func(c wire.Contract) chainstarknet.Contract {
		return chainstarknet.Contract{Address: wire.Hex64(c.Address), Height: c.Height}
	}
	for _, d := range w.Deployments {
		p := chainstarknet.Deployment{Version: d.Version, EscrowManager: contract(d.EscrowManager), BtcRelay: contract(d.BtcRelay), VaultManager: contract(d.VaultManager),
			RefundHandler: wire.Hex64(d.RefundHandler)}
		for i, at := range d.ClaimHandlers {
			p.ClaimHandlers[i] = wire.Hex64(at)
		}
		c.Deployments = append(c.Deployments, p)
	}
	return c
}

// StarknetChain returns Starknet for the library's configuration.
func (n *Net) StarknetChain() chains.Factory {
	return n.starknetChain(n.Starknet.URL(), n.sockets(n.Starknet.Server().SocketURL()))
}

func (n *Net) starknetChain(url string, sockets []string) chains.Factory {
	network := n.StarknetConfig()
	return chainstarknet.Custom(chainstarknet.Options{RPC: []string{url}, WebSocket: sockets, Network: &network, Tokens: n.StarknetTokens()})
}

// StarknetTokens are the tokens of the Starknet network that the LPs deal in.
func (n *Net) StarknetTokens() (all []tokens.Token) {
	for _, t := range tokens.Known(chainstarknet.ChainID) {
		if t.Ticker == "STRK" || t.Ticker == "WBTC" || t.Ticker == "USDC" {
			all = append(all, t)
		}
	}
	return all
}

// lpOnStarknet is the account of the i-th LP, which owns at least as much as the first.
func (n *Net) lpOnStarknet(ctx context.Context, i int) (*contracts.Party, error) {
	if n.Starknet == nil {
		return nil, nil
	}
	if i == 0 {
		return n.Starknet.Party(n.Starknet.LP), nil
	}
	a := n.Starknet.NewAccount()
	for _, token := range []wire.Felt{wire.STRK, starknet.WBTC, starknet.USDC} {
		has, err := n.Starknet.Balance(token, n.Starknet.LP.Address)
		if err != nil {
			return nil, err
		}
		// The first LP has put a part of it into the contracts by now.
		if err := n.Starknet.Mint(ctx, token, a.Address, has.Lsh(has, 2)); err != nil {
			return nil, err
		}
	}
	return n.Starknet.Party(a), a.Deploy(ctx)
}
