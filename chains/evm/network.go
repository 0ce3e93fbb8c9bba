package evm

import (
	"cmp"

	"github.com/ethereum/go-ethereum/common"

	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/internal/evm/wire"
)

// Network describes an EVM chain and the swap contracts on it. [Preset] returns
// the published ones. For your own chain fill one in, starting from [Settings] or
// from scratch, and pass it to [Custom] as Options.Network.
type Network struct {
	Chain         string          // identifier, for example CITREA
	Bitcoin       bitcoin.Network // the network that the chain's Bitcoin relay follows
	ChainID       uint64          // EIP-155
	Deployments   []Deployment    // the first one is the default
	SafeTag       string          // block tag at which state is acted on: latest, safe or finalized
	FinalizedTag  string          // block tag at which state is final: latest, safe or finalized
	PriorityFee   uint64          // wei per gas
	MaxBaseFee    uint64          // wei per gas, cap of the offered base fee; 0 means no cap
	FeePPM        uint64          // offered base fee in millionths of the block's, 1000000 to 100000000
	StateDiffFee  bool            // every changed byte of state is charged on top of gas, as on Citrea
	WrappedNative common.Address  // the native coin as an ERC-20; may be zero
}

// Deployment is one version of the swap contracts on one network. Contract
// addresses in an LP's data must match it; no other address is trusted.
type Deployment struct {
	Version       string // "": v1, which is assumed when an LP states none
	EscrowManager Contract
	BtcRelay      Contract
	VaultManager  Contract
	Execution     common.Address    // unused by clients today; may be zero
	ClaimHandlers [4]common.Address // by chains.Kind
	RefundHandler common.Address    // the timelock refund handler
}

// Contract is a deployed contract and the block height at which its logs begin.
type Contract struct {
	Address common.Address
	Height  uint64
}

// Preset returns the network that belongs to a Bitcoin network: the published
// contracts and the settings that go with the chain (protocol: chain-evm.md §1). If
// there is no known deployment it returns an error with the code fault.Unsupported and,
// for use with unpublished deployments, the settings that do not depend on where the
// contracts are deployed: everything but ChainID and Deployments. Of a chain that is not
// known they are generic, and untested.
func Preset(chain string, on bitcoin.Network) (Network, error) {
	n, err := wire.Preset(chain, on)
	if err != nil {
		n, _ = wire.Settings(chain, on)
	}
	return described(n), err
}

// Validate returns an error if a field of n is missing or inconsistent. Opening the
// chain performs the same check. Errors have the code fault.InvalidInput and name
// the field.
func (n Network) Validate() error { return n.wire().Validate() }

// wire is the network as package wire has it.
func (n Network) wire() wire.Network {
	w := wire.Network{Chain: n.Chain, Bitcoin: n.Bitcoin, ChainID: n.ChainID, SafeTag: n.SafeTag, FinalizedTag: n.FinalizedTag,
		PriorityFee: n.PriorityFee, MaxBaseFee: n.MaxBaseFee, FeePPM: n.FeePPM, StateDiffFee: n.StateDiffFee, WrappedNative: n.WrappedNative}
	for _, d := range n.Deployments {
		w.Deployments = append(w.Deployments, wire.Deployment{Version: cmp.Or(d.Version, wire.DefaultVersion),
			EscrowManager: wire.Contract(d.EscrowManager), BtcRelay: wire.Contract(d.BtcRelay), VaultManager: wire.Contract(d.VaultManager),
			Execution: d.Execution, ClaimHandlers: d.ClaimHandlers, RefundHandler: d.RefundHandler})
	}
	return w
}

// described is the reverse of [Network.wire].
func described(w wire.Network) Network {
	n := Network{Chain: w.Chain, Bitcoin: w.Bitcoin, ChainID: w.ChainID, SafeTag: w.SafeTag, FinalizedTag: w.FinalizedTag,
		PriorityFee: w.PriorityFee, MaxBaseFee: w.MaxBaseFee, FeePPM: w.FeePPM, StateDiffFee: w.StateDiffFee, WrappedNative: w.WrappedNative}
	for _, d := range w.Deployments {
		n.Deployments = append(n.Deployments, Deployment{Version: d.Version,
			EscrowManager: Contract(d.EscrowManager), BtcRelay: Contract(d.BtcRelay), VaultManager: Contract(d.VaultManager),
			Execution: d.Execution, ClaimHandlers: d.ClaimHandlers, RefundHandler: d.RefundHandler})
	}
	return n
}
