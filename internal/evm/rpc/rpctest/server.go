// Package rpctest is a node of an EVM chain whose answers a test writes out.
package rpctest

import (
	"net/http/httptest"
	"testing"

	"github.com/swapper-go/swapper/internal/jsonrpc/rpctest"
)

// ChainID is the chain that servers name when they are asked.
const ChainID = 7

// Call is a call as a server sees it.
type Call = rpctest.Call

// Serve is [rpctest.Serve].
func Serve(t *testing.T, handle func(calls []Call) any) *httptest.Server {
	t.Helper()
	return rpctest.Serve(t, handle)
}

// Result answers a call; eth_chainId is always answered with [ChainID].
func Result(c Call, value any) any {
	if c.Method == "eth_chainId" {
		value = "0x7"
	}
	return rpctest.Result(c, value)
}

// Refusal answers a call with an error.
func Refusal(c Call, code int, text string) any { return rpctest.Refusal(c, code, text) }
