package wire

import (
	"fmt"
	"strings"
	"testing"

	"github.com/ethereum/go-ethereum/common"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/internal/trial"
	"github.com/swapper-go/swapper/internal/vectors"
)

func TestVectorsABI(t *testing.T) {
	type param struct {
		Name    string `json:"name"`
		Type    string `json:"type"`
		Indexed bool   `json:"indexed"`
	}
	vectors.Each(t, "chain-evm", "abi", func(t *testing.T, c *vectors.Case) {
		var in struct{ Contract, Kind, Signature string }
		c.Input(t, &in)
		of, ok := map[string]interfaceReader{
			"EscrowManager": EscrowABI, "SpvVaultManager": VaultABI, "BtcRelay": RelayABI, "ERC20": ERC20ABI,
		}[in.Contract]
		if !ok {
			t.Fatalf("unknown contract %s", in.Contract)
		}
		switch in.Kind {
		case "function":
			for _, m := range of().Methods {
				if m.Sig != in.Signature {
					continue
				}
				outputs := []string{}
				for _, o := range m.Outputs {
					outputs = append(outputs, o.Type.String())
				}
				vectors.SameJSON(t, c.Want(t), map[string]any{
					"selector": "0x" + common.Bytes2Hex(m.ID), "mutability": m.StateMutability, "outputs": outputs})
				return
			}
		case "event":
			for _, e := range of().Events {
				if e.Sig != in.Signature {
					continue
				}
				inputs := []param{}
				for _, i := range e.Inputs {
					inputs = append(inputs, param{i.Name, i.Type.String(), i.Indexed})
				}
				vectors.SameJSON(t, c.Want(t), map[string]any{"topic0": e.ID, "inputs": inputs})
				return
			}
		}
		t.Fatalf("no %s %s", in.Kind, in.Signature)
	})
}

func TestValidateNetwork(t *testing.T) {
	good := presetOf(t, "CITREA/MAINNET")
	spoil := func(change func(n *Network, d *Deployment)) Network {
		n, d := good, good.Deployments[0]
		change(&n, &d)
		if n.Deployments != nil {
			n.Deployments = append([]Deployment{d}, n.Deployments[1:]...)
		}
		return n
	}
	for _, c := range []struct {
		name  string
		field string
		n     Network
	}{
		{"no chain", "chain", spoil(func(n *Network, _ *Deployment) { n.Chain = "" })},
		{"no chain id", "chainId", spoil(func(n *Network, _ *Deployment) { n.ChainID = 0 })},
		{"unknown Bitcoin network", "bitcoin", spoil(func(n *Network, _ *Deployment) { n.Bitcoin = bitcoin.Network(99) })},
		{"no deployment", "deployments", spoil(func(n *Network, _ *Deployment) { n.Deployments = nil })},
		{"bad tag", "safeTag", spoil(func(n *Network, _ *Deployment) { n.SafeTag = "pending" })},
		{"base fee below the block's", "feePPM", spoil(func(n *Network, _ *Deployment) { n.FeePPM = 999_999 })},
		{"no escrow manager", "deployments[0]", spoil(func(_ *Network, d *Deployment) { d.EscrowManager = Contract{} })},
		{"no refund handler", "deployments[0]", spoil(func(_ *Network, d *Deployment) { d.RefundHandler = common.Address{} })},
		{"no claim handler", "deployments[0]", spoil(func(_ *Network, d *Deployment) { d.ClaimHandlers[chains.Onchain] = common.Address{} })},
		{"handlers alike", "deployments[0]", spoil(func(_ *Network, d *Deployment) { d.ClaimHandlers[chains.HTLC] = d.ClaimHandlers[chains.Onchain] })},
		{"version twice", "deployments[1]", spoil(func(n *Network, d *Deployment) { n.Deployments = []Deployment{*d, *d} })},
	} {
		t.Run(c.name, func(t *testing.T) {
			var e *fault.Error
			if err := c.n.Validate(); !asFault(err, &e) || e.Field != c.field {
				t.Errorf("got %v, want an error about %s", err, c.field)
			}
		})
	}
	if err := good.Validate(); err != nil {
		t.Error(err)
	}
}

// Whatever contract a preset names, nobody can be paid there.
func TestContractsOfANetwork(t *testing.T) {
	for _, p := range published {
		n := trial.Must(Preset(p.chain, p.bitcoin))(t)
		named := fmt.Sprintf("%+v", n)
		for _, a := range n.Contracts() {
			named = strings.ReplaceAll(named, a.Hex(), "")
		}
		if i := strings.Index(strings.ReplaceAll(named, Native.Hex(), ""), "0x"); i >= 0 {
			t.Errorf("%s on %v: an address is left out of its contracts: %s", p.chain, p.bitcoin, named)
		}
	}
}
