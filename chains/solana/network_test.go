package solana

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/internal/jsonrpc/rpctest"
	"github.com/swapper-go/swapper/internal/solana/wire"
	"github.com/swapper-go/swapper/tokens"
)

const mainnetGenesis = "5eykt4UsFv8P8NJdTREpY1vzqKqZKvdpKuc147dw2N9d"

// node is a node with a genesis hash and some programs.
func node(t *testing.T, genesis string, programs ...string) string {
	t.Helper()
	now := time.Now()
	clock := slices.Concat(make([]byte, 32), []byte{byte(now.Unix()), byte(now.Unix() >> 8), byte(now.Unix() >> 16), byte(now.Unix() >> 24), 0, 0, 0, 0})
	return rpctest.Serve(t, func(calls []rpctest.Call) any {
		var all []any
		for _, c := range calls {
			in := map[string]any{"context": map[string]any{"slot": 100}}
			var params []json.RawMessage
			_ = json.Unmarshal(c.Params, &params)
			switch c.Method {
			case "getGenesisHash":
				all = append(all, rpctest.Result(c, genesis))
				continue
			case "getLatestBlockhash":
				in["value"] = map[string]any{"blockhash": wire.Key{7}.String(), "lastValidBlockHeight": 250}
			case "getMultipleAccounts":
				var keys []string
				_ = json.Unmarshal(params[0], &keys)
				var found []any
				for _, k := range keys {
					switch {
					case k == wire.ClockData.String():
						found = append(found, map[string]any{"owner": wire.ClockData.String(), "lamports": 1, "data": []string{base64.StdEncoding.EncodeToString(clock), "base64"}})
					case slices.Contains(programs, k):
						found = append(found, map[string]any{"owner": wire.SystemProgram.String(), "lamports": 1, "executable": true, "data": []string{"", "base64"}})
					default:
						found = append(found, nil)
					}
				}
				in["value"] = found
			}
			all = append(all, rpctest.Result(c, in))
		}
		return all
	}).URL
}

func env(on bitcoin.Network) chains.Env {
	return chains.Env{Network: on, Now: time.Now, Rand: rand.Reader, HTTP: http.DefaultTransport, Log: slog.New(slog.DiscardHandler)}
}

func deployed(on bitcoin.Network) (all []string) {
	w, _ := wire.NetworkFor(on)
	for _, p := range append(w.Programs, w.Other...) {
		all = append(all, p.Swap.String(), p.Relay.String())
	}
	return all
}

// A chain is opened only where its nodes serve the right cluster, and its programs are
// there; a node that says nothing is asked later.
func TestOpen(t *testing.T) {
	t.Parallel()
	good := node(t, mainnetGenesis, deployed(bitcoin.Mainnet)...)
	dev, _ := Preset(bitcoin.Testnet4)
	own := Network{Bitcoin: bitcoin.Regtest, Genesis: wire.Key{3}.String(), Deployments: dev.Deployments}
	lowered := dev
	lowered.Deployments = dev.Deployments[:1]
	for name, c := range map[string]struct {
		factory chains.Factory
		on      bitcoin.Network
		code    fault.Code
		says    string
		first   string // default version
	}{
		"mainnet":                      {Mainnet(Options{RPC: []string{good}}), bitcoin.Mainnet, "", "", "v1"},
		"mainnet, v2 asked for":        {Mainnet(Options{RPC: []string{good}, Version: "v2"}), bitcoin.Mainnet, "", "", "v2"},
		"devnet":                       {Devnet(Options{RPC: []string{node(t, wire.Genesis(wire.Devnet), deployed(bitcoin.Testnet4)...)}}), bitcoin.Testnet4, "", "", "v1"},
		"devnet, v2":                   {Devnet(Options{RPC: []string{node(t, wire.Genesis(wire.Devnet), deployed(bitcoin.Testnet3)...)}, Version: "v2"}), bitcoin.Testnet3, "", "", "v2"},
		"own cluster":                  {Custom(Options{RPC: []string{node(t, own.Genesis, deployed(bitcoin.Testnet4)...)}, Network: &own}), bitcoin.Regtest, "", "", "v1"},
		"nobody answers":               {Mainnet(Options{RPC: []string{"http://127.0.0.1:1"}}), bitcoin.Mainnet, "", "", "v1"},
		"another cluster's node":       {Mainnet(Options{RPC: []string{node(t, wire.Genesis(wire.Devnet))}}), bitcoin.Mainnet, fault.Upstream, "serves the cluster with the genesis hash", ""},
		"a node of no known cluster":   {Mainnet(Options{RPC: []string{node(t, wire.Key{9}.String())}}), bitcoin.Mainnet, fault.Upstream, "genesis", ""},
		"programs that are not there":  {Mainnet(Options{RPC: []string{node(t, mainnetGenesis)}}), bitcoin.Mainnet, fault.InvalidInput, "names 4hfUykhqmD7ZRvNh1HuzVKEY7ToENixtdUKZspNDCrEM", ""},
		"mainnet with a test network":  {Mainnet(Options{RPC: []string{good}}), bitcoin.Testnet4, fault.Unsupported, "mainnet-beta", ""},
		"devnet with the main network": {Devnet(Options{RPC: []string{good}}), bitcoin.Mainnet, fault.Unsupported, "devnet", ""},
		"a version that is not there":  {Custom(Options{RPC: []string{good}, Network: &lowered, Version: "v3"}), bitcoin.Testnet4, fault.InvalidInput, "v3", ""},
		"no node":                      {Mainnet(Options{}), bitcoin.Mainnet, fault.InvalidInput, "rpc", ""},
		"no network":                   {Custom(Options{RPC: []string{good}}), bitcoin.Mainnet, fault.InvalidInput, "network", ""},
		"another Bitcoin network":      {Custom(Options{RPC: []string{good}, Network: &dev}), bitcoin.Mainnet, fault.InvalidInput, "network", ""},
		"no SOL":                       {Mainnet(Options{RPC: []string{good}, Tokens: []tokens.Token{{Chain: ChainID, Address: wire.Key{5}.String()}}}), bitcoin.Mainnet, fault.InvalidInput, "wrapped SOL", ""},
	} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
			defer cancel()
			chain, err := c.factory.Open(ctx, env(c.on))
			if c.says != "" || c.code != "" {
				if err == nil || !strings.Contains(err.Error(), c.says) || c.code != fault.Upstream && fault.CodeOf(err) != c.code {
					t.Fatalf("%v (%s), want %s saying %q", err, fault.CodeOf(err), c.code, c.says)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			info := chain.Info()
			if info.Default != c.first || info.ID != ChainID || info.Native.Ticker != "SOL" && c.on == bitcoin.Mainnet || !info.GasDropNative {
				t.Errorf("%+v", info)
			}
			for _, v := range info.Versions {
				if v.LPInit != (v.Name == "v2") || v.Vaults {
					t.Errorf("%+v", v)
				}
			}
			if closer, ok := chain.(interface{ Close() error }); !ok || closer.Close() != nil {
				t.Error("it cannot be closed")
			}
		})
	}
}

