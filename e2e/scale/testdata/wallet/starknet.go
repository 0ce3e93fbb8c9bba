//go:build starknet

package main

import (
	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/chains/starknet"
	"github.com/swapper-go/swapper/tokens"
)

func init() {
	family = func(n network) chains.Factory {
		var c struct {
			RPC     string
			Network starknet.Network
			Listed  []tokens.Token
		}
		n.read("starknet", &c)
		return starknet.Custom(starknet.Options{RPC: []string{c.RPC}, Network: &c.Network, Tokens: c.Listed})
	}
}
