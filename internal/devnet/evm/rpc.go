package evm

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"slices"

	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/crypto"
	"github.com/ethereum/go-ethereum/rpc"

	"github.com/swapper-go/swapper/internal/devnet/loopback"
)

type rpcRequest struct {
	Version string            `json:"jsonrpc"`
	ID      json.RawMessage   `json:"id"`
	Method  string            `json:"method"`
	Params  []json.RawMessage `json:"params"`
}

type rpcError struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
	Data    any    `json:"data,omitempty"`
}

type rpcAnswer struct {
	Version string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id"`
	Result  json.RawMessage `json:"result,omitempty"`
	Error   *rpcError       `json:"error,omitempty"`
}

// answer answers one request or a batch of them.
func (s *Server) answer(w http.ResponseWriter, r *http.Request, f Fault) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxRequest))
	if err != nil {
		http.Error(w, "request too large", http.StatusRequestEntityTooLarge)
		return
	}
	body = bytes.TrimSpace(body)
	batch := len(body) > 0 && body[0] == '['
	var requests []rpcRequest
	if batch {
		err = json.Unmarshal(body, &requests)
	} else {
		requests = make([]rpcRequest, 1)
		err = json.Unmarshal(body, &requests[0])
	}
	if err != nil || len(requests) == 0 {
		write(w, failed(nil, -32700, "parse error"))
		return
	}
	var methods []string
	for _, q := range requests {
		methods = append(methods, q.Method)
	}
	s.note(methods)
	if f.MaxBatch > 0 && len(requests) > f.MaxBatch {
		write(w, failed(nil, -32600, "batch too large"))
		return
	}
	answers := make([]rpcAnswer, 0, len(requests))
	for _, q := range requests {
		answers = append(answers, s.do(r.Context(), q, f))
	}
	switch {
	case f.LoseAnswer && slices.Contains(methods, "eth_sendRawTransaction"):
		loopback.Cut()
	case batch:
		write(w, answers)
	default:
		write(w, answers[0])
	}
}

func write(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(v) // the client has gone
}

func failed(id json.RawMessage, code int, message string) rpcAnswer {
	if id == nil {
		id = json.RawMessage("null")
	}
	return rpcAnswer{Version: "2.0", ID: id, Error: &rpcError{Code: code, Message: message}}
}

// do carries one call out.
func (s *Server) do(ctx context.Context, q rpcRequest, f Fault) rpcAnswer {
	switch {
	case slices.Contains(f.Refuse, q.Method):
		return failed(q.ID, -32601, "the method "+q.Method+" does not exist/is not available")
	case slices.Contains(f.Fail, q.Method):
		return failed(q.ID, -32603, "internal error")
	case q.Method == "eth_chainId" && f.WrongChain:
		return rpcAnswer{Version: "2.0", ID: q.ID, Result: json.RawMessage(`"` + hexutil.EncodeUint64(s.net.options.ChainID+1) + `"`)}
	case q.Method == "eth_getLogs" && f.LogRange > 0 && s.logSpan(q.Params) > f.LogRange:
		return failed(q.ID, -32005, "query exceeds max block range")
	}
	if q.Method == "eth_sendRawTransaction" && f.LoseTransaction {
		return hashOf(q)
	}
	node := s.node.Load()
	v := view{head: node.head().Number.Uint64(), net: s.net}
	v.head -= min(v.head, f.Behind)
	if f.Behind > 0 {
		q.Params = v.rewind(q.Method, q.Params)
	}
	var result json.RawMessage
	args := make([]any, len(q.Params))
	for i, p := range q.Params {
		args[i] = p
	}
	if err := node.client.CallContext(ctx, &result, q.Method, args...); err != nil {
		return rpcAnswer{Version: "2.0", ID: q.ID, Error: errorOf(err)}
	}
	if f.Behind > 0 {
		result = v.hide(q.Method, result)
	}
	if len(result) == 0 {
		result = json.RawMessage("null")
	}
	if f.Rewrite != nil {
		result = f.Rewrite(q.Method, q.Params, result)
	}
	return rpcAnswer{Version: "2.0", ID: q.ID, Result: v.withL1Fee(q.Method, result)}
}

// hashOf is the answer to a transaction that is taken.
func hashOf(q rpcRequest) rpcAnswer {
	var raw hexutil.Bytes
	if len(q.Params) != 1 || json.Unmarshal(q.Params[0], &raw) != nil {
		return failed(q.ID, -32602, "invalid argument 0: not the bytes of a transaction")
	}
	return rpcAnswer{Version: "2.0", ID: q.ID, Result: json.RawMessage(`"` + crypto.Keccak256Hash(raw).Hex() + `"`)}
}

func errorOf(err error) *rpcError {
	e := &rpcError{Code: -32000, Message: err.Error()}
	if coded, ok := errors.AsType[rpc.Error](err); ok {
		e.Code = coded.ErrorCode()
	}
	if with, ok := errors.AsType[rpc.DataError](err); ok {
		e.Data = with.ErrorData()
	}
	return e
}
