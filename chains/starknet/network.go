package starknet

import (
	"fmt"

	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/internal/starknet/wire"
)

// ChainID is the identifier of the chain, on whichever network.
const ChainID = "STARKNET"

// Network describes a Starknet network and the swap contracts on it. [Preset] returns
// the published ones. For a network of your own fill one in and pass it to [Custom] as
// Options.Network. Addresses are 0x and hexadecimal digits.
type Network struct {
	Bitcoin     bitcoin.Network // the network that the Bitcoin relay follows
	ChainID     string          // as nodes name it: SN_MAIN, SN_SEPOLIA, or one of your own
	Deployments []Deployment    // the first one is the default
}

// Deployment is one version of the swap contracts on one network. Contract addresses
// in an LP's data must match it; no other address is trusted.
type Deployment struct {
	Version       string // for example v1
	EscrowManager Contract
	BtcRelay      Contract
	VaultManager  Contract
	ClaimHandlers [4]string // by chains.Kind
	RefundHandler string    // the timelock refund handler
}

// Contract is a deployed contract and the block height at which its events begin.
type Contract struct {
	Address string
	Height  uint64
}

// Preset returns the network that belongs to a Bitcoin network: the published contracts
// (protocol: chain-starknet.md §1). It returns an error with the code fault.Unsupported
// if there is no known deployment.
func Preset(on bitcoin.Network) (Network, error) {
	w, ok := wire.NetworkFor(on)
	if !ok {
		return Network{}, fault.New(fault.Unsupported, "no swap contracts are known on Starknet for Bitcoin's %s", on)
	}
	n := Network{Bitcoin: w.Bitcoin, ChainID: w.ChainID}
	for _, d := range w.Deployments {
		p := Deployment{Version: d.Version, EscrowManager: described(d.EscrowManager), BtcRelay: described(d.BtcRelay), VaultManager: described(d.VaultManager), RefundHandler: wire.Hex64(d.RefundHandler)}
		for i, at := range d.ClaimHandlers {
			p.ClaimHandlers[i] = wire.Hex64(at)
		}
		n.Deployments = append(n.Deployments, p)
	}
	return n, nil
}

func described(c wire.Contract) Contract { return Contract{wire.Hex64(c.Address), c.Height} }

// Validate returns an error if a field of n is missing or inconsistent. Opening the
// chain performs the same check. Errors have the code fault.InvalidInput and name the
// field.
func (n Network) Validate() error {
	_, err := n.wire()
	return err
}

// wire is the network as package wire has it.
func (n Network) wire() (wire.Network, error) {
	w := wire.Network{Bitcoin: n.Bitcoin, ChainID: n.ChainID}
	for i, d := range n.Deployments {
		p := wire.Deployment{Version: d.Version}
		p.EscrowManager.Height, p.BtcRelay.Height, p.VaultManager.Height = d.EscrowManager.Height, d.BtcRelay.Height, d.VaultManager.Height
		type place struct {
			name, text string
			to         *wire.Felt
		}
		all := []place{{"escrowManager", d.EscrowManager.Address, &p.EscrowManager.Address}, {"btcRelay", d.BtcRelay.Address, &p.BtcRelay.Address},
			{"vaultManager", d.VaultManager.Address, &p.VaultManager.Address}, {"refundHandler", d.RefundHandler, &p.RefundHandler}}
		for k, text := range d.ClaimHandlers {
			all = append(all, place{fmt.Sprintf("claimHandlers[%d]", k), text, &p.ClaimHandlers[k]})
		}
		for _, a := range all {
			at, err := wire.ParseAddress(a.text)
			if err != nil {
				return wire.Network{}, fault.Invalid(fmt.Sprintf("deployments[%d].%s", i, a.name), "%w", err)
			}
			*a.to = at
		}
		w.Deployments = append(w.Deployments, p)
	}
	return w, w.Validate()
}