func TestNetworkIsValidated(t *testing.T) {
	t.Parallel()
	good, err := Preset(bitcoin.Testnet3)
	if err != nil || good.Validate() != nil || len(good.Deployments) != 2 {
		t.Fatalf("%+v, %v", good, err)
	}
	if _, err := Preset(bitcoin.Regtest); fault.CodeOf(err) != fault.Unsupported {
		t.Errorf("a preset for regtest: %v", err)
	}
	first := good.Deployments[0]
	with := func(change func(*Deployment)) []Deployment {
		d := first
		change(&d)
		return []Deployment{d}
	}
	for field, n := range map[string]Network{
		"bitcoin":                    {Bitcoin: 77, Genesis: good.Genesis, Deployments: good.Deployments},
		"genesis":                    {Bitcoin: good.Bitcoin, Genesis: "here", Deployments: good.Deployments},
		"deployments":                {Bitcoin: good.Bitcoin, Genesis: good.Genesis},
		"deployments[0].version":     {Bitcoin: good.Bitcoin, Genesis: good.Genesis, Deployments: with(func(d *Deployment) { d.Version = "v9" })},
		"deployments[0].swapProgram": {Bitcoin: good.Bitcoin, Genesis: good.Genesis, Deployments: with(func(d *Deployment) { d.SwapProgram = strings.Repeat("1", 32) })},
		"deployments[0].btcRelay":    {Bitcoin: good.Bitcoin, Genesis: good.Genesis, Deployments: with(func(d *Deployment) { d.BtcRelay = "" })},
		"deployments[1].version":     {Bitcoin: good.Bitcoin, Genesis: good.Genesis, Deployments: []Deployment{first, first}},
	} {
		var f *fault.Error
		if err := n.Validate(); !asFault(err, &f) || f.Code != fault.InvalidInput || f.Field != field {
			t.Errorf("%s: %v", field, err)
		}
	}
}

func asFault(err error, e **fault.Error) bool { return errors.As(err, e) }

func TestRandomAddresses(t *testing.T) {
	t.Parallel()
	c := &chain{}
	seen := map[string]bool{}
	for range 20 {
		a, err := c.RandomAddress(rand.Reader)
		if err != nil || seen[a] {
			t.Fatalf("%s, %v", a, err)
		}
		if again, err := wire.Address(a); err != nil || again != a {
			t.Errorf("%s: %v", a, err)
		}
		seen[a] = true
	}
	if _, err := c.RandomAddress(strings.NewReader("short")); err == nil {
		t.Error("an address without randomness")
	}
}
