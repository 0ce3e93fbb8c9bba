package devnet

import (
	"context"

	"github.com/swapper-go/swapper/internal/devnet/solana"
	"github.com/swapper-go/swapper/internal/devnet/solana/party"
	"github.com/swapper-go/swapper/internal/solana/wire"
)

// describeSolana is what a client needs to know of the Solana network.
func (n *Net) describeSolana() *SolanaDescription {
	d := &SolanaDescription{Chain: "SOLANA", RPC: n.Solana.URL(), Socket: n.Solana.Server().SocketURL(), Genesis: n.Solana.Genesis().String(), Version: n.version,
		Programs: map[string]SolanaDeployment{}, Tokens: map[string]string{"SOL": wire.WSOL.String(), "WBTC": solana.WBTC.String(), "USDC": solana.USDC.String()}}
	for _, p := range n.Solana.Programs() {
		d.Programs[p.Version] = SolanaDeployment{p.Swap.String(), p.Relay.String()}
	}
	return d
}

// party is an account of the Solana network as a party of swaps, nil if there is no
// such network.
func (n *Net) party(of func() (*solana.Account, error)) (*party.Party, error) {
	if n.Solana == nil {
		return nil, nil
	}
	p, err := n.Solana.Network().Version(n.version)
	if err != nil {
		return nil, err
	}
	a, err := of()
	return &party.Party{Net: n.Solana, Account: a, Programs: p}, err
}

// WatchtowerOnSolana is the watchtower's account there; nil without Options.Solana.
func (n *Net) WatchtowerOnSolana() (*party.Party, error) {
	return n.party(func() (*solana.Account, error) { return n.Solana.Watchtower, nil })
}

// lpOnSolana is the account of the i-th LP, which owns as much as the first.
func (n *Net) lpOnSolana(ctx context.Context, i int) (*party.Party, error) {
	return n.party(func() (*solana.Account, error) {
		if i == 0 {
			return n.Solana.LP, nil
		}
		a := n.Solana.NewAccount()
		if err := n.Solana.Fund(ctx, a.Address, n.Solana.Lamports(n.Solana.User.Address)); err != nil {
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
