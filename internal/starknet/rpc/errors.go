package rpc

import (
	"encoding/json"
	"errors"
	"strings"

	"github.com/swapper-go/swapper/internal/jsonrpc"
	"github.com/swapper-go/swapper/internal/starknet/wire"
)

// Codes of errors that nodes answer with.
const (
	codeNoTrace           = 10
	codeContractNotFound  = 20
	codeEntryNotFound     = 21
	codeBlockNotFound     = 24
	codeTxNotFoundOld     = 25
	codeTxNotFound        = 29
	codeNoBlocks          = 32
	codeTokenInvalid      = 33
	codeContractError     = 40
	codeExecutionError    = 41
	codeNonce             = 52
	codeResources         = 53
	codeBalance           = 54
	codeValidation        = 55
	codeNoAccount         = 58
	codeDuplicate         = 59
	codeTxVersion         = 61
	codeUnexpected        = 63
	codeUnderpriced       = 64 // of a transaction that is to replace another
	codeFeeTooLow         = 65
	codeMostPositive      = 1000
	codeParse             = -32700
	codeInvalidRequest    = -32600
	codeMethodNotFound    = -32601
	codeInvalidParams     = -32602
	codeServerUnsupported = -32004
)

// judge tells answers from troubles: codes of the interface are positive, and answers;
// those of JSON-RPC and of providers are troubles, but for the few that say that the
// question is wrong (protocol: chain-starknet.md §3).
func judge(method string, err *jsonrpc.Error) jsonrpc.Verdict {
	switch err.Code {
	case codeBlockNotFound, codeNoTrace:
		return jsonrpc.Elsewhere
	case codeTxNotFound, codeTxNotFoundOld:
		if method == methodTrace {
			return jsonrpc.Elsewhere
		}
		return jsonrpc.Answer // it may be on its way: that is for the asker to find out
	case 0, codeNoBlocks, codeUnexpected:
		return jsonrpc.Trouble
	case codeInvalidRequest, codeInvalidParams:
		if jsonrpc.Says(strings.ToLower(err.Text), "rate limit", "too many requests", "request limit", "limit exceeded", "quota") {
			return jsonrpc.Trouble
		}
		return jsonrpc.Answer
	case codeParse, codeMethodNotFound, codeServerUnsupported:
		return jsonrpc.Answer
	}
	if err.Code > 0 && err.Code < codeMostPositive && err.Code != 429 {
		return jsonrpc.Answer
	}
	return jsonrpc.Trouble
}

// IsNoContract reports whether an error says that there is no contract at an address.
func IsNoContract(err error) bool { return jsonrpc.CodeOf(err) == codeContractNotFound }

// IsNoEntry reports whether an error says that a contract has no such entry point.
func IsNoEntry(err error) bool {
	switch jsonrpc.CodeOf(err) {
	case codeEntryNotFound:
		return true
	case codeContractError: // of nodes that find out by executing it
		return jsonrpc.Says(RevertReason(err), "ENTRYPOINT_NOT_FOUND", "EntryPointNotFound", "not found in contract")
	}
	return false
}

// IsNoTx reports whether an error says that the node does not know a transaction.
func IsNoTx(err error) bool {
	return jsonrpc.HasCode(err, codeTxNotFound, codeTxNotFoundOld)
}

// IsReverted reports whether an error says that a call was executed and reverted.
func IsReverted(err error) bool {
	return jsonrpc.HasCode(err, codeContractError, codeExecutionError)
}

// IsStaleToken reports whether an error says that a search of events cannot be continued
// where it was: tokens are the node's own, and another one does not know them.
func IsStaleToken(err error) bool { return jsonrpc.CodeOf(err) == codeTokenInvalid }

// IsDuplicate reports whether an error says that the node has a transaction already.
func IsDuplicate(err error) bool { return jsonrpc.CodeOf(err) == codeDuplicate }

// IsNonceUsed reports whether an error says that a transaction has not the nonce that
// its account is at: a used one, or one that is too high.
func IsNonceUsed(err error) bool {
	return jsonrpc.CodeOf(err) == codeNonce || jsonrpc.CodeOf(err) == codeValidation && jsonrpc.Says(strings.ToLower(RevertReason(err)), "invalid transaction nonce", "nonce too old")
}

// IsRefusal reports whether an error says that a node has not taken a transaction and
// will not take it as it is.
func IsRefusal(err error) bool {
	return jsonrpc.HasCode(err, codeNonce, codeResources, codeBalance, codeValidation, codeNoAccount, codeTxVersion, codeUnderpriced, codeFeeTooLow, codeExecutionError)
}

// words are what contracts and the network's rules say of a transaction that its sender may
// mend, and callers may read. All else that a node says is for logs.
var words = []string{
	"ERC20: insufficient balance", "ERC20: insufficient allowance", "insufficient balance", "insufficient allowance", "u256_sub Overflow",
	"Insufficient fee token balance", "Insufficient max L1Gas", "Insufficient max L1DataGas", "Insufficient max L2Gas", "exceed balance", "Out of gas",
	"Invalid transaction nonce", "ENTRYPOINT_NOT_FOUND",
}

// Reason is why a transaction would revert, or was refused, as an error of which callers are
// shown known words alone.
func Reason(reason string) error { return jsonrpc.Reason(reason, words...) }

// RevertReason is why something reverted, in the words of the innermost contract, if an
// error tells it; else the error's own text.
func RevertReason(err error) string {
	if err == nil {
		return ""
	}
	e, ok := errors.AsType[*jsonrpc.Error](err)
	if !ok {
		return err.Error()
	}
	if len(e.Data) == 0 || string(e.Data) == "null" {
		return e.Text
	}
	var of struct {
		RevertError    json.RawMessage `json:"revert_error"`
		ExecutionError json.RawMessage `json:"execution_error"`
	}
	data := e.Data
	if json.Unmarshal(data, &of) == nil && len(of.ExecutionError) > 0 {
		data = of.ExecutionError
	}
	return wire.RevertReason(data)
}
