package devnet

import (
	"context"
	"errors"
	"io"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/internal/devnet/evm"
	"github.com/swapper-go/swapper/internal/devnet/solana"
	"github.com/swapper-go/swapper/internal/devnet/starknet"
	"github.com/swapper-go/swapper/internal/devnet/watchtower"
	pub "github.com/swapper-go/swapper/watchtower"
)

// Watch starts a watchtower that claims on the network's chains, with the network's account for
// it on each. It has servers of its own: those of the network can be told to misbehave.
func (n *Net) Watch(ctx context.Context, o watchtower.Options) (*watchtower.Tower, error) {
	if err := n.watched(&o); err != nil {
		for _, s := range o.Servers {
			err = errors.Join(err, s.Close())
		}
		return nil, err
	}
	return watchtower.Start(ctx, o)
}

// watched adds the network to a watchtower's options, with the servers that have started even if
// another one does not.
func (n *Net) watched(o *watchtower.Options) error {
	o.Bitcoin, o.Now = n.Bitcoin, n.Clock.Now
	if n.EVM != nil {
		if err := watch(o, n.EVM.Serve, n.evmChain, SignEVM(n.EVM.Watchtower)); err != nil {
			return err
		}
	}
	if n.Solana != nil {
		if err := watch(o, n.Solana.Serve, n.solanaChain, SignSolana(n.Solana.Watchtower)); err != nil {
			return err
		}
	}
	if n.Starknet != nil {
		return watch(o, n.Starknet.Serve, n.starknetChain, SignStarknet(n.Starknet.Watchtower.Key))
	}
	return nil
}

// Told is the network as nodes tell it that tell another story of its chains, nil where they tell none.
func (n *Net) Told(e *evm.Net, s *solana.Net, k *starknet.Net) *Net {
	return &Net{Clock: n.Clock, Bitcoin: n.Bitcoin, EVM: e, Solana: s, Starknet: k, LPs: n.LPs, version: n.version}
}

// watch adds a chain to a watchtower's.
func watch[S interface {
	io.Closer
	URL() string
}](o *watchtower.Options, serve func(address string) (S, error), chain func(url string, sockets []string) chains.Factory, by Signer) error {
	s, err := serve("")
	if err != nil {
		return err
	}
	o.Servers = append(o.Servers, s)
	o.Chains = append(o.Chains, pub.Account{Chain: chain(s.URL(), nil), Signer: by})
	return nil
}
