package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/netip"
	"os"
	"path/filepath"

	"github.com/swapper-go/swapper"
	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/chains/evm"
)

// config is the configuration file: one JSON object. Unknown members are
// refused, since one that is mistyped and ignored may be the one that protects.
type config struct {
	Listen   string // address to listen on; ":3000"
	BasePath string // of the operations; "/api"
	Store    string // file of the swaps, beside the configuration unless absolute; "swaps.db"
	LogLevel slog.Level

	BitcoinNetwork string              // MAINNET, TESTNET3, TESTNET4
	Chains         map[string][]string // RPC addresses by chain: CITREA, BOTANIX, ALPEN, GOAT
	LPs            []string            // liquidity providers; those of the network's registry if empty
	Local          string              // what examples/devnet printed, in place of the three above

	Auth           []entryConfig // in order, the first that matches counts; required
	RateLimit      limit         // for entries without their own; required
	TrustedProxies []netip.Prefix
	CORS           *cors
	HTTPS          *struct{ CertPath, KeyPath string }

	folder string
}

// load reads the file and checks what can be checked before anything is opened.
func load(path string) (*config, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	c := &config{Listen: ":3000", BasePath: "/api", Store: "swaps.db", folder: filepath.Dir(path)}
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	d.UseNumber()
	if err := d.Decode(c); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("%s: something follows the object", path)
	}
	switch {
	case len(c.Auth) == 0:
		return nil, errors.New(`auth: is required; [{"type": "none", "name": "public"}] admits everybody`)
	case c.RateLimit.WindowMs <= 0 || c.RateLimit.MaxRequests <= 0:
		return nil, errors.New("rateLimit: windowMs and maxRequests must be above 0")
	case c.Local != "" && (c.BitcoinNetwork != "" || len(c.Chains) > 0 || len(c.LPs) > 0):
		return nil, errors.New("local: stands in place of bitcoinNetwork, chains and lps")
	case c.Local == "" && len(c.Chains) == 0:
		return nil, errors.New("chains: at least one is required")
	}
	return c, nil
}

// path is where a file of the configuration lies.
func (c *config) path(name string) string {
	if filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(c.folder, name)
}

// swaps is the client's configuration but for the store.
func (c *config) swaps(log *slog.Logger) (swapper.Config, error) {
	if c.Local != "" {
		return local(c.path(c.Local), log)
	}
	network, err := c.network()
	if err != nil {
		return swapper.Config{}, err
	}
	factories, err := c.factories()
	return swapper.Config{Network: network, Chains: factories, LPs: swapper.LPs{URLs: c.LPs}, Logger: log}, err
}

func (c *config) network() (bitcoin.Network, error) {
	switch c.BitcoinNetwork {
	case "MAINNET":
		return bitcoin.Mainnet, nil
	case "TESTNET", "TESTNET3":
		return bitcoin.Testnet3, nil
	case "TESTNET4":
		return bitcoin.Testnet4, nil
	}
	return 0, fmt.Errorf("bitcoinNetwork: must be MAINNET, TESTNET3 or TESTNET4, not %q", c.BitcoinNetwork)
}

// factories returns the chains in the order in which the protocol lists them.
func (c *config) factories() ([]chains.Factory, error) {
	presets := []struct {
		id   string
		make func(evm.Options) chains.Factory
	}{{evm.ChainBotanix, evm.Botanix}, {evm.ChainCitrea, evm.Citrea}, {evm.ChainAlpen, evm.Alpen}, {evm.ChainGoat, evm.Goat}}
	var out []chains.Factory
	for _, p := range presets {
		if rpc := c.Chains[p.id]; len(rpc) > 0 {
			out = append(out, p.make(evm.Options{RPC: rpc}))
		}
	}
	if len(out) != len(c.Chains) {
		return nil, errors.New("chains: only BOTANIX, CITREA, ALPEN and GOAT are known, each with at least one RPC address")
	}
	return out, nil
}
