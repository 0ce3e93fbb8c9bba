package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"slices"

	"github.com/swapper-go/swapper"
	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/chains/bitcoin/mempoolspace"
	"github.com/swapper-go/swapper/chains/evm"
	"github.com/swapper-go/swapper/chains/solana"
	"github.com/swapper-go/swapper/chains/starknet"
	"github.com/swapper-go/swapper/tokens"
)

// own is a network with contracts of its own, in the form that examples/devnet prints. A file
// needs the members of one chain alone.
type own struct {
	Bitcoin struct{ REST string } // a mempool.space API; the public one if it is missing
	LPs     []string              // base URLs
	EVM     struct {
		RPC     string
		Network evm.Network
		Listed  []tokens.Token
	}
	Solana struct {
		RPC, Genesis, ProgramVersion string
		Programs                     map[string]struct{ SwapProgram, BtcRelay string } // by version
		Listed                       []tokens.Token
	}
	Starknet struct {
		RPC     string
		Network starknet.Network
		Listed  []tokens.Token
	}
}

func readOwn(file string) (n *own, err error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal(text, &n); err != nil || n == nil {
		return nil, fmt.Errorf("%s: is not in the form that examples/devnet prints: %w", file, err)
	}
	return n, nil
}

// factory is the chain of the records, with the network's own contracts. rpc may be nil.
func (n *own) factory(o options, rpc []string) (chains.Factory, error) {
	at := func(url string) []string {
		if rpc != nil {
			return rpc
		}
		return []string{url}
	}
	switch {
	case o.chain == solana.ChainID && n.Solana.Genesis != "":
		network := solana.Network{Bitcoin: o.network, Genesis: n.Solana.Genesis}
		for version, p := range n.Solana.Programs {
			network.Deployments = append(network.Deployments, solana.Deployment{Version: version, SwapProgram: p.SwapProgram, BtcRelay: p.BtcRelay})
		}
		slices.SortFunc(network.Deployments, func(a, b solana.Deployment) int { return cmp.Compare(a.Version, b.Version) })
		return solana.Custom(solana.Options{RPC: at(n.Solana.RPC), Version: n.Solana.ProgramVersion, Network: &network, Tokens: n.Solana.Listed}), nil
	case o.chain == starknet.ChainID && n.Starknet.Network.ChainID != "":
		n.Starknet.Network.Bitcoin = o.network
		return starknet.Custom(starknet.Options{RPC: at(n.Starknet.RPC), Network: &n.Starknet.Network, Tokens: n.Starknet.Listed}), nil
	case o.chain == n.EVM.Network.Chain:
		n.EVM.Network.Bitcoin = o.network
		return evm.Custom(evm.Options{RPC: at(n.EVM.RPC), Network: &n.EVM.Network, Tokens: n.EVM.Listed}), nil
	}
	return nil, fmt.Errorf("the file of -contracts has no contracts of %s", o.chain)
}

// config adds what an own network needs of a client's configuration.
func (n *own) config(c *swapper.Config) (err error) {
	if len(c.LPs.URLs) == 0 {
		c.LPs.URLs = n.LPs
	}
	if n.Bitcoin.REST != "" {
		c.Bitcoin, err = mempoolspace.New(mempoolspace.Options{Network: c.Network, URLs: []string{n.Bitcoin.REST}, HTTP: http.DefaultClient})
	}
	return err
}
