package main

import (
	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/chains/solana"
	"github.com/swapper-go/swapper/fault"
)

// solanaConfig is Solana: the main cluster with Bitcoin's main network, devnet with its
// testnets, or the cluster whose genesis hash is given. What is left out is the
// preset's.
type solanaConfig struct {
	RPC       []string        `secret:"url"` // http or https, in order of preference; required
	WebSocket []string        `secret:"url"` // ws or wss: nodes that tell of events, which need not be those of rpc
	Genesis   string          // genesis hash of the cluster, base58; required without a preset
	Programs  []programConfig // required without a preset
	Version   string          // of the swap program that new swaps use, v1 or v2
	Tokens    []tokenConfig   // with SOL, at the mint of its wrapped form
}

// programConfig is one version of the swap program.
type programConfig struct {
	Version               string // v1 or v2
	SwapProgram, BtcRelay string // addresses
}

func (solanaConfig) listKey() string { return "rpc" }

func (c *solanaConfig) factory(_ string, on bitcoin.Network) (chains.Factory, error) {
	o := solana.Options{RPC: c.RPC, WebSocket: c.WebSocket, Version: c.Version}
	if err := checkRPC(c.RPC); err != nil {
		return nil, err
	}
	if c.Version != "" && c.Version != "v1" && c.Version != "v2" {
		return nil, fault.Invalid("version", "is %q, must be v1 or v2", c.Version)
	}
	n, err := solana.Preset(on)
	if err != nil {
		if c.Genesis == "" || len(c.Programs) == 0 {
			return nil, fault.Invalid("programs", "and genesis are required: Solana has no preset for Bitcoin %s", on)
		}
		n = solana.Network{Bitcoin: on}
	}
	override(&n.Genesis, nonzero(c.Genesis))
	if len(c.Programs) > 0 {
		n.Deployments = nil
		for _, p := range c.Programs {
			n.Deployments = append(n.Deployments, solana.Deployment(p))
		}
	}
	o.Network = &n
	if len(c.Tokens) > 0 {
		o.Tokens = listed(c.Tokens, solana.ChainID)
	}
	return solana.Custom(o), n.Validate()
}
