package evmrpc

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/ethereum/go-ethereum/rpc"
)

// maxErrorText bounds what is repeated of a node's own words.
const maxErrorText = 200

// nodeError is an error that a node answered a call with.
type nodeError struct {
	code int
	text string
}

func (e *nodeError) Error() string { return e.text }

// ErrorCode implements [rpc.Error].
func (e *nodeError) ErrorCode() int { return e.code }

// CodeOf returns the JSON-RPC code of an error, 0 if it has none.
func CodeOf(err error) int {
	if coded, ok := errors.AsType[rpc.Error](err); ok {
		return coded.ErrorCode()
	}
	return 0
}

// transient reports whether an error in an answer is the node's trouble and not
// the answer: another node, or the same one later, may do better (protocol:
// chain-evm.md §1.4).
func transient(method string, err error) bool {
	if method == "eth_getLogs" && tooWide(err) {
		return false // it asks for a smaller range
	}
	text := strings.ToLower(err.Error())
	switch CodeOf(err) {
	case 0:
		return true // not in JSON-RPC's terms
	case -32000, -32600, -32602:
		// Also used for what another node may know, and for limits of the caller.
		return Says(text, "header not found", "unknown block", "missing trie node", "rate limit", "too many requests", "request limit")
	case 3, -32700, -32601, -32004, -32006:
		return false
	}
	return !Says(text, "already known")
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

// tooMany reports whether a whole request was refused because of its size, or
// because the node takes no batches: then it answers with one object.
func tooMany(err error) bool {
	if refused, ok := errors.AsType[rpc.HTTPError](err); ok {
		return refused.StatusCode == http.StatusRequestEntityTooLarge || refused.StatusCode == http.StatusBadRequest
	}
	t, ok := errors.AsType[*json.UnmarshalTypeError](err)
	return ok && t.Value == "object"
}

// leftOut reports whether a node answered a part of a batch only.
func leftOut(err error) bool {
	const responseTooLarge = -32003
	return errors.Is(err, rpc.ErrMissingBatchResponse) || CodeOf(err) == responseTooLarge ||
		CodeOf(err) == -32600 && Says(strings.ToLower(err.Error()), "batch")
}

func Says(text string, any ...string) bool {
	for _, s := range any {
		if strings.Contains(text, s) {
			return true
		}
	}
	return false
}

// Brief cuts what a node says, and leaves out a URL that may hold a key.
func Brief(err error) error {
	if u, ok := errors.AsType[*url.Error](err); ok {
		err = u.Err
	}
	if h, ok := errors.AsType[rpc.HTTPError](err); ok {
		return fmt.Errorf("HTTP status %d", h.StatusCode)
	}
	text := err.Error()
	if len(text) > maxErrorText {
		text = strings.ToValidUTF8(text[:maxErrorText], "")
	}
	if code := CodeOf(err); code != 0 {
		return &nodeError{code, text}
	}
	if len(err.Error()) > maxErrorText {
		return errors.New(text)
	}
	return err
}
