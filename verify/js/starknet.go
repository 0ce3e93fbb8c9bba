//go:build js && !nostarknet

package main

import (
	"encoding/json"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/chains/starknet"
)

func init() {
	families[starknet.ChainID] = func(on bitcoin.Network, path string, text json.RawMessage) (chains.Factory, error) {
		var c struct {
			chain
			Network *starknet.Network `json:"network"`
		}
		if err := strictly(path, text, &c); err != nil {
			return nil, err
		}
		if c.Network == nil {
			n, err := starknet.Preset(on)
			if err != nil {
				return nil, err
			}
			c.Network = &n
		}
		return starknet.Custom(starknet.Options{RPC: c.RPC, Tokens: c.Tokens, Network: c.Network}), nil
	}
}
