// Package rpctest is a JSON-RPC server over HTTP whose answers a test writes out.
package rpctest

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"testing"
)

// Call is a call as a server sees it.
type Call struct {
	ID     json.RawMessage
	Method string
	Params json.RawMessage
}

// Serve starts a server, until the test ends, that answers each HTTP request as
// handle says: calls in, the body out. An int is an HTTP status.
func Serve(t testing.TB, handle func(calls []Call) any) *httptest.Server {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var raw json.RawMessage
		if json.NewDecoder(r.Body).Decode(&raw) != nil {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		var calls []Call
		single := raw[0] != '['
		if single {
			calls = make([]Call, 1)
			_ = json.Unmarshal(raw, &calls[0])
		} else {
			_ = json.Unmarshal(raw, &calls)
		}
		switch answer := handle(calls).(type) {
		case int:
			w.WriteHeader(answer)
		case []any:
			if single {
				_ = json.NewEncoder(w).Encode(answer[0])
				return
			}
			_ = json.NewEncoder(w).Encode(answer)
		default:
			_ = json.NewEncoder(w).Encode(answer)
		}
	}))
	t.Cleanup(s.Close)
	return s
}

// EVMChainID is the chain that servers name when they are asked as a node of an EVM chain.
const EVMChainID = 7

// Result answers a call; eth_chainId is always answered with [EVMChainID].
func Result(c Call, value any) any {
	if c.Method == "eth_chainId" {
		value = "0x7"
	}
	return map[string]any{"jsonrpc": "2.0", "id": c.ID, "result": value}
}

// Refusal answers a call with an error.
func Refusal(c Call, code int, text string) any {
	return map[string]any{"jsonrpc": "2.0", "id": c.ID, "error": map[string]any{"code": code, "message": text}}
}
