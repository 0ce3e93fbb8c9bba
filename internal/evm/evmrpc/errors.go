package evmrpc

import (
	"strings"

	"github.com/swapper-go/swapper/internal/jsonrpc"
)

// CodeOf returns the JSON-RPC code of an error, 0 if it has none.
func CodeOf(err error) int { return jsonrpc.CodeOf(err) }

// Says reports whether a text contains one of others.
func Says(text string, any ...string) bool { return jsonrpc.Says(text, any...) }

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
