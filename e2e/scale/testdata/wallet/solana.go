//go:build solana

package main

import (
	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/chains/solana"
	"github.com/swapper-go/swapper/tokens"
)

func init() {
	family = func(n network) chains.Factory {
		var c struct {
			RPC, Genesis, ProgramVersion string
			Programs                     map[string]solana.Deployment
			Listed                       []tokens.Token
		}
		n.read("solana", &c)
		on := solana.Network{Bitcoin: bitcoin.Regtest, Genesis: c.Genesis}
		for version, p := range c.Programs {
			p.Version = version
			on.Deployments = append(on.Deployments, p)
		}
		return solana.Custom(solana.Options{RPC: []string{c.RPC}, Version: c.ProgramVersion, Network: &on, Tokens: c.Listed})
	}
}
