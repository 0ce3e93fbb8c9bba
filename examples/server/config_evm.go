package main

import (
	"github.com/ethereum/go-ethereum/common"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/chains/evm"
	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/tokens"
)

// evmConfig is an EVM chain. What is left out is the preset's.
type evmConfig struct {
	RPC       []string          `secret:"url"` // http or https, in order of preference; required
	WebSocket []string          `secret:"url"` // ws or wss: nodes that tell of events, which need not be those of rpc
	ChainID   uint64            // required without a preset
	Contracts []contractsConfig // the first is the one that new swaps use; required without a preset
	Tokens    []tokenConfig     // with the native coin, at the zero address; required without a preset

	SafeBlock, FinalizedBlock string  // latest, safe or finalized: when something is acted on, and is final
	PriorityFee, MaxBaseFee   *uint64 // wei per gas; a MaxBaseFee of 0 is none
	FeePPM                    *uint64 // the base fee that is offered, in millionths of the block's
	StateDiffFee              *bool   // blocks name an l1FeeRate, as Citrea's do
	WrappedNative             *common.Address
}

// contractsConfig is one version of the swap contracts.
type contractsConfig struct {
	Version string // "v1"
	Height  uint64 // of the first block that can hold something of theirs; 0 costs time when a store is rebuilt

	EscrowManager, BtcRelay, VaultManager, Execution common.Address // Execution may be left out
	TimelockRefundHandler                            common.Address
	HashlockClaimHandler, OutputClaimHandler         common.Address
	NoncedOutputClaimHandler, TxIDClaimHandler       common.Address
}

func (evmConfig) listKey() string { return "rpc" }

func (c *evmConfig) factory(id string, on bitcoin.Network) (chains.Factory, error) {
	o, err := c.options(id, on)
	return evm.Custom(o), err
}

// options puts what is configured over the preset.
func (c *evmConfig) options(id string, on bitcoin.Network) (evm.Options, error) {
	o := evm.Options{RPC: c.RPC, WebSocket: c.WebSocket, Tokens: tokens.Known(id)}
	if err := checkRPC(c.RPC); err != nil {
		return o, err
	}
	n, err := evm.Preset(id, on)
	if err != nil {
		if c.ChainID == 0 || len(c.Contracts) == 0 {
			return o, fault.Invalid("contracts", "and chainId are required: this chain has no preset for Bitcoin %s", on)
		}
	}
	if c.ChainID != 0 {
		n.ChainID = c.ChainID
	}
	if len(c.Contracts) > 0 {
		n.Deployments = nil
		for _, k := range c.Contracts {
			n.Deployments = append(n.Deployments, k.deployment())
		}
	}
	override(&n.SafeTag, nonzero(c.SafeBlock))
	override(&n.FinalizedTag, nonzero(c.FinalizedBlock))
	override(&n.PriorityFee, c.PriorityFee)
	override(&n.MaxBaseFee, c.MaxBaseFee)
	override(&n.FeePPM, c.FeePPM)
	override(&n.StateDiffFee, c.StateDiffFee)
	override(&n.WrappedNative, c.WrappedNative)
	o.Network = &n
	if len(c.Tokens) > 0 {
		o.Tokens = listed(c.Tokens, id)
	}
	if len(o.Tokens) == 0 {
		return o, fault.Invalid("tokens", "are required: the tokens of this chain are not known")
	}
	return o, n.Validate()
}

func (k contractsConfig) deployment() evm.Deployment {
	at := func(a common.Address) evm.Contract { return evm.Contract{Address: a, Height: k.Height} }
	d := evm.Deployment{Version: k.Version, EscrowManager: at(k.EscrowManager), BtcRelay: at(k.BtcRelay), VaultManager: at(k.VaultManager),
		Execution: k.Execution, RefundHandler: k.TimelockRefundHandler}
	d.ClaimHandlers[chains.HTLC] = k.HashlockClaimHandler
	d.ClaimHandlers[chains.Onchain] = k.OutputClaimHandler
	d.ClaimHandlers[chains.OnchainNonced] = k.NoncedOutputClaimHandler
	d.ClaimHandlers[chains.OnchainTxID] = k.TxIDClaimHandler
	return d
}
