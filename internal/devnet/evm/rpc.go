package evm

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"slices"

	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/crypto"
	"github.com/ethereum/go-ethereum/rpc"

	"github.com/swapper-go/swapper/internal/devnet/loopback"
)

// answer answers one request or a batch of them.
func (s *Server) answer(w http.ResponseWriter, r *http.Request, f Fault) {
	lose := func(methods []string) bool {
		return f.LoseAnswer && slices.Contains(methods, "eth_sendRawTransaction")
	}
	s.rpc.Answer(w, r, f.MaxBatch, lose, func(q loopback.Call) loopback.Reply { return s.do(r.Context(), q, f) })
}

func failed(id json.RawMessage, code int, message string) loopback.Reply {
	return loopback.Failed(id, &loopback.RPCError{Code: code, Message: message})
}

// do carries one call out.
func (s *Server) do(ctx context.Context, q loopback.Call, f Fault) loopback.Reply {
	var params []json.RawMessage
	if len(q.Params) > 0 && json.Unmarshal(q.Params, &params) != nil {
		return failed(q.ID, -32602, "invalid params: not a list")
	}
	switch {
	case slices.Contains(f.Refuse, q.Method):
		return failed(q.ID, -32601, "the method "+q.Method+" does not exist/is not available")
	case slices.Contains(f.Fail, q.Method):
		return failed(q.ID, -32603, "internal error")
	case q.Method == "eth_chainId" && f.WrongChain:
		return loopback.Succeeded(q.ID, json.RawMessage(`"`+hexutil.EncodeUint64(s.net.options.ChainID+1)+`"`))
	case q.Method == "eth_getLogs" && f.LogRange > 0 && s.logSpan(params) > f.LogRange:
		return failed(q.ID, -32005, "query exceeds max block range")
	}
	if q.Method == "eth_sendRawTransaction" && f.LoseTransaction {
		return hashOf(q.ID, params)
	}
	node := s.node.Load()
	v := view{head: node.head().Number.Uint64(), net: s.net}
	v.head -= min(v.head, f.Behind)
	if f.Behind > 0 {
		params = v.rewind(q.Method, params)
	}
	var result json.RawMessage
	args := make([]any, len(params))
	for i, p := range params {
		args[i] = p
	}
	if err := node.client.CallContext(ctx, &result, q.Method, args...); err != nil {
		return loopback.Failed(q.ID, errorOf(err))
	}
	if q.Method == "eth_sendRawTransaction" && node == s.net.node {
		s.net.mineSent(result)
	}
	if f.Behind > 0 {
		result = v.hide(q.Method, result)
	}
	if len(result) == 0 {
		result = json.RawMessage("null")
	}
	if f.Rewrite != nil {
		result = f.Rewrite(q.Method, params, result)
	}
	return loopback.Succeeded(q.ID, v.withL1Fee(q.Method, result))
}

// hashOf is the answer to a transaction that is taken.
func hashOf(id json.RawMessage, params []json.RawMessage) loopback.Reply {
	var raw hexutil.Bytes
	if len(params) != 1 || json.Unmarshal(params[0], &raw) != nil {
		return failed(id, -32602, "invalid argument 0: not the bytes of a transaction")
	}
	return loopback.Succeeded(id, json.RawMessage(`"`+crypto.Keccak256Hash(raw).Hex()+`"`))
}

func errorOf(err error) *loopback.RPCError {
	e := &loopback.RPCError{Code: -32000, Message: err.Error()}
	if coded, ok := errors.AsType[rpc.Error](err); ok {
		e.Code = coded.ErrorCode()
	}
	if with, ok := errors.AsType[rpc.DataError](err); ok {
		e.Data = with.ErrorData()
	}
	return e
}
