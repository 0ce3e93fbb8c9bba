package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"

	"github.com/swapper-go/swapper"
	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/chains/bitcoin/mempoolspace"
	"github.com/swapper-go/swapper/chains/evm"
	"github.com/swapper-go/swapper/chains/solana"
	"github.com/swapper-go/swapper/chains/starknet"
	"github.com/swapper-go/swapper/storage/bolt"
	"github.com/swapper-go/swapper/verify"
)

// own is what a wallet has of its own, as the file of -verify says it.
type own struct {
	Network string              `json:"network"` // mainnet, testnet3 or testnet4
	Store   string              `json:"store"`   // file of what was agreed on
	Nodes   map[string][]string `json:"nodes"`   // URLs by chain
	Bitcoin []string            `json:"bitcoin"` // URLs of REST servers; none: mempool.space
}

// readOwn reads the file, and what a service's answers are compared with.
func readOwn(path string) (o own, c verify.Config, err error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return o, c, err
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(&o); err != nil {
		return o, c, misuse{fmt.Errorf("%s: %w", path, err)}
	}
	if c.Network, err = bitcoin.ParseNetwork(o.Network); err != nil {
		return o, c, misuse{fmt.Errorf("%s: network: %w", path, err)}
	}
	if o.Store == "" {
		return o, c, misuse{fmt.Errorf("%s: store: must name a file", path)}
	}
	solanas, starknets := solana.Mainnet, starknet.Mainnet
	if c.Network != bitcoin.Mainnet {
		solanas, starknets = solana.Devnet, starknet.Sepolia
	}
	for _, id := range slices.Sorted(maps.Keys(o.Nodes)) {
		var f chains.Factory
		switch rpc := o.Nodes[id]; id {
		case "CITREA":
			f = evm.Citrea(evm.Options{RPC: rpc})
		case "BOTANIX":
			f = evm.Botanix(evm.Options{RPC: rpc})
		case "ALPEN":
			f = evm.Alpen(evm.Options{RPC: rpc})
		case "GOAT":
			f = evm.Goat(evm.Options{RPC: rpc})
		case "SOLANA":
			f = solanas(solana.Options{RPC: rpc})
		case "STARKNET":
			f = starknets(starknet.Options{RPC: rpc})
		default:
			return o, c, misuse{fmt.Errorf("%s: nodes: %q is not a chain; chains are CITREA, BOTANIX, ALPEN, GOAT, SOLANA and STARKNET", path, id)}
		}
		c.Chains = append(c.Chains, f)
	}
	if len(o.Bitcoin) > 0 {
		c.Bitcoin, err = mempoolspace.New(mempoolspace.Options{Network: c.Network, URLs: o.Bitcoin})
	}
	return o, c, err
}

// distrust returns a service that verifies what another one says, and what ends it.
func distrust(ctx context.Context, remote swapper.Service, path string) (swapper.Service, func() error, error) {
	o, c, err := readOwn(path)
	if err != nil {
		return nil, nil, err
	}
	store, err := bolt.Open(ctx, o.Store, bolt.Options{})
	if err != nil {
		return nil, nil, err
	}
	c.Store = store
	v, err := verify.Wrap(remote, c)
	if err != nil {
		return nil, nil, errors.Join(err, store.Close())
	}
	closes := func() error {
		var err error
		if closer, ok := v.(io.Closer); ok {
			err = closer.Close()
		}
		if closer, ok := c.Bitcoin.(io.Closer); ok {
			err = errors.Join(err, closer.Close())
		}
		return errors.Join(err, store.Close())
	}
	return v, closes, nil
}
