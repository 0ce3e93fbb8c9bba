package lphttp

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"testing"
	"time"

	"github.com/btcsuite/btcd/btcec/v2"

	"github.com/swapper-go/swapper/internal/httpx"
)

// quick repeats calls as usual, without the waits.
func quick() httpx.RetryPolicy {
	return httpx.RetryPolicy{Sleep: func(ctx context.Context, _ time.Duration) error { return ctx.Err() }}
}

// client makes a client that may call the test's own servers.
func client(t testing.TB, o Options) *Client {
	t.Helper()
	o.AllowLocal = true
	if o.Transport == nil {
		transport := NewTransport(TransportOptions{AllowLocal: true})
		t.Cleanup(transport.CloseIdleConnections)
		o.Transport = transport
	}
	if o.Retry.Sleep == nil {
		calls := o.Retry.Calls
		o.Retry = quick()
		o.Retry.Calls = calls
	}
	return NewClient(o)
}

func retryTimes(n int) httpx.RetryPolicy {
	p := quick()
	p.Calls = n
	return p
}

func privateKey(n byte) *btcec.PrivateKey {
	key, _ := btcec.PrivKeyFromBytes([]byte{n})
	return key
}

// roundTripper answers requests without a network.
type roundTripper func(*http.Request) (status int, contentType string, body []byte)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) {
	status, contentType, body := f(r)
	return &http.Response{StatusCode: status, Header: http.Header{"Content-Type": {contentType}}, ContentLength: -1,
		Body: io.NopCloser(bytes.NewReader(body)), Request: r}, nil
}
