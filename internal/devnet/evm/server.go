package evm

import (
	"context"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"
)

// Fault is how a [Server] misbehaves. The zero value is a good server; several
// faults may be combined.
type Fault struct {
	Down       bool          // connections are cut without an answer
	Status     int           // every request is answered with this HTTP status, as in 502
	RetryAfter string        // header of those answers, as in "7"
	Delay      time.Duration // before every answer
	Garbage    bool          // answers are HTML with status 200
	Huge       bool          // answers go on for ever
	LoseAnswer bool          // transactions are taken, but the connection is cut before the answer
	WrongChain bool          // eth_chainId is another one
	Behind     uint64        // so many of the newest blocks are not known
	LogRange   uint64        // eth_getLogs over more blocks is refused with code -32005; 0: any range
	MaxBatch   int           // batches of more calls are refused; 0: any number
	Refuse     []string      // methods that the server says it does not have, as in debug_traceTransaction
	Fail       []string      // methods that are answered with an internal error, code -32603
}

// Server answers JSON-RPC over HTTP for one network.
type Server struct {
	net      *Net
	http     *http.Server
	listener net.Listener
	fault    atomic.Pointer[Fault]
	done     chan struct{}
	once     sync.Once

	mu  sync.Mutex
	log [][]string
}

// Serve starts another JSON-RPC server; address is host:port, "" for a free port
// of 127.0.0.1. Closing the network closes it too.
func (n *Net) Serve(address string) (*Server, error) {
	if address == "" {
		address = "127.0.0.1:0"
	}
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return nil, err
	}
	s := &Server{net: n, listener: listener, done: make(chan struct{})}
	s.fault.Store(new(Fault))
	s.http = &http.Server{Handler: http.HandlerFunc(s.serve), ReadHeaderTimeout: 10 * time.Second}
	go func() {
		defer close(s.done)
		_ = s.http.Serve(listener) // ends with Close
	}()
	n.mu.Lock()
	n.servers = append(n.servers, s)
	n.mu.Unlock()
	return s, nil
}

// URL returns the server's URL.
func (s *Server) URL() string { return "http://" + s.listener.Addr().String() }

// Misbehave changes what is wrong with the server from the next request on.
func (s *Server) Misbehave(f Fault) { s.fault.Store(&f) }

// Requests returns the methods of every HTTP request since the last call, in
// order: one round trip is one element, a batch has several methods.
func (s *Server) Requests() [][]string {
	s.mu.Lock()
	defer s.mu.Unlock()
	log := s.log
	s.log = nil
	return log
}

// Close ends the server and cuts its connections. It may be called more than once.
func (s *Server) Close() error {
	var err error
	s.once.Do(func() {
		err = s.http.Close()
		<-s.done
	})
	return err
}

const maxRequest = 5 << 20 // bytes

// serve puts the faults in front of the methods.
func (s *Server) serve(w http.ResponseWriter, r *http.Request) {
	f := *s.fault.Load()
	if f.Delay > 0 && sleep(r.Context(), f.Delay) != nil {
		return
	}
	switch {
	case f.Down:
		cut(w)
	case f.Status != 0:
		if f.RetryAfter != "" {
			w.Header().Set("Retry-After", f.RetryAfter)
		}
		http.Error(w, http.StatusText(f.Status), f.Status)
	case f.Garbage:
		_, _ = w.Write([]byte("<html><body>please log in</body></html>"))
	case f.Huge:
		for junk := make([]byte, 1<<16); ; {
			if _, err := w.Write(junk); err != nil {
				return
			}
		}
	default:
		s.answer(w, r, f)
	}
}

func (s *Server) note(methods []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.log) < 10_000 {
		s.log = append(s.log, methods)
	}
}

// cut ends the connection without an answer.
func cut(w http.ResponseWriter) {
	if h, ok := w.(http.Hijacker); ok {
		if conn, _, err := h.Hijack(); err == nil {
			_ = conn.Close()
			return
		}
	}
	panic(http.ErrAbortHandler)
}

func sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
