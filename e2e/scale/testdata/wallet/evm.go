//go:build evm

package main

import (
	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/chains/evm"
	"github.com/swapper-go/swapper/tokens"
)

func init() {
	family = func(n network) chains.Factory {
		var c struct {
			RPC     string
			Network evm.Network
			Listed  []tokens.Token
		}
		n.read("evm", &c)
		return evm.Custom(evm.Options{RPC: []string{c.RPC}, Network: &c.Network, Tokens: c.Listed})
	}
}
