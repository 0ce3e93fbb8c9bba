package evm

import (
	"encoding/json"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/swapper-go/swapper/internal/devnet/loopback"
)

// Fault is how a [Server] misbehaves. The zero value is a good server; several
// faults may be combined.
type Fault struct {
	Down            bool          // connections are cut without an answer
	Status          int           // every request is answered with this HTTP status, as in 502
	RetryAfter      string        // header of those answers, as in "7"
	Delay           time.Duration // before every answer
	Garbage         bool          // answers are HTML with status 200
	Huge            bool          // answers go on for ever
	LoseAnswer      bool          // transactions are taken, but the connection is cut before the answer
	LoseTransaction bool          // transactions are answered with their hash, but never reach a block
	WrongChain      bool          // eth_chainId is another one
	Behind          uint64        // so many of the newest blocks are not known
	LogRange        uint64        // eth_getLogs over more blocks is refused with code -32005; 0: any range
	MaxBatch        int           // batches of more calls are refused; 0: any number
	Refuse          []string      // methods that the server says it does not have, as in debug_traceTransaction
	Fail            []string      // methods that are answered with an internal error, code -32603

	NoSockets bool // websockets are refused
	Silent    bool // subscriptions are accepted, and nothing is ever said

	// Rewrite replaces results, and news with the method eth_subscription: what it returns is sent. It must be safe for
	// concurrent use.
	Rewrite func(method string, params []json.RawMessage, result json.RawMessage) json.RawMessage
}

// transport is the part that any HTTP server can get wrong.
func (f Fault) transport() loopback.Fault {
	return loopback.Fault{Down: f.Down, Delay: f.Delay, Status: f.Status, RetryAfter: f.RetryAfter, Garbage: f.Garbage, Huge: f.Huge}
}

// Server answers JSON-RPC over HTTP and WebSocket for one network.
type Server struct {
	net   *Net
	node  atomic.Pointer[engineNode] // whose chain it tells
	http  *loopback.Server
	fault atomic.Pointer[Fault]
	rpc   loopback.JSONRPC
}

// Serve starts another JSON-RPC server; address is host:port, "" for a free port
// of 127.0.0.1. Closing the network closes it too.
func (n *Net) Serve(address string) (*Server, error) {
	s := &Server{net: n, rpc: loopback.JSONRPC{MaxRequest: 5 << 20, ContentType: "application/json", TooMany: "batch too large"}}
	s.node.Store(n.node)
	s.fault.Store(new(Fault))
	var err error
	if s.http, err = n.options.Network.Serve(address, http.HandlerFunc(s.serve)); err != nil {
		return nil, err
	}
	n.mu.Lock()
	n.servers = append(n.servers, s)
	n.mu.Unlock()
	return s, nil
}

// URL returns the server's URL.
func (s *Server) URL() string { return s.http.URL() }

// SocketURL returns the server's URL for websockets.
func (s *Server) SocketURL() string { return "ws://" + s.http.Host() }

// Misbehave changes what is wrong with the server from the next request on.
func (s *Server) Misbehave(f Fault) { s.fault.Store(&f) }

// Requests returns the methods of every HTTP request since the last call, in
// order: one round trip is one element, a batch has several methods.
func (s *Server) Requests() [][]string { return s.rpc.Requests() }

// Close ends the server and cuts its connections. It may be called more than once.
func (s *Server) Close() error { return s.http.Close() }

// serve puts the faults in front of the methods.
func (s *Server) serve(w http.ResponseWriter, r *http.Request) {
	f := *s.fault.Load()
	switch {
	case f.transport().Spoil(w, r):
	case r.Header.Get("Upgrade") != "":
		s.serveSocket(w, r, f)
	default:
		s.answer(w, r, f)
	}
}
