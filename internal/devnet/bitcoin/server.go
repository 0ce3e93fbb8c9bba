package bitcoin

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
}

// Server answers the mempool.space REST calls that the library uses for one
// network (protocol: bitcoin.md §3.3).
type Server struct {
	net      *Net
	http     *http.Server
	listener net.Listener
	fault    atomic.Pointer[Fault]
	done     chan struct{}
	once     sync.Once

	mu  sync.Mutex
	log []string
}

// Serve starts another REST server; address is host:port, "" for a free port of
// 127.0.0.1. Closing the network closes it too.
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
	s.http = &http.Server{Handler: s.handler(), ReadHeaderTimeout: 10 * time.Second}
	go func() {
		defer close(s.done)
		_ = s.http.Serve(listener) // ends with Close
	}()
	n.mu.Lock()
	n.servers = append(n.servers, s)
	n.mu.Unlock()
	return s, nil
}

// URL returns the server's base URL, with a slash at its end.
func (s *Server) URL() string { return "http://" + s.listener.Addr().String() + "/api/" }

// Misbehave changes what is wrong with the server from the next request on.
func (s *Server) Misbehave(f Fault) { s.fault.Store(&f) }

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
	var err error
	s.once.Do(func() {
		err = s.http.Close()
		<-s.done
	})
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
			routes.ServeHTTP(w, r)
		}
	})
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
