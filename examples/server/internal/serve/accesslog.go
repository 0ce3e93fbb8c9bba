package serve

import (
	"context"
	"log/slog"
	"net/http"
	"net/netip"
	"sync"
	"time"

	"github.com/swapper-go/swapper/internal/httpx"
)

// AccessLog says what [LogAccess] writes, and where to.
type AccessLog struct {
	Logger *slog.Logger // nil: slog.Default()
	// Client returns the address that a request comes from, as
	// package proxy's Trusted.Client does; nil: that of the connection.
	Client func(*http.Request) netip.Addr
	// Quiet leaves out requests, such as those of health checks. May be nil.
	Quiet func(*http.Request) bool
}

// maxPath is how much of a path is logged.
const maxPath = 200

// LogAccess returns middleware that logs each request once it was answered: method, path,
// status, bytes, milliseconds taken, client, and what handlers behind it have added with [Add].
// Headers, bodies and the query are left out: a query may carry a preimage.
func LogAccess(o AccessLog) func(http.Handler) http.Handler {
	if o.Logger == nil {
		o.Logger = slog.Default()
	}
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if o.Quiet != nil && o.Quiet(r) {
				next.ServeHTTP(w, r)
				return
			}
			seen, more := httpx.Record(w), &added{}
			began := time.Now()
			defer func() {
				path := r.URL.Path
				if len(path) > maxPath {
					path = path[:maxPath] + "..."
				}
				client := r.RemoteAddr
				if o.Client != nil {
					client = o.Client(r).String()
				}
				attrs := []slog.Attr{
					slog.String("method", r.Method), slog.String("path", path), slog.Int("status", seen.Status), slog.Int64("bytes", seen.Bytes),
					slog.Float64("ms", float64(time.Since(began).Microseconds())/1000), slog.String("client", client),
				}
				o.Logger.LogAttrs(r.Context(), slog.LevelInfo, "request", append(attrs, more.take()...)...)
			}()
			next.ServeHTTP(seen, r.WithContext(context.WithValue(r.Context(), addedKey{}, more)))
		})
	}
}

type addedKey struct{}

// added is what handlers add to a request's line. Safe for concurrent use.
type added struct {
	mu    sync.Mutex
	attrs []slog.Attr
}

func (a *added) take() []slog.Attr {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.attrs
}

// Add adds attributes to the line of the request that a context belongs to. It does
// nothing where no request is logged.
func Add(ctx context.Context, attrs ...slog.Attr) {
	if a, ok := ctx.Value(addedKey{}).(*added); ok {
		a.mu.Lock()
		a.attrs = append(a.attrs, attrs...)
		a.mu.Unlock()
	}
}
