//go:build js && !noevm

package main

import (
	"encoding/json"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/chains/evm"
)

func init() {
	for _, id := range []string{"CITREA", "BOTANIX", "ALPEN", "GOAT"} {
		families[id] = func(on bitcoin.Network, path string, text json.RawMessage) (chains.Factory, error) {
			var c struct {
				chain
				Network *evm.Network `json:"network"`
			}
			if err := strictly(path, text, &c); err != nil {
				return nil, err
			}
			if c.Network == nil {
				n, err := evm.Preset(id, on)
				if err != nil {
					return nil, err
				}
				c.Network = &n
			}
			return evm.Custom(evm.Options{RPC: c.RPC, Tokens: c.Tokens, Network: c.Network}), nil
		}
	}
}
