// Package serve runs an HTTP server for a swap service: it limits what clients may use,
// replaces certificates while it runs, and lets requests in progress finish when it ends.
//
// [Watch] holds the contents of files that may be replaced while the process
// runs.
//
// [Trusted] finds the address from which a request comes when reverse proxies are
// in front of the server.
//
// [LogAccess] writes a log line for each request, and keeps secrets out of logs.
package serve

import (
	"context"
	"crypto/tls"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"time"
)

// Bounds of connections. Operations that wait longer than writeTimeout push it back by
// themselves, see package httpapi.
const (
	headerTimeout = 5 * time.Second
	readTimeout   = 30 * time.Second
	writeTimeout  = time.Minute
	idleTimeout   = 2 * time.Minute
	maxHeader     = 64 << 10

	// defaultConnections is [Options.Connections] if that is 0.
	defaultConnections = 4096
	// defaultGrace is [Options.Grace] if that is 0.
	defaultGrace = 30 * time.Second
)

// Options of [Run].
type Options struct {
	Handler     http.Handler
	Certificate *Certificate // nil: plain HTTP
	Connections int          // open at once; more wait to be accepted; 0: 4096
	// PerAddress is how many of them one address may have, of IPv6 one /56 network and four
	// times as many one /48; more are closed. 0: a sixteenth, and 64 at least.
	PerAddress int
	// Trusted are the networks of reverse proxies, which bring the connections of many.
	Trusted []netip.Prefix
	// Grace is how long requests in progress may go on once the server ends; 0:
	// 30 s. Those that are left are then cut off.
	Grace  time.Duration
	Logger *slog.Logger // nil: slog.Default()
	// Ending is called when the server begins to end, before it stops to accept
	// connections: so that it can say that it is not ready any more, and that
	// streams end. May be nil.
	Ending func()
}

// newServer returns a server with the bounds of this package, for handler.
func newServer(handler http.Handler, log *slog.Logger) *http.Server {
	if log == nil {
		log = slog.Default()
	}
	return &http.Server{
		Handler: handler, ErrorLog: slog.NewLogLogger(log.Handler(), slog.LevelDebug), // strangers cause these lines: TLS handshakes that fail, headers that are none
		ReadHeaderTimeout: headerTimeout, ReadTimeout: readTimeout, WriteTimeout: writeTimeout, IdleTimeout: idleTimeout, MaxHeaderBytes: maxHeader,
	}
}

// Run serves until ctx ends or the listener fails, and closes the listener. When ctx
// ends, requests in progress have [Options.Grace] to be answered; it returns nil if
// they were.
func Run(ctx context.Context, listener net.Listener, o Options) error {
	return run(ctx, listener, newServer(once(o.Handler), o.Logger), o)
}

// run is [Run] with a server of [newServer].
func run(ctx context.Context, listener net.Listener, server *http.Server, o Options) error {
	if o.Connections <= 0 {
		o.Connections = defaultConnections
	}
	if o.Grace <= 0 {
		o.Grace = defaultGrace
	}
	if o.PerAddress <= 0 {
		o.PerAddress = max(o.Connections/shareOf, leastShare)
	}
	server.ConnContext = connContext
	listener = newListener(listener, o)
	if o.Certificate != nil {
		listener = tls.NewListener(listener, o.Certificate.Config())
	}
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }()
	select {
	case err := <-served:
		return err
	case <-ctx.Done():
	}
	if o.Ending != nil {
		o.Ending()
	}
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), o.Grace)
	defer cancel()
	if err := server.Shutdown(last); err != nil {
		return errors.Join(err, server.Close())
	}
	return nil
}

// once has spare connections closed after an answer.
func once(next http.Handler) http.Handler {
	if next == nil {
		next = http.DefaultServeMux
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if Crowded(r.Context()) {
			w.Header().Set("Connection", "close")
		}
		next.ServeHTTP(w, r)
	})
}
