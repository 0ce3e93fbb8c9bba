package main

import (
	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/chains/starknet"
	"github.com/swapper-go/swapper/fault"
)

// starknetConfig is Starknet: the main network with Bitcoin's, Sepolia with its testnets,
// or the network that is described. What is left out is the preset's.
type starknetConfig struct {
	RPC       []string                  `secret:"url"` // http or https, in order of preference; required
	WebSocket []string                  `secret:"url"` // ws or wss: nodes that tell of events, which need not be those of rpc
	ChainID   string                    // as nodes name it; required without a preset
	Contracts []starknetContractsConfig // the first is the one that new swaps use; required without a preset
	Tokens    []tokenConfig             // with STRK, in which fees are paid

	network *starknet.Network // in place of ChainID and Contracts
}

// starknetContractsConfig is one version of the swap contracts; addresses are 0x and
// hexadecimal digits.
type starknetContractsConfig struct {
	Version string // "v1"
	Height  uint64 // of the first block that can hold something of theirs

	EscrowManager, BtcRelay, VaultManager      string
	TimelockRefundHandler                      string
	HashlockClaimHandler, OutputClaimHandler   string
	NoncedOutputClaimHandler, TxIDClaimHandler string
}

func (starknetConfig) listKey() string { return "rpc" }

func (c *starknetConfig) factory(_ string, on bitcoin.Network) (chains.Factory, error) {
	if err := checkRPC(c.RPC); err != nil {
		return nil, err
	}
	o := starknet.Options{RPC: c.RPC, WebSocket: c.WebSocket}
	n, err := starknet.Preset(on)
	switch {
	case c.network != nil:
		n = *c.network
	case err != nil && (c.ChainID == "" || len(c.Contracts) == 0):
		return nil, fault.Invalid("contracts", "and chainId are required: Starknet has no preset for Bitcoin %s", on)
	case err != nil:
		n = starknet.Network{Bitcoin: on}
	}
	override(&n.ChainID, nonzero(c.ChainID))
	if len(c.Contracts) > 0 {
		n.Deployments = nil
		for _, k := range c.Contracts {
			n.Deployments = append(n.Deployments, k.deployment())
		}
	}
	o.Network = &n
	if len(c.Tokens) > 0 {
		o.Tokens = listed(c.Tokens, starknet.ChainID)
	}
	return starknet.Custom(o), n.Validate()
}

func (k starknetContractsConfig) deployment() starknet.Deployment {
	at := func(address string) starknet.Contract {
		return starknet.Contract{Address: address, Height: k.Height}
	}
	d := starknet.Deployment{Version: k.Version, EscrowManager: at(k.EscrowManager), BtcRelay: at(k.BtcRelay), VaultManager: at(k.VaultManager), RefundHandler: k.TimelockRefundHandler}
	if d.Version == "" {
		d.Version = "v1"
	}
	d.ClaimHandlers[chains.HTLC] = k.HashlockClaimHandler
	d.ClaimHandlers[chains.Onchain] = k.OutputClaimHandler
	d.ClaimHandlers[chains.OnchainNonced] = k.NoncedOutputClaimHandler
	d.ClaimHandlers[chains.OnchainTxID] = k.TxIDClaimHandler
	return d
}
