package wire

import (
	"fmt"
	"slices"

	"github.com/ethereum/go-ethereum/common"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/fault"
)

// DefaultVersion is the contract version that an LP means when it names none.
const DefaultVersion = "v1"

// Native is the address that stands for a chain's own coin wherever a token is named.
var Native = common.Address{}

// Contract is one deployed contract and the height from which its logs can exist.
type Contract struct {
	Address common.Address
	Height  uint64
}

// Deployment is one version of the swap contracts on one network. Everything an
// LP says is compared with it: no address outside of it is ever trusted.
type Deployment struct {
	Version       string // as in v1
	EscrowManager Contract
	BtcRelay      Contract
	VaultManager  Contract
	Execution     common.Address // unused by clients today; may be zero
	ClaimHandlers [4]common.Address
	RefundHandler common.Address // the timelock refund handler
}

// Network is what must be known about one EVM chain. It is a value; a custom
// chain is a Network filled in by the caller and passed through
// [Network.Validate].
type Network struct {
	Chain         string // identifier: CITREA, ...
	Bitcoin       bitcoin.Network
	ChainID       uint64
	Deployments   []Deployment // the first one is the default
	SafeTag       string       // block tag at which a fact is acted on: latest, safe or finalized
	FinalizedTag  string       // block tag at which a fact is final
	PriorityFee   uint64       // wei per gas
	MaxBaseFee    uint64       // wei per gas, cap of the offered base fee; 0 = none
	FeePPM        uint64       // offered base fee in millionths of the block's
	StateDiffFee  bool         // Citrea: every changed byte of state is charged on top of gas
	WrappedNative common.Address
}

// Validate returns an error if a field of n is missing or inconsistent. A
// network that fails must not be used: with a zero contract address money would
// be lost (protocol: chain-evm.md §1.1).
func (n Network) Validate() error {
	switch {
	case n.Chain == "":
		return fault.Invalid("chain", "is required")
	case !n.Bitcoin.Valid():
		return fault.Invalid("bitcoin", "is not a known Bitcoin network")
	case n.ChainID == 0:
		return fault.Invalid("chainId", "is required")
	case len(n.Deployments) == 0:
		return fault.Invalid("deployments", "is required")
	case !validTag(n.SafeTag):
		return fault.Invalid("safeTag", "must be latest, safe or finalized")
	case !validTag(n.FinalizedTag):
		return fault.Invalid("finalizedTag", "must be latest, safe or finalized")
	case n.FeePPM < 1_000_000 || n.FeePPM > 100_000_000:
		return fault.Invalid("feePPM", "must be from 1000000 to 100000000")
	}
	seen := map[string]bool{}
	for i, d := range n.Deployments {
		if err := d.validate(); err != nil {
			return fault.Invalid(fmt.Sprintf("deployments[%d]", i), "%w", err)
		}
		if seen[d.Version] {
			return fault.Invalid(fmt.Sprintf("deployments[%d]", i), "version %s is configured twice", d.Version)
		}
		seen[d.Version] = true
	}
	return nil
}

func (d Deployment) validate() error {
	if d.Version == "" {
		return fmt.Errorf("the version is required")
	}
	parts := []struct {
		name string
		at   common.Address
	}{
		{"escrow manager", d.EscrowManager.Address},
		{"relay", d.BtcRelay.Address},
		{"vault manager", d.VaultManager.Address},
		{"refund handler", d.RefundHandler},
	}
	for _, p := range parts {
		if p.at == Native {
			return fmt.Errorf("the address of the %s is required", p.name)
		}
	}
	seen := map[common.Address]chains.Kind{}
	for _, k := range kinds() {
		at := d.ClaimHandlers[k]
		if at == Native {
			return fmt.Errorf("the address of the %s claim handler is required", k)
		}
		if other, ok := seen[at]; ok {
			return fmt.Errorf("the %s and %s claim handlers have the same address", other, k)
		}
		seen[at] = k
	}
	return nil
}

// Contracts returns the addresses that are contracts of the network.
func (n Network) Contracts() []common.Address {
	var all []common.Address
	for _, d := range n.Deployments {
		all = append(all, d.EscrowManager.Address, d.BtcRelay.Address, d.VaultManager.Address, d.Execution, d.RefundHandler)
		all = append(all, d.ClaimHandlers[:]...)
	}
	all = append(all, n.WrappedNative)
	return slices.DeleteFunc(all, func(a common.Address) bool { return a == Native })
}

// KindOf returns the kind whose claim handler stands at an address.
func (d Deployment) KindOf(claimHandler common.Address) (chains.Kind, bool) {
	i := slices.Index(d.ClaimHandlers[:], claimHandler)
	return chains.Kind(max(i, 0)), i >= 0
}

func validTag(tag string) bool { return tag == "latest" || tag == "safe" || tag == "finalized" }
