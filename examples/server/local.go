package main

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"math/big"
	"os"

	"github.com/swapper-go/swapper"
	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/chains/bitcoin/mempoolspace"
	"github.com/swapper-go/swapper/chains/evm"
	"github.com/swapper-go/swapper/nostr"
	"github.com/swapper-go/swapper/swap"
	"github.com/swapper-go/swapper/swap/price"
	"github.com/swapper-go/swapper/tokens"
)

// local is the configuration for a network that examples/devnet runs, from what
// it printed:
//
//	go run ./examples/devnet -mine 5s > local.json
//	go run ./examples/server -config config.json    # with "local": "local.json"
func local(path string, log *slog.Logger) (swapper.Config, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return swapper.Config{}, err
	}
	var d struct {
		Bitcoin struct{ REST string }
		EVM     struct {
			RPC     string
			Network evm.Network
			Listed  []tokens.Token
		}
		LPs   []string
		Nostr string
	}
	if err := json.Unmarshal(text, &d); err != nil {
		return swapper.Config{}, fmt.Errorf("%s: %w", path, err)
	}
	backend, err := mempoolspace.New(mempoolspace.Options{Network: bitcoin.Regtest, URLs: []string{d.Bitcoin.REST}})
	if err != nil {
		return swapper.Config{}, fmt.Errorf("%s: %w", path, err)
	}
	c := swapper.Config{
		Network: bitcoin.Regtest, Bitcoin: backend, Logger: log,
		Chains: []chains.Factory{evm.Custom(evm.Options{RPC: []string{d.EVM.RPC}, Network: &d.EVM.Network, Tokens: d.EVM.Listed})},
		LPs:    swapper.LPs{URLs: d.LPs, AllowHTTP: true},
		Prices: price.Fixed{USD: 0.001, Prices: map[string]*big.Int{ // micro-sats per token
			"CITREA-CBTC": big.NewInt(1e14), "CITREA-WBTC": big.NewInt(1e14), "CITREA-USDC": big.NewInt(1e9)}},
	}
	if d.Nostr != "" {
		m, err := nostr.New(nostr.Options{Network: bitcoin.Regtest, Relays: []string{d.Nostr}})
		if err != nil {
			return swapper.Config{}, fmt.Errorf("%s: %w", path, err)
		}
		c.Messenger = swap.OverNostr(m)
	}
	return c, nil
}
