package rpc

import (
	"strings"

	"github.com/swapper-go/swapper/internal/jsonrpc"
)

// Codes of errors that nodes answer with.
const (
	codeSimulationFailed      = -32002 // of a transaction that was tried before sending
	codeSignatureInvalid      = -32003
	codeBlockNotAvailable     = -32004 // also: not yet
	codeUnhealthy             = -32005 // it is behind
	codePrecompileFailed      = -32006
	codeSlotSkipped           = -32007
	codeNoSnapshot            = -32008
	codeSlotMissing           = -32009 // in the long-term storage
	codeKeyExcluded           = -32010
	codeNoHistory             = -32011 // the node keeps none
	codeSignatureLength       = -32013
	codeBlockStatusUnknown    = -32014 // not yet
	codeTransactionVersion    = -32015
	codeMinContextSlot        = -32016 // it is behind
	codeParse                 = -32700
	codeInvalidRequest        = -32600
	codeMethodNotFound        = -32601
	codeInvalidParams         = -32602
	codeForbidden             = -32403
	codeTransactionNotAllowed = -32000
)

// judge tells answers from troubles.
func judge(method string, err *jsonrpc.Error) jsonrpc.Verdict {
	switch err.Code {
	case codeSlotSkipped, codeSlotMissing, codeTransactionVersion, codeSignatureLength,
		codeSimulationFailed, codeSignatureInvalid, codePrecompileFailed, codeParse, codeMethodNotFound, codeForbidden:
		return jsonrpc.Answer
	case codeBlockNotAvailable, codeBlockStatusUnknown, codeNoHistory, codeKeyExcluded:
		return jsonrpc.Elsewhere
	case codeInvalidParams, codeInvalidRequest, codeTransactionNotAllowed:
		if jsonrpc.Says(strings.ToLower(err.Text), "rate limit", "too many requests", "request limit", "limit exceeded", "quota") {
			return jsonrpc.Trouble
		}
		return jsonrpc.Answer
	}
	return jsonrpc.Trouble // unhealthy, behind, out of calls, or in no terms that are known
}

// IsSkipped reports whether an error says that a slot has no block, or none that the
// node has: an older slot may have one (protocol: chain-solana.md §3).
func IsSkipped(err error) bool {
	return jsonrpc.HasCode(err, codeSlotSkipped, codeSlotMissing, codeBlockNotAvailable, codeBlockStatusUnknown)
}

// IsUnsupported reports whether an error says that the node does not have a method.
func IsUnsupported(err error) bool {
	return jsonrpc.HasCode(err, codeMethodNotFound, codeInvalidRequest, codeForbidden)
}

// IsRefusal reports whether an error says that a node has not taken a transaction and
// will not take it as it is.
func IsRefusal(err error) bool {
	return jsonrpc.HasCode(err, codeSimulationFailed, codeSignatureInvalid, codePrecompileFailed, codeInvalidParams)
}

// IsUnreadable reports whether an error says that a transaction is of a version that
// is not read here.
func IsUnreadable(err error) bool { return jsonrpc.CodeOf(err) == codeTransactionVersion }
