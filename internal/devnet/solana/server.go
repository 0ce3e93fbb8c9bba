package solana

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/swapper-go/swapper/internal/devnet/loopback"
	"github.com/swapper-go/swapper/internal/devnet/solana/bank"
	"github.com/swapper-go/swapper/internal/solana/wire"
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

	LoseAnswer      bool // transactions are taken, but the connection is cut before the answer
	LoseTransaction bool // transactions are answered with their id, but never reach a block

	WrongNetwork bool     // getGenesisHash is another one
	Behind       int      // so many of the newest blocks are not known
	Unhealthy    bool     // getHealth and sendTransaction say that the node is behind
	MaxBatch     int      // batches of more calls are refused; 0: any number
	Refuse       []string // methods that the server says it does not have
	Fail         []string // methods that are answered with an internal error, code -32603

	NoSockets bool // websockets are refused
	Silent    bool // subscriptions are accepted, and nothing is ever said

	// Rewrite replaces results: what it returns is sent. It must be safe for
	// concurrent use.
	Rewrite func(method string, params []json.RawMessage, result json.RawMessage) json.RawMessage
}

// transport is the part that any HTTP server can get wrong.
func (f NodeFault) transport() loopback.Fault {
	return loopback.Fault{Down: f.Down, Delay: f.Delay, Stall: f.Stall, Status: f.Status, RetryAfter: f.RetryAfter, Garbage: f.Garbage, Huge: f.Huge}
}

// Options of a server.
type NodeOptions struct {
	Bank *bank.Bank
	// Address is host:port; "" for a free port of 127.0.0.1, and port 0 for one of the host. Websockets are served
	// there and, because clients add 1 to a port that a URL names, on the next port.
	Address string
	Network *loopback.Network // where it listens; nil: loopback sockets
	// Airdrop carries requestAirdrop out; nil: the server has no such method.
	Airdrop func(to wire.Key, lamports uint64) (wire.Signature, error)
}

// NodeServer answers JSON-RPC for one bank.
type NodeServer struct {
	told    atomic.Pointer[bank.Bank]
	airdrop func(wire.Key, uint64) (wire.Signature, error)
	http    *loopback.Server
	sockets *loopback.Server
	fault   atomic.Pointer[NodeFault]
	ctx     context.Context // of the websockets
	stop    context.CancelFunc
	open    sync.WaitGroup
	rpc     loopback.JSONRPC

	mu     sync.Mutex
	closed bool
}

// Serve starts a server.
func Serve(o NodeOptions) (*NodeServer, error) {
	s := &NodeServer{airdrop: o.Airdrop, rpc: loopback.JSONRPC{MaxRequest: 50 << 10, ContentType: "application/json; charset=utf-8", TooMany: "batch too large"}} // so large, as nodes have it
	s.told.Store(o.Bank)
	s.ctx, s.stop = context.WithCancel(context.Background())
	s.fault.Store(new(NodeFault))
	const attempts = 20 // to find two free ports in a row
	var err error
	for range attempts {
		if err = s.listen(o.Network, o.Address); err == nil || o.Address != "" && !strings.HasSuffix(o.Address, ":0") {
			break
		}
	}
	return s, err
}

func (s *NodeServer) listen(network *loopback.Network, address string) (err error) {
	if s.http, err = network.Serve(address, http.HandlerFunc(s.serve)); err != nil {
		return err
	}
	next, err := nextPort(s.http.Host())
	if err == nil {
		s.sockets, err = network.Serve(next, http.HandlerFunc(s.serve))
	}
	if err != nil {
		return errors.Join(fmt.Errorf("listen for websockets: %w", err), s.http.Close())
	}
	return nil
}

func nextPort(address string) (string, error) {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return "", err
	}
	n, err := strconv.Atoi(port)
	if err != nil || n == 65535 {
		return "", fmt.Errorf("port %s cannot be used: websockets are served on the next higher port, and the highest is 65535", port)
	}
	return net.JoinHostPort(host, strconv.Itoa(n+1)), nil
}

// URL returns the server's URL.
func (s *NodeServer) URL() string { return s.http.URL() }

// SocketURL returns the URL for websockets.
func (s *NodeServer) SocketURL() string { return "ws://" + s.sockets.Host() }

// tell lets the server answer for another bank from the next request on.
func (s *NodeServer) tell(b *bank.Bank) { s.told.Store(b) }

func (s *NodeServer) bank() *bank.Bank { return s.told.Load() }

// Misbehave changes what is wrong with the server from the next request on.
func (s *NodeServer) Misbehave(f NodeFault) { s.fault.Store(&f) }

// Requests returns the methods of every HTTP request since the last call, in
// order: one round trip is one element, a batch has several methods. Calls over
// websockets are not among them.
func (s *NodeServer) Requests() [][]string { return s.rpc.Requests() }

// Close ends the server and cuts its connections. It may be called more than once.
func (s *NodeServer) Close() error {
	s.mu.Lock()
	s.closed = true // no websocket begins any more
	s.mu.Unlock()
	s.stop()
	err := errors.Join(s.http.Close(), s.sockets.Close())
	s.open.Wait()
	return err
}

// serve puts the faults in front of the methods.
func (s *NodeServer) serve(w http.ResponseWriter, r *http.Request) {
	f := *s.fault.Load()
	if f.transport().Spoil(w, r) {
		return
	}
	switch {
	case r.Header.Get("Upgrade") != "":
		s.serveSocket(w, r, f)
	case r.Method == http.MethodGet && r.URL.Path == "/health":
		text := "ok"
		if f.Unhealthy {
			text = "behind"
		}
		_, _ = w.Write([]byte(text))
	case r.Method != http.MethodPost:
		http.Error(w, "Used HTTP Method is not allowed. POST or OPTIONS is required", http.StatusMethodNotAllowed)
	default:
		s.answer(w, r, f)
	}
}
