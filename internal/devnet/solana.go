package devnet

import (
	"context"

	"github.com/swapper-go/swapper/chains"
	chainsolana "github.com/swapper-go/swapper/chains/solana"
	"github.com/swapper-go/swapper/internal/devnet/solana"
	"github.com/swapper-go/swapper/internal/solana/wire"
	"github.com/swapper-go/swapper/tokens"
)

// describeSolana is what a client needs to know of the Solana network.
func (n *Net) describeSolana() *SolanaDescription {
	d := &SolanaDescription{Chain: "SOLANA", RPC: n.Solana.URL(), Socket: n.Solana.Server().SocketURL(), Genesis: n.Solana.Genesis().String(), Version: n.version,
		Programs: map[string]SolanaDeployment{}, Tokens: map[string]string{"SOL": wire.WSOL.String(), "WBTC": solana.WBTC.String(), "USDC": solana.USDC.String()},
		Listed: n.SolanaTokens()}
	for _, p := range n.Solana.Programs() {
		d.Programs[p.Version] = SolanaDeployment{p.Swap.String(), p.Relay.String()}
	}
	return d
}

// SolanaConfig is the Solana network in the library's own types.
func (n *Net) SolanaConfig() chainsolana.Network {
	c := chainsolana.Network{Bitcoin: n.Bitcoin.Network(), Genesis: n.Solana.Genesis().String()}
	for _, p := range n.Solana.Programs() {
		c.Deployments = append(c.Deployments, chainsolana.Deployment{Version: p.Version, SwapProgram: p.Swap.String(), BtcRelay: p.Relay.String()})
	}
	return c
}

// SolanaChain returns Solana for the library's configuration. New swaps use the
// version of the program that the LPs use.
func (n *Net) SolanaChain() chains.Factory {
	return n.solanaChain(n.Solana.URL(), n.sockets(n.Solana.Server().SocketURL()))
}

func (n *Net) solanaChain(url string, sockets []string) chains.Factory {
	network := n.SolanaConfig()
	return chainsolana.Custom(chainsolana.Options{RPC: []string{url}, WebSocket: sockets, Version: n.version, Network: &network, Tokens: n.SolanaTokens()})
}

// SolanaTokens are the tokens that exist on the Solana network.
func (n *Net) SolanaTokens() (all []tokens.Token) {
	for _, t := range tokens.Known(chainsolana.ChainID) {
		if t.Ticker == "SOL" || t.Ticker == "WBTC" || t.Ticker == "USDC" {
			all = append(all, t)
		}
	}
	return all
}

// Chains returns the smart chains for the library's configuration.
func (n *Net) Chains() []chains.Factory {
	all := []chains.Factory{n.Chain()}
	if n.Solana != nil {
		all = append(all, n.SolanaChain())
	}
	if n.Starknet != nil {
		all = append(all, n.StarknetChain())
	}
	return all
}

// AllTokens are the tokens of the smart chains.
func (n *Net) AllTokens() []tokens.Token {
	all := n.Tokens()
	if n.Solana != nil {
		all = append(all, n.SolanaTokens()...)
	}
	if n.Starknet != nil {
		all = append(all, n.StarknetTokens()...)
	}
	return all
}

// party is an account of the Solana network as a party of swaps, nil if there is no
// such network.
func (n *Net) party(of func() (*solana.Account, error)) (*solana.Party, error) {
	if n.Solana == nil {
		return nil, nil
	}
	p, err := n.Solana.Network().Version(n.version)
	if err != nil {
		return nil, err
	}
	a, err := of()
	return &solana.Party{Net: n.Solana, Account: a, Programs: p}, err
}

// lpOnSolana is the account of the i-th LP, which owns as much as the first.
func (n *Net) lpOnSolana(ctx context.Context, i int) (*solana.Party, error) {
	return n.party(func() (*solana.Account, error) {
		if i == 0 {
			return n.Solana.LP, nil
		}
		a := n.Solana.NewAccount()
		if err := n.Solana.Fund(ctx, a.Address, n.Solana.Lamports(n.Solana.Watchtower.Address)); err != nil {
			return nil, err
		}
		const rich = 1_000_000_000_000_000
		for _, mint := range []wire.Key{solana.WBTC, solana.USDC} {
			if err := n.Solana.Mint(ctx, mint, a.Address, rich); err != nil {
				return nil, err
			}
		}
		return a, nil
	})
}
