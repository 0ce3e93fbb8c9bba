package rpc

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/ethereum/go-ethereum/accounts/abi"
	"github.com/ethereum/go-ethereum/common/hexutil"

	"github.com/swapper-go/swapper/internal/jsonrpc"
)

// CodeOf returns the JSON-RPC code of an error, 0 if it has none.
func CodeOf(err error) int { return jsonrpc.CodeOf(err) }

// Says reports whether a text contains one of others.
func Says(text string, any ...string) bool { return jsonrpc.Says(text, any...) }

// Known returns a node's error, whose text in lower case is text, with the first of words
// that it says as what callers are shown of it.
func Known(err error, text string, words []string) error {
	return jsonrpc.Known(err, jsonrpc.Said(text, words...))
}

// Refusal returns the error of a transaction that was tried, of which callers are shown
// what the contract says, or in known words what is missing.
func Refusal(err error) error {
	if e, ok := errors.AsType[*jsonrpc.Error](err); ok {
		var data hexutil.Bytes
		if json.Unmarshal(e.Data, &data) == nil {
			if reason, err := abi.UnpackRevert(data); err == nil {
				return jsonrpc.Known(e, fmt.Sprintf("execution reverted: %.200s", reason))
			}
		}
	}
	return Known(err, strings.ToLower(err.Error()), []string{"insufficient funds", "out of gas", "execution reverted"})
}

// tooWide reports whether a node refuses a search of logs because of its size
// (protocol: chain-evm.md §1.4; nodes beyond those of the page use other codes
// with the same words).
func tooWide(err error) bool {
	switch CodeOf(err) {
	case -32005, -32008:
		return true
	case -32000, -32600, -32602, -32603, -32614, -32701, -32001:
		return Says(strings.ToLower(err.Error()), "query exceeds max results", "block range", "range is too", "range too", "too many results", "query returned more than",
			"response size", "limited to", "max range", "maximum range", "exceeds the range", "too large")
	}
	return false
}
