package bitcoin

import (
	"context"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/swapper-go/swapper/internal/devnet/loopback"
)

// Fault is how a [Server] misbehaves. The zero value is a good server; several
// faults may be combined.
type Fault struct {
	Down         bool          // connections are cut without an answer
	Status       int           // every request is answered with this status, as in 502
	RetryAfter   string        // header of those answers, as in "7"
	Delay        time.Duration // before every answer
	Garbage      bool          // answers are HTML with status 200
	WrongNetwork bool          // block 0 is another network's
	LyingHeaders bool          // headers do not hash to their ids
	LyingTxs     bool          // transactions do not hash to their ids
	LyingProofs  bool          // merkle proofs lead nowhere
	Plain        bool          // a plain Esplora: no v1 paths, pages of 10 headers
	Behind       uint32        // so many of the newest blocks are not known
	LoseAnswer   bool          // broadcasts are done, but the connection is cut before the answer
	Huge         bool          // answers go on for ever
	NoSockets    bool          // no WebSocket
	Silent       bool          // WebSocket connections stay, but nothing is said over them
	Mute         bool          // WebSocket connections give signs of life, and tell of no block
	Flood        bool          // WebSocket connections tell of blocks without end that do not exist
}

// transport is the part that any HTTP server can get wrong.
func (f Fault) transport() loopback.Fault {
	return loopback.Fault{Down: f.Down, Delay: f.Delay, Status: f.Status, RetryAfter: f.RetryAfter, Garbage: f.Garbage, Huge: f.Huge}
}

// Server answers the mempool.space REST calls that the library uses for one
// network (protocol: bitcoin.md §3.3).
type Server struct {
	net   *Net
	http  *loopback.Server
	fault atomic.Pointer[Fault]

	ctx  context.Context // ends with the server
	stop context.CancelFunc

	mu      sync.Mutex
	behaves chan struct{} // closed when fault changes
	log     []string
	closed  bool
	open    sync.WaitGroup // WebSocket connections
}

// Serve starts another REST server; address is host:port, "" for a free port of
// 127.0.0.1. Closing the network closes it too.
func (n *Net) Serve(address string) (*Server, error) {
	s := &Server{net: n, behaves: make(chan struct{})}
	s.ctx, s.stop = context.WithCancel(context.Background())
	s.fault.Store(new(Fault))
	var err error
	if s.http, err = n.network.Serve(address, s.handler()); err != nil {
		s.stop()
		return nil, err
	}
	n.mu.Lock()
	n.servers = append(n.servers, s)
	n.mu.Unlock()
	return s, nil
}

// URL returns the server's base URL, with a slash at its end.
func (s *Server) URL() string { return s.http.URL() + "/api/" }

// SocketURL returns the URL of the server's WebSocket, as mempool.space has it.
func (s *Server) SocketURL() string {
	return "ws" + strings.TrimPrefix(s.http.URL(), "http") + "/api/v1/ws"
}

// Misbehave changes what is wrong with the server from the next request on.
func (s *Server) Misbehave(f Fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fault.Store(&f)
	close(s.behaves)
	s.behaves = make(chan struct{})
}

// Requests returns the paths (without /api/) that were asked for since the last
// call, in order.
func (s *Server) Requests() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	log := s.log
	s.log = nil
	return log
}

// Close ends the server and cuts its connections. It may be called more than once.
func (s *Server) Close() error {
	s.mu.Lock()
	s.closed = true // no WebSocket connection begins any more
	s.mu.Unlock()
	s.stop()
	err := s.http.Close()
	s.open.Wait()
	return err
}

// handler puts the faults in front of the routes.
func (s *Server) handler() http.Handler {
	routes := s.routes()
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		f := *s.fault.Load()
		s.mu.Lock()
		if len(s.log) < 10_000 {
			s.log = append(s.log, r.Method+" "+trimBase(r.URL.Path))
		}
		s.mu.Unlock()
		if !f.transport().Spoil(w, r) {
			routes.ServeHTTP(w, r)
		}
	})
}
