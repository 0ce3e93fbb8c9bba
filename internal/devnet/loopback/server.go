// Package loopback has what the HTTP services of the local network share: a
// server on a loopback socket, and the ways in which any HTTP server can fail.
package loopback

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"sync"
	"time"
)

// Server is a running HTTP server.
type Server struct {
	http     *http.Server
	listener net.Listener
	cancel   context.CancelFunc
	serving  sync.WaitGroup
	once     sync.Once

	mu    sync.Mutex
	fresh map[net.Conn]bool // connections without a request
}

// Serve starts a server; address is host:port, "" for a free port of 127.0.0.1.
func (n *Network) Serve(address string, h http.Handler) (*Server, error) {
	listener, err := n.Listen(address)
	if err != nil {
		return nil, err
	}
	return serve(listener, h), nil
}

// ServeTLS is [Network.Serve] over TLS, to be reached by [Server.Host].
func (n *Network) ServeTLS(address string, h http.Handler, certificate tls.Certificate) (*Server, error) {
	listener, err := n.Listen(address)
	if err != nil {
		return nil, err
	}
	return serve(tls.NewListener(listener, &tls.Config{Certificates: []tls.Certificate{certificate}, MinVersion: tls.VersionTLS12}), h), nil
}

func serve(listener net.Listener, h http.Handler) *Server {
	ctx, cancel := context.WithCancel(context.Background())
	s := &Server{listener: listener, cancel: cancel, fresh: make(map[net.Conn]bool)}
	s.http = &http.Server{Handler: h, ReadHeaderTimeout: 10 * time.Second, ErrorLog: log.New(io.Discard, "", 0), BaseContext: func(net.Listener) context.Context { return ctx }, ConnState: s.follow}
	s.http.RegisterOnShutdown(s.cutFresh)
	s.serving.Go(func() { _ = s.http.Serve(listener) }) // ends with Close
	return s
}

func (s *Server) follow(c net.Conn, state http.ConnState) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if state == http.StateNew {
		s.fresh[c] = true
	} else {
		delete(s.fresh, c)
	}
}

// cutFresh ends the connections that clients have opened for later: nothing is under way there,
// but Shutdown would wait for their first request.
func (s *Server) cutFresh() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for c := range s.fresh {
		c.Close()
	}
}

// Host returns host:port.
func (s *Server) Host() string { return s.listener.Addr().String() }

// URL returns the server's URL, without a slash at the end.
func (s *Server) URL() string { return "http://" + s.Host() }

// Close ends the server: requests under way have a second, then their connections
// are cut. It may be called more than once.
func (s *Server) Close() error {
	var err error
	s.once.Do(func() {
		s.cancel()
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		if err = s.http.Shutdown(ctx); err != nil {
			err = s.http.Close()
		}
		s.serving.Wait()
	})
	return err
}

// Fault is how an HTTP server can fail, whatever it serves. The zero value is a
// good server.
type Fault struct {
	Down    bool          // connections are cut without an answer
	Delay   time.Duration // before every answer
	Stall   bool          // headers come, the body never does
	Status  int           // every request is answered with this HTTP status
	Garbage bool          // answers are HTML with status 200
	Huge    bool          // answers go on for ever

	RetryAfter string // header of answers with Status, as in "7"
}

// Spoil answers the request as the fault demands and reports whether it did.
func (f Fault) Spoil(w http.ResponseWriter, r *http.Request) bool {
	if f.Delay > 0 && sleep(r.Context(), f.Delay) != nil {
		return true
	}
	switch {
	case f.Down:
		Cut()
	case f.Stall:
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusOK)
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done()
	case f.Status != 0:
		if f.RetryAfter != "" {
			w.Header().Set("Retry-After", f.RetryAfter)
		}
		http.Error(w, http.StatusText(f.Status), f.Status)
	case f.Garbage:
		_, _ = w.Write([]byte("<html><body>please log in</body></html>"))
	case f.Huge:
		_, _ = w.Write([]byte(`{"a":"`))
		for junk := bytes.Repeat([]byte("x"), 1<<16); ; {
			if _, err := w.Write(junk); err != nil {
				return true
			}
		}
	default:
		return false
	}
	return true
}

// Cut ends the connection of the request that is being served without an answer,
// or within one. It does not return.
func Cut() { panic(http.ErrAbortHandler) }

func sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return errors.New("the caller is gone")
	}
}
