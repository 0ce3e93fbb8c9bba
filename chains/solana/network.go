package solana

import (
	"fmt"
	"slices"

	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/internal/solana/wire"
)

// ChainID is the identifier of the chain, on whichever cluster.
const ChainID = "SOLANA"

// defaultVersion is the program version assumed when an LP does not state one.
const defaultVersion = wire.V1

// Network describes a Solana cluster and the swap programs on it. [Preset] returns
// the published ones. For a cluster of your own fill one in and pass it to [Custom]
// as Options.Network. Addresses and hashes are base58.
type Network struct {
	Bitcoin     bitcoin.Network // the network that the Bitcoin relays follow
	Genesis     string          // genesis hash of the cluster, which every node must have
	Deployments []Deployment    // the first one is the default
}

// Deployment is one version of the swap program, with the Bitcoin relay that its
// claims by Bitcoin proof are checked against. The program in an LP's data must be
// this one; no other is trusted.
type Deployment struct {
	Version     string // v1 or v2
	SwapProgram string
	BtcRelay    string
}

// Preset returns the network that belongs to a Bitcoin network: the published
// programs (protocol: chain-solana.md §1). It returns an error with the code
// fault.Unsupported if there is no known deployment. The published documentation
// lists version v2 on the main network too, which the network's own clients do not
// use: it is there only if Options.Version asks for it.
func Preset(on bitcoin.Network) (Network, error) {
	w, ok := wire.NetworkFor(on)
	if !ok {
		return Network{}, fault.New(fault.Unsupported, "no swap programs are known on Solana for Bitcoin's %s", on)
	}
	return described(w.Bitcoin, w.Cluster, w.Programs), nil
}

func described(on bitcoin.Network, c wire.Cluster, programs []wire.Programs) Network {
	n := Network{Bitcoin: on, Genesis: wire.Genesis(c)}
	for _, p := range programs {
		n.Deployments = append(n.Deployments, Deployment{p.Version, p.Swap.String(), p.Relay.String()})
	}
	return n
}

// Validate returns an error if a field of n is missing or inconsistent. Opening the
// chain performs the same check. Errors have the code fault.InvalidInput and name
// the field.
func (n Network) Validate() error {
	_, err := n.programs()
	return err
}

// programs reads the deployments.
func (n Network) programs() ([]wire.Programs, error) {
	switch {
	case !n.Bitcoin.Valid():
		return nil, fault.Invalid("bitcoin", "must be a Bitcoin network, not %d", int(n.Bitcoin))
	case len(n.Deployments) == 0:
		return nil, fault.Invalid("deployments", "is required")
	}
	if _, err := wire.ParseKey(n.Genesis); err != nil {
		return nil, fault.Invalid("genesis", "must be the genesis hash of the cluster: 32 bytes in base58")
	}
	var all []wire.Programs
	for i, d := range n.Deployments {
		field := fmt.Sprintf("deployments[%d].", i)
		if d.Version != wire.V1 && d.Version != wire.V2 {
			return nil, fault.Invalid(field+"version", "is %q, must be v1 or v2", d.Version)
		}
		p := wire.Programs{Version: d.Version}
		for _, of := range []struct {
			name, text string
			to         *wire.Key
		}{{"swapProgram", d.SwapProgram, &p.Swap}, {"btcRelay", d.BtcRelay, &p.Relay}} {
			key, err := wire.ParseKey(of.text)
			if err != nil || key.IsZero() {
				return nil, fault.Invalid(field+of.name, "must be the address of a program: %w", wire.ErrKeyForm)
			}
			*of.to = key
		}
		if slices.ContainsFunc(all, func(o wire.Programs) bool { return o.Version == p.Version || o.Swap == p.Swap }) {
			return nil, fault.Invalid(field+"version", "there is an earlier deployment of %s, or with the same program", d.Version)
		}
		all = append(all, p)
	}
	return all, nil
}

// preferring returns the network with a version as its default. A published one that
// clients do not use unless they are told to is added.
func (n Network) preferring(version string) (Network, error) {
	at := slices.IndexFunc(n.Deployments, func(d Deployment) bool { return d.Version == version })
	var first Deployment
	if at >= 0 {
		first = n.Deployments[at]
	} else {
		w, _ := wire.NetworkFor(n.Bitcoin)
		other := slices.IndexFunc(w.Other, func(p wire.Programs) bool { return p.Version == version })
		if other < 0 || n.Genesis != wire.Genesis(w.Cluster) {
			return Network{}, fault.Invalid("version", "%s of the swap program is not deployed on Solana for Bitcoin's %s", version, n.Bitcoin)
		}
		p := w.Other[other]
		first = Deployment{p.Version, p.Swap.String(), p.Relay.String()}
	}
	others := slices.DeleteFunc(slices.Clone(n.Deployments), func(d Deployment) bool { return d.Version == version })
	n.Deployments = append([]Deployment{first}, others...)
	return n, nil
}
