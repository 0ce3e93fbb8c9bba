//go:build js && !nosolana

package main

import (
	"encoding/json"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/chains/solana"
)

func init() {
	families[solana.ChainID] = func(on bitcoin.Network, path string, text json.RawMessage) (chains.Factory, error) {
		var c struct {
			chain
			Version string          `json:"version"`
			Network *solana.Network `json:"network"`
		}
		if err := strictly(path, text, &c); err != nil {
			return nil, err
		}
		if c.Network == nil {
			n, err := solana.Preset(on)
			if err != nil {
				return nil, err
			}
			c.Network = &n
		}
		return solana.Custom(solana.Options{RPC: c.RPC, Tokens: c.Tokens, Version: c.Version, Network: c.Network}), nil
	}
}
