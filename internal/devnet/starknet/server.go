package starknet

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/swapper-go/swapper/internal/devnet/loopback"
	"github.com/swapper-go/swapper/internal/devnet/starknet/contracts"
)

// NodeFault is how a [NodeServer] misbehaves. The zero value is a good server; several
// faults may be combined.
type NodeFault struct {
	Down       bool          // connections are cut without an answer
	Status     int           // every request is answered with this HTTP status, as in 502
	RetryAfter string        // header of those answers, as in "7"
	Delay      time.Duration // before every answer
	Stall      bool          // headers come, the body never does
	Garbage    bool          // answers are HTML with status 200
	Huge       bool          // answers go on for ever
	PerSecond  int           // more requests than so many in a second are answered with status 429; 0: any number

	LoseAnswer      bool // transactions are taken, but the connection is cut before the answer
	LoseTransaction bool // transactions are answered with their hash, but never reach a block

	WrongNetwork bool     // starknet_chainId is another one
	WrongSpec    string   // starknet_specVersion is this one; "": the right one
	Behind       int      // so many of the newest blocks are not known, nor what waits or is pre-confirmed
	NoOpenBlock  bool     // the pre-confirmed block has nothing in it
	NoEvents     bool     // starknet_getEvents finds nothing
	PageBlocks   uint64   // so many blocks are looked at for a page of events, which may be empty and have a successor; 0: any number
	NoTraces     bool     // starknet_traceTransaction says that there is none
	MaxBatch     int      // batches of more calls are refused; 0: any number
	Refuse       []string // methods that the server says it does not have
	Fail         []string // methods that are answered with an internal error, code -32603

	NoSockets bool // websockets are refused
	Silent    bool // subscriptions are accepted, and nothing is ever said

	// Rewrite replaces results: what it returns is sent. It must be safe for
	// concurrent use. Parameters come by name.
	Rewrite func(method string, params map[string]json.RawMessage, result json.RawMessage) json.RawMessage
}

// transport is the part that any HTTP server can get wrong.
func (f NodeFault) transport() loopback.Fault {
	return loopback.Fault{Down: f.Down, Delay: f.Delay, Stall: f.Stall, Status: f.Status, RetryAfter: f.RetryAfter, Garbage: f.Garbage, Huge: f.Huge}
}

// NodeVersion is a version of the specification.
type NodeVersion int

// The versions.
const (
	V7 NodeVersion = iota + 7
	V8
	V9
	V10
)

func (v NodeVersion) String() string {
	return map[NodeVersion]string{V7: "0.7.1", V8: "0.8.1", V9: "0.9.0", V10: "0.10.0"}[v]
}

// Options of a server.
type NodeOptions struct {
	Chain   *contracts.Chain
	Address string            // host:port; "" for a free port of 127.0.0.1
	Network *loopback.Network // where it listens; nil: loopback sockets
	Version NodeVersion       // of the specification; 0: [V9]
}

// NodeServer answers JSON-RPC over HTTP and WebSocket for one chain.
type NodeServer struct {
	told    atomic.Pointer[contracts.Chain]
	version NodeVersion
	http    *loopback.Server
	fault   atomic.Pointer[NodeFault]
	rpc     loopback.JSONRPC

	mu     sync.Mutex
	second int64 // in which recent requests came
	recent int
}

// Serve starts a server.
func Serve(o NodeOptions) (*NodeServer, error) {
	if o.Version == 0 {
		o.Version = V9
	}
	if o.Version.String() == "" {
		return nil, fmt.Errorf("version %d of the specification is not known", o.Version)
	}
	s := &NodeServer{version: o.Version, rpc: loopback.JSONRPC{MaxRequest: 10 << 20, ContentType: "application/json", TooMany: "Batch too large"}}
	s.told.Store(o.Chain)
	s.fault.Store(new(NodeFault))
	var err error
	s.http, err = o.Network.Serve(o.Address, http.HandlerFunc(s.serve))
	return s, err
}

// URL returns the server's URL.
func (s *NodeServer) URL() string { return s.http.URL() }

// SocketURL returns the server's URL for websockets.
func (s *NodeServer) SocketURL() string { return "ws://" + s.http.Host() }

// tell lets the server answer for another chain from the next request on.
func (s *NodeServer) tell(c *contracts.Chain) { s.told.Store(c) }

func (s *NodeServer) chain() *contracts.Chain { return s.told.Load() }

// Misbehave changes what is wrong with the server from the next request on.
func (s *NodeServer) Misbehave(f NodeFault) { s.fault.Store(&f) }

// Requests returns the methods of every HTTP request since the last call, in
// order: one round trip is one element, a batch has several methods.
func (s *NodeServer) Requests() [][]string { return s.rpc.Requests() }

// Close ends the server and cuts its connections. It may be called more than once.
func (s *NodeServer) Close() error { return s.http.Close() }

// serve puts the faults in front of the methods.
func (s *NodeServer) serve(w http.ResponseWriter, r *http.Request) {
	f := *s.fault.Load()
	if f.transport().Spoil(w, r) {
		return
	}
	version, ok := s.versionOf(r.URL.Path)
	switch {
	case f.PerSecond > 0 && s.tooMany(f.PerSecond):
		w.Header().Set("Retry-After", "1")
		http.Error(w, "Too Many Requests", http.StatusTooManyRequests)
	case !ok:
		http.NotFound(w, r)
	case r.Header.Get("Upgrade") != "":
		s.serveSocket(w, r, f, version)
	case r.Method != http.MethodPost:
		http.Error(w, "Method not allowed", http.StatusMethodNotAllowed)
	default:
		s.answer(w, r, f, version)
	}
}

// versionOf reads a version from a path: /v0_8, /rpc/v0_8.
func (s *NodeServer) versionOf(path string) (NodeVersion, bool) {
	last := path[strings.LastIndexByte(path, '/')+1:]
	if last == "" || last == "rpc" {
		return s.version, true
	}
	for v := V7; v <= V10; v++ {
		if last == fmt.Sprintf("v0_%d", v) {
			return v, true
		}
	}
	return 0, false
}

func (s *NodeServer) tooMany(most int) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if now := time.Now().Unix(); now != s.second {
		s.second, s.recent = now, 0
	}
	s.recent++
	return s.recent > most
}
