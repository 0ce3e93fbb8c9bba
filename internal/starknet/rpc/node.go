package rpc

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"time"

	"github.com/swapper-go/swapper/internal/jsonrpc"
	"github.com/swapper-go/swapper/internal/starknet/wire"
)

type (
	// Node is what reading the chain needs of a connection.
	Node = jsonrpc.Node
	// Request is one question.
	Request = jsonrpc.Request
	// Nodes are the nodes at several URLs.
	Nodes = jsonrpc.Nodes
)

// AskAll puts questions whose answers are all needed.
func AskAll(ctx context.Context, node Node, requests []Request) error {
	return jsonrpc.AskAll(ctx, node, requests)
}

// behind is how old the newest block of a node may be before others are asked.
const behind = 2 * time.Minute

// Dial connects to nothing yet. network refuses the chain id of another network; it is
// asked for, with the version of the interface, along with the first request to each
// node, or before it where the request depends on the version.
func Dial(network func(chainID wire.Felt) error, urls []string, transport http.RoundTripper, now func() time.Time) (*Nodes, error) {
	return jsonrpc.Dial(jsonrpc.Dialect{
		Identity:    "starknet_chainId",
		Check:       func(answer json.RawMessage) error { return checkChain(network, answer) },
		Version:     "starknet_specVersion",
		ReadVersion: readVersion,
		Judge:       judge,
		Head: func(_ Request, _ json.RawMessage, result any) (height uint64, late, ok bool) {
			head, ok := result.(*Head)
			if !ok {
				return 0, false, false
			}
			return head.Height, time.Unix(head.Time, 0).Before(now().Add(-behind)), true
		},
		Light: light,
		Unit:  "block",
	}, urls, transport, now)
}

// checkChain judges the chain id that a node names.
func checkChain(network func(chainID wire.Felt) error, answer json.RawMessage) error {
	var id felt
	if json.Unmarshal(answer, &id) != nil || id.IsZero() {
		return errors.New("did not return its chain id")
	}
	if err := network(id.Felt); err != nil {
		return &jsonrpc.ForeignError{Says: err.Error()}
	}
	return nil
}

// light names the calls that a node answers from what it has at hand. A block comes with
// the hashes of its transactions, not with them.
func light(r Request) bool {
	return slices.Contains([]string{"starknet_chainId", "starknet_specVersion", "starknet_call", "starknet_getBlockWithTxHashes", "starknet_getNonce", "starknet_getClassHashAt",
		"starknet_getTransactionReceipt", "starknet_getTransactionStatus"}, r.Method)
}
