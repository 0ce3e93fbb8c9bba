package starknet

import (
	"github.com/swapper-go/swapper/internal/devnet/loopback"
	"github.com/swapper-go/swapper/internal/devnet/starknet/contracts"
	"github.com/swapper-go/swapper/internal/starknet/wire"
)

// NodeError is the error of a call.
type NodeError = loopback.RPCError

// The errors of the specification that have no data.
var (
	internalError      = &NodeError{Code: -32603, Message: "Internal error"}
	contractNotFound   = &NodeError{Code: 20, Message: "Contract not found"}
	entryNotFound      = &NodeError{Code: 21, Message: "Requested entrypoint does not exist in the contract"}
	blockNotFound      = &NodeError{Code: 24, Message: "Block not found"}
	wrongIndex         = &NodeError{Code: 27, Message: "Invalid transaction index in a block"}
	classNotFound      = &NodeError{Code: 28, Message: "Class hash not found"}
	txNotFound         = &NodeError{Code: 29, Message: "Transaction hash not found"}
	pageTooBig         = &NodeError{Code: 31, Message: "Requested page size is too big"}
	wrongToken         = &NodeError{Code: 33, Message: "The supplied continuation token is invalid or unknown"}
	tooManyKeys        = &NodeError{Code: 34, Message: "Too many keys provided in a filter"}
	noStorageProof     = &NodeError{Code: 42, Message: "The node doesn't support storage proofs for blocks that are too far in the past"}
	unsupportedVersion = &NodeError{Code: 61, Message: "The transaction version is not supported"}
)

func wrongParams(text string) *NodeError {
	return &NodeError{Code: -32602, Message: "Invalid params", Data: map[string]string{"reason": text}}
}

// refused is the error of a transaction that is not taken.
func (q *request) refused(r *contracts.Refusal) *NodeError {
	switch r.Kind {
	case contracts.InvalidNonce:
		if q.version < V9 {
			return &NodeError{Code: 52, Message: "Invalid transaction nonce"}
		}
		return &NodeError{Code: 52, Message: "Invalid transaction nonce", Data: r.Text}
	case contracts.InsufficientResources:
		if q.version == V7 {
			return &NodeError{Code: 53, Message: "Max fee is smaller than the minimal transaction cost (validation plus fee transfer)"}
		}
		return &NodeError{Code: 53, Message: "The transaction's resources don't cover validation or the minimal transaction fee"}
	case contracts.InsufficientBalance:
		if q.version == V7 {
			return &NodeError{Code: 54, Message: "Account balance is smaller than the transaction's max_fee"}
		}
		return &NodeError{Code: 54, Message: "Account balance is smaller than the transaction's maximal fee (calculated as the sum of each resource's limit x max price)"}
	case contracts.ValidationFailed:
		return &NodeError{Code: 55, Message: "Account validation failed", Data: r.Text}
	case contracts.ClassNotFound:
		return classNotFound
	case contracts.NotAnAccount:
		return &NodeError{Code: 58, Message: "Sender address is not an account contract"}
	case contracts.Duplicate:
		return &NodeError{Code: 59, Message: "A transaction with the same hash already exists in the mempool"}
	case contracts.Underpriced:
		if q.version >= V9 {
			return &NodeError{Code: 64, Message: "Replacement transaction is underpriced"}
		}
	}
	return &NodeError{Code: 63, Message: "An unexpected error occurred", Data: r.Text}
}

// execution is why an invocation failed: one object inside the other since version 0.8,
// a text before.
func (q *request) execution(i *contracts.Invocation) any {
	if q.version < V8 {
		return i.Reason()
	}
	way := i.Way()
	var inner any = way[len(way)-1].Failed.Error()
	for n := len(way) - 1; n >= 0; n-- {
		f := way[n]
		inner = map[string]any{"contract_address": wire.Hex(f.Contract), "class_hash": wire.Hex(f.Class), "selector": wire.Hex(f.Selector), "error": inner}
	}
	return inner
}
