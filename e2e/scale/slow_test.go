package scale

import (
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"sync/atomic"
	"testing"
	"time"

	"github.com/swapper-go/swapper/internal/trial"
)

// trip is how long a request takes at least while the network is slow.
const trip = 100 * time.Millisecond

// distance is what lies between the library and the rest of the network: every
// request waits for a trip before it is passed on, if it is slow.
type distance struct {
	slow     atomic.Bool
	requests atomic.Int64
}

// before returns the base URL of a proxy that stands before the server at a
// base URL.
func (d *distance) before(tb testing.TB, base string) string {
	tb.Helper()
	u := trial.Must(url.Parse(base))(tb)
	proxy := httputil.NewSingleHostReverseProxy(u)
	proxy.FlushInterval = -1
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.MaxIdleConnsPerHost = 256
	proxy.Transport = transport
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		d.requests.Add(1)
		_ = http.NewResponseController(w).EnableFullDuplex() // requests to LPs are streamed
		if d.slow.Load() {
			select {
			case <-time.After(trip):
			case <-r.Context().Done():
				return
			}
		}
		proxy.ServeHTTP(w, r)
	}))
	tb.Cleanup(func() { server.Close(); transport.CloseIdleConnections() })
	return server.URL
}
