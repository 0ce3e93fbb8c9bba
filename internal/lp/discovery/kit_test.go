package discovery

import (
	"context"
	"math/big"
	"testing"
	"time"

	"github.com/swapper-go/swapper/internal/lp/lphttp"
)

// newClient makes a client that may call the test's own servers, and repeats calls without
// the waits.
func newClient(t testing.TB, o lphttp.Options) *lphttp.Client {
	t.Helper()
	o.AllowLocal = true
	o.Retry.Sleep = func(ctx context.Context, _ time.Duration) error { return ctx.Err() }
	if o.Transport == nil {
		transport := lphttp.NewTransport(lphttp.TransportOptions{AllowLocal: true})
		t.Cleanup(transport.CloseIdleConnections)
		o.Transport = transport
	}
	return lphttp.NewClient(o)
}

var noon = time.Unix(1_760_000_000, 0)

func n(v int64) *big.Int { return big.NewInt(v) }
