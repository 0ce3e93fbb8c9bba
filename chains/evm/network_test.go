package evm

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/google/go-cmp/cmp"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/internal/vectors"
	"github.com/swapper-go/swapper/tokens"
)

func TestVectorsNetworks(t *testing.T) {
	type token struct {
		Address         string `json:"address"`
		Decimals        int    `json:"decimals"`
		DisplayDecimals int    `json:"displayDecimals"`
	}
	type answer struct {
		Error                      bool
		EVMChainID                 int64
		EscrowManager              string
		EscrowManagerHeight        uint64
		SpvVaultManager            string
		SpvVaultManagerHeight      uint64
		BtcRelay                   string
		BtcRelayHeight             uint64
		ClaimHandlers              map[string]string
		TimelockRefundHandler      string
		MaxFeeRatePerGas           uint64 `json:",string"`
		PriorityFee                uint64 `json:",string"`
		FeeMultiplierPPM           uint64 `json:",string"`
		Tokens                     map[string]token
		Timeouts                   map[string]int
		SupportsInitWithoutClaimer bool
		MaxHeadersPerTx            int
		MaxForkHeadersPerTx        int
		Config                     struct {
			SafeBlockTag           string
			FinalizedBlockTag      string
			MaxLogsBlockRange      int
			MaxLogTopics           int
			MaxParallelLogRequests int
			MaxParallelCalls       int
			FinalityCheckStrategy  struct {
				Type    string
				DelayMs int
			}
		}
	}
	vectors.Each(t, "chain-evm", "networks", func(t *testing.T, c *vectors.Case) {
		var in struct{ Chain, BitcoinNetwork string }
		c.Input(t, &in)
		var want answer
		c.Expected(t, &want)
		n, err := Preset(in.Chain, bitcoinNetwork(t, in.BitcoinNetwork))
		bare := !want.Error && err != nil // what the reference sets up without contracts
		if want.Error || bare {
			if fault.CodeOf(err) != fault.Unsupported {
				t.Fatalf("got %+v, %v; want a refusal", n, err)
			}
		}
		if want.Error {
			return
		}
		if bare {
			c.Differ(t, "evm-no-contracts")
			n, err = Preset(in.Chain, bitcoin.Testnet4) // of the same chain
		}
		if err != nil {
			t.Fatal(err)
		}
		if err := n.Validate(); err != nil {
			t.Fatal(err)
		}
		d := n.Deployments[0]
		got := answer{
			EVMChainID:    int64(n.ChainID),
			EscrowManager: d.EscrowManager.Address.Hex(), EscrowManagerHeight: d.EscrowManager.Height,
			SpvVaultManager: d.VaultManager.Address.Hex(), SpvVaultManagerHeight: d.VaultManager.Height,
			BtcRelay: d.BtcRelay.Address.Hex(), BtcRelayHeight: d.BtcRelay.Height,
			ClaimHandlers:         map[string]string{},
			TimelockRefundHandler: d.RefundHandler.Hex(),
			MaxFeeRatePerGas:      n.MaxBaseFee, PriorityFee: n.PriorityFee, FeeMultiplierPPM: n.FeePPM,
			Tokens: map[string]token{},
			Timeouts: map[string]int{
				"claimWithSecret": int(SendTimeout / time.Second), "claimWithTxData": int(SendTimeout / time.Second),
				"refund": int(SendTimeout / time.Second), "spvClaim": int(SendTimeout / time.Second),
				"claimGrace": int(chains.ClaimGrace / time.Second), "refundGrace": int(chains.RefundGrace / time.Second),
				"authGrace": int(chains.AuthGrace / time.Second),
			},
			SupportsInitWithoutClaimer: true,
			MaxHeadersPerTx:            MainHeaders, MaxForkHeadersPerTx: ForkHeaders,
		}
		for _, k := range kinds() {
			got.ClaimHandlers[k.String()] = d.ClaimHandlers[k].Hex()
		}
		for _, tok := range tokens.Known(in.Chain) {
			got.Tokens[tok.Ticker] = token{tok.Address, tok.Decimals, tok.DisplayDecimals}
		}
		got.Config.SafeBlockTag, got.Config.FinalizedBlockTag = n.SafeTag, n.FinalizedTag
		got.Config.MaxLogsBlockRange, got.Config.MaxLogTopics = LogRange, LogTopicValues
		got.Config.MaxParallelLogRequests, got.Config.MaxParallelCalls = ParallelLogReads, ParallelCalls
		got.Config.FinalityCheckStrategy.Type = "timer"
		got.Config.FinalityCheckStrategy.DelayMs = int(FinalityPoll / time.Millisecond)
		if bare {
			got.EVMChainID = map[string]int64{"ALPEN": -1, "GOAT": 2345}[in.Chain] // -1 while there is none
			got.EscrowManager, got.SpvVaultManager, got.BtcRelay, got.TimelockRefundHandler = "", "", "", ""
			got.EscrowManagerHeight, got.SpvVaultManagerHeight, got.BtcRelayHeight = 0, 0, 0
			for k := range got.ClaimHandlers {
				got.ClaimHandlers[k] = ""
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("network differs (-want +got):\n%s", diff)
		}
	})
}

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
			"EscrowManager": escrowABI, "SpvVaultManager": vaultABI, "BtcRelay": relayABI, "ERC20": erc20ABI,
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
	for _, p := range published() {
		n, err := Preset(p.chain, p.bitcoin)
		if err != nil {
			t.Fatal(err)
		}
		named := fmt.Sprintf("%+v", n)
		for _, a := range n.contracts() {
			named = strings.ReplaceAll(named, a.Hex(), "")
		}
		if i := strings.Index(strings.ReplaceAll(named, Native.Hex(), ""), "0x"); i >= 0 {
			t.Errorf("%s on %v: an address is left out of its contracts: %s", p.chain, p.bitcoin, named)
		}
	}
}
