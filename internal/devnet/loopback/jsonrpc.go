package loopback

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"sync"
)

// Call is a call of JSON-RPC.
type Call struct {
	Version string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id"`
	Method  string          `json:"method"`
	Params  json.RawMessage `json:"params"`
}

// Reply answers a [Call].
type Reply struct {
	Version string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id"`
	Result  json.RawMessage `json:"result,omitempty"`
	Error   *RPCError       `json:"error,omitempty"`
}

// RPCError is the error of a call.
type RPCError struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
	Data    any    `json:"data,omitempty"`
}

// Succeeded answers a call with a result.
func Succeeded(id, result json.RawMessage) Reply {
	return Reply{Version: "2.0", Result: result, ID: id}
}

// Failed answers a call with an error; id is nil where it cannot be told.
func Failed(id json.RawMessage, err *RPCError) Reply {
	if id == nil {
		id = json.RawMessage("null")
	}
	return Reply{Version: "2.0", Error: err, ID: id}
}

// JSONRPC is what the nodes of the local network's chains do alike: they read calls over HTTP,
// one or a batch of them, note them, and write the answers. It is safe for concurrent use.
type JSONRPC struct {
	MaxRequest  int64  // bytes
	ContentType string // of answers
	TooMany     string // the error for a batch that is too large

	mu  sync.Mutex
	log [][]string
}

// Answer answers a request. do carries one call out; a batch of more than maxBatch calls is
// refused, unless that is 0. Where lose reports true of the methods, the calls are carried out,
// and the connection is cut before the answer.
func (j *JSONRPC) Answer(w http.ResponseWriter, r *http.Request, maxBatch int, lose func(methods []string) bool, do func(Call) Reply) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, j.MaxRequest))
	if err != nil {
		http.Error(w, "request too large", http.StatusRequestEntityTooLarge)
		return
	}
	calls, batch, err := ParseCalls(body)
	if err != nil {
		j.write(w, Failed(nil, &RPCError{Code: -32700, Message: "Parse error"}))
		return
	}
	var methods []string
	for _, q := range calls {
		methods = append(methods, q.Method)
	}
	j.note(methods)
	if maxBatch > 0 && len(calls) > maxBatch {
		j.write(w, Failed(nil, &RPCError{Code: -32600, Message: j.TooMany}))
		return
	}
	replies := make([]Reply, 0, len(calls))
	for _, q := range calls {
		replies = append(replies, do(q))
	}
	switch {
	case lose(methods):
		Cut()
	case batch:
		j.write(w, replies)
	default:
		j.write(w, replies[0])
	}
}

// ParseCalls reads one call or a batch of them, which is not empty.
func ParseCalls(body []byte) (calls []Call, batch bool, err error) {
	body = bytes.TrimSpace(body)
	if len(body) > 0 && body[0] == '[' {
		if err = json.Unmarshal(body, &calls); err == nil && len(calls) == 0 {
			err = io.ErrUnexpectedEOF
		}
		return calls, true, err
	}
	calls = make([]Call, 1)
	return calls, false, json.Unmarshal(body, &calls[0])
}

func (j *JSONRPC) write(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", j.ContentType)
	_ = json.NewEncoder(w).Encode(v) // the client has gone
}

func (j *JSONRPC) note(methods []string) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if len(j.log) < 10_000 {
		j.log = append(j.log, methods)
	}
}

// Requests returns the methods of every HTTP request since the last call, in order: one round
// trip is one element, a batch has several methods. Calls over websockets are not among them.
func (j *JSONRPC) Requests() [][]string {
	j.mu.Lock()
	defer j.mu.Unlock()
	log := j.log
	j.log = nil
	return log
}

// Servers are those of a chain's nodes, as its conformance suite counts and names them.
type Servers[S interface {
	URL() string
	Requests() [][]string
}] []S

// Requests returns how many requests the servers have received since the last call.
func (all Servers[S]) Requests() (n int) {
	for _, s := range all {
		n += len(s.Requests())
	}
	return n
}

// NodeName is a server's name in errors.
func (all Servers[S]) NodeName(node int) string {
	return strings.TrimPrefix(all[node].URL(), "http://")
}
