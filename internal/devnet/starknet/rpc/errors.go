package rpc

import (
	"github.com/swapper-go/swapper/internal/devnet/loopback"
	"github.com/swapper-go/swapper/internal/devnet/starknet/state"
	"github.com/swapper-go/swapper/internal/starknet/wire"
)

// Error is the error of a call.
type Error = loopback.RPCError

// The errors of the specification that have no data.
var (
	internalError      = &Error{Code: -32603, Message: "Internal error"}
	contractNotFound   = &Error{Code: 20, Message: "Contract not found"}
	entryNotFound      = &Error{Code: 21, Message: "Requested entrypoint does not exist in the contract"}
	blockNotFound      = &Error{Code: 24, Message: "Block not found"}
	wrongIndex         = &Error{Code: 27, Message: "Invalid transaction index in a block"}
	classNotFound      = &Error{Code: 28, Message: "Class hash not found"}
	txNotFound         = &Error{Code: 29, Message: "Transaction hash not found"}
	pageTooBig         = &Error{Code: 31, Message: "Requested page size is too big"}
	wrongToken         = &Error{Code: 33, Message: "The supplied continuation token is invalid or unknown"}
	tooManyKeys        = &Error{Code: 34, Message: "Too many keys provided in a filter"}
	noStorageProof     = &Error{Code: 42, Message: "The node doesn't support storage proofs for blocks that are too far in the past"}
	unsupportedVersion = &Error{Code: 61, Message: "The transaction version is not supported"}
)

func wrongParams(text string) *Error {
	return &Error{Code: -32602, Message: "Invalid params", Data: map[string]string{"reason": text}}
}

// refused is the error of a transaction that is not taken.
func (q *request) refused(r *state.Refusal) *Error {
	switch r.Kind {
	case state.InvalidNonce:
		if q.version < V9 {
			return &Error{Code: 52, Message: "Invalid transaction nonce"}
		}
		return &Error{Code: 52, Message: "Invalid transaction nonce", Data: r.Text}
	case state.InsufficientResources:
		if q.version == V7 {
			return &Error{Code: 53, Message: "Max fee is smaller than the minimal transaction cost (validation plus fee transfer)"}
		}
		return &Error{Code: 53, Message: "The transaction's resources don't cover validation or the minimal transaction fee"}
	case state.InsufficientBalance:
		if q.version == V7 {
			return &Error{Code: 54, Message: "Account balance is smaller than the transaction's max_fee"}
		}
		return &Error{Code: 54, Message: "Account balance is smaller than the transaction's maximal fee (calculated as the sum of each resource's limit x max price)"}
	case state.ValidationFailed:
		return &Error{Code: 55, Message: "Account validation failed", Data: r.Text}
	case state.ClassNotFound:
		return classNotFound
	case state.NotAnAccount:
		return &Error{Code: 58, Message: "Sender address is not an account contract"}
	case state.Duplicate:
		return &Error{Code: 59, Message: "A transaction with the same hash already exists in the mempool"}
	case state.Underpriced:
		if q.version >= V9 {
			return &Error{Code: 64, Message: "Replacement transaction is underpriced"}
		}
	}
	return &Error{Code: 63, Message: "An unexpected error occurred", Data: r.Text}
}

// execution is why an invocation failed: one object inside the other since version 0.8,
// a text before.
func (q *request) execution(i *state.Invocation) any {
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
