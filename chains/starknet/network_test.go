package starknet_test

import (
	"strings"
	"testing"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/chains/starknet"
	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/internal/starknet/wire"
	"github.com/swapper-go/swapper/internal/trial"
	"github.com/swapper-go/swapper/tokens"
)

// The presets are the published contracts.
func TestPresets(t *testing.T) {
	t.Parallel()
	for on, id := range map[bitcoin.Network]string{bitcoin.Mainnet: wire.Mainnet, bitcoin.Testnet3: wire.Sepolia, bitcoin.Testnet4: wire.Sepolia} {
		n, err := starknet.Preset(on)
		if err != nil || n.ChainID != id || n.Bitcoin != on || len(n.Deployments) != 1 || n.Validate() != nil {
			t.Fatalf("%s: %+v, %v", on, n, err)
		}
		w, _ := wire.NetworkFor(on)
		d, want := n.Deployments[0], w.Deployments[0]
		if d.Version != "v1" || d.EscrowManager.Address != wire.Hex64(want.EscrowManager.Address) || d.EscrowManager.Height != want.EscrowManager.Height || d.BtcRelay.Height != want.BtcRelay.Height ||
			d.VaultManager.Address != wire.Hex64(want.VaultManager.Address) || d.RefundHandler != wire.Hex64(want.RefundHandler) || d.ClaimHandlers[chains.OnchainTxID] != wire.Hex64(want.ClaimHandlers[chains.OnchainTxID]) {
			t.Errorf("%s: %+v", on, d)
		}
	}
	for _, on := range []bitcoin.Network{bitcoin.Regtest, bitcoin.Signet} {
		if _, err := starknet.Preset(on); fault.CodeOf(err) != fault.Unsupported {
			t.Errorf("%s: %v", on, err)
		}
	}
}

// A network with a gap is not opened: money would go to a zero address.
func TestNetworksWithGaps(t *testing.T) {
	t.Parallel()
	preset := func() starknet.Network {
		return trial.Must(starknet.Preset(bitcoin.Mainnet))(t)
	}
	for name, spoil := range map[string]func(*starknet.Network){
		"chainId":                       func(n *starknet.Network) { n.ChainID = "" },
		"deployments":                   func(n *starknet.Network) { n.Deployments = nil },
		"deployments[0].escrowManager":  func(n *starknet.Network) { n.Deployments[0].EscrowManager.Address = "" },
		"deployments[0].btcRelay":       func(n *starknet.Network) { n.Deployments[0].BtcRelay.Address = "0x0" },
		"deployments[0].vaultManager":   func(n *starknet.Network) { n.Deployments[0].VaultManager.Address = "vault" },
		"deployments[0].claimHandlers[": func(n *starknet.Network) { n.Deployments[0].ClaimHandlers[2] = "0x" + strings.Repeat("f", 64) },
		"deployments[0]":                func(n *starknet.Network) { n.Deployments[0].ClaimHandlers[2] = n.Deployments[0].ClaimHandlers[1] },
		"deployments[1]":                func(n *starknet.Network) { n.Deployments = append(n.Deployments, n.Deployments[0]) },
	} {
		n := preset()
		spoil(&n)
		err := n.Validate()
		if fault.CodeOf(err) != fault.InvalidInput {
			t.Errorf("%s: %v", name, err)
		}
		wants(t, name, err, name)
		s := &scene{t: t, node: newScripted()}
		if _, err := starknet.Custom(starknet.Options{RPC: []string{"http://localhost:1"}, Network: &n}).Open(t.Context(), s.env()); fault.CodeOf(err) != fault.InvalidInput {
			t.Errorf("%s is opened: %v", name, err)
		}
	}
}

// A node of another network, contracts that are not there, and a configuration that does
// not go together do not open; a node that is down does.
func TestOpening(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	url := s.node.serve(t)
	open := func(f chains.Factory, env chains.Env) error {
		c, err := f.Open(t.Context(), env)
		if err == nil {
			trial.Do(t, c.(interface{ Close() error }).Close())
		}
		return err
	}
	testnet := s.env()
	testnet.Network = bitcoin.Testnet4
	regtest := s.env()
	regtest.Network = bitcoin.Regtest
	o := starknet.Options{RPC: []string{url}}
	for name, c := range map[string]struct {
		f    chains.Factory
		env  chains.Env
		code fault.Code
	}{
		"a node of another network":         {starknet.Sepolia(o), testnet, fault.InvalidInput},
		"the main network for a testnet":    {starknet.Mainnet(o), testnet, fault.Unsupported},
		"no contracts":                      {starknet.Mainnet(o), regtest, fault.Unsupported},
		"a custom network without one":      {starknet.Custom(o), s.env(), fault.InvalidInput},
		"no URL":                            {starknet.Mainnet(starknet.Options{}), s.env(), fault.InvalidInput},
		"a URL of another scheme":           {starknet.Mainnet(starknet.Options{RPC: []string{"ftp://x"}}), s.env(), fault.InvalidInput},
		"tokens without STRK":               {starknet.Mainnet(starknet.Options{RPC: o.RPC, Tokens: []tokens.Token{{Chain: starknet.ChainID, Ticker: "X", Address: "0x7"}}}), s.env(), fault.InvalidInput},
		"a node of a network that is known": {starknet.Mainnet(o), s.env(), ""},
		"a node that is down":               {starknet.Mainnet(starknet.Options{RPC: []string{"http://127.0.0.1:1"}}), s.env(), ""},
	} {
		err := open(c.f, c.env)
		if c.code == "" && err != nil || c.code != "" && fault.CodeOf(err) != c.code {
			t.Errorf("%s: %v", name, err)
		}
	}
	w, _ := wire.NetworkFor(bitcoin.Mainnet)
	s.node.absent[wire.Hex64(w.Deployments[0].BtcRelay.Address)] = true
	wants(t, "a relay that is not there", open(starknet.Mainnet(o), s.env()), "deployments", "no contract")
}

// All tokens of the catalogue are there, STRK as the native one, and a gas drop of STRK
// does not go with STRK.
func TestInfo(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	info := s.chain.Info()
	if info.ID != "STARKNET" || info.Native.Ticker != "STRK" || info.GasDropNative || info.Default != "v1" || len(info.Contracts) != 8 {
		t.Errorf("%+v", info)
	}
	if len(info.Versions) != 1 || !info.Versions[0].LPInit || !info.Versions[0].Vaults || info.Versions[0].Streams {
		t.Errorf("%+v", info.Versions)
	}
	var tickers []string
	for _, token := range info.Tokens {
		tickers = append(tickers, token.Ticker)
		if again, err := s.chain.TokenAddress(token.Address); err != nil || again != token.Address {
			t.Errorf("%s: %s, %v", token.Ticker, again, err)
		}
	}
	for _, want := range []string{"ETH", "STRK", "WBTC", "TBTC", "USDC", "USDT", "strkBTC"} {
		if !strings.Contains(strings.Join(tickers, " "), want) {
			t.Errorf("%s is missing in %v", want, tickers)
		}
	}
}
