package lp

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log"
	"math/big"
	"net/http"
	"net/http/httptest"
	"testing"
	"testing/synctest"
	"time"

	"github.com/btcsuite/btcd/btcec/v2"

	"github.com/swapper-go/swapper/internal/retry"
	"github.com/swapper-go/swapper/internal/vectors"
)

// quick repeats calls as usual, without the waits.
func quick() retry.Policy {
	return retry.Policy{Sleep: func(ctx context.Context, _ time.Duration) error { return ctx.Err() }}
}

// serve answers on a real socket with HTTP/1.1, full duplex. The context of a
// request ends with the test: a server does not see a client go away before it
// has read the whole request.
func serve(t testing.TB, h http.HandlerFunc) string {
	t.Helper()
	return start(t, httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_ = http.NewResponseController(w).EnableFullDuplex()
		h(w, r)
	})))
}

func start(t testing.TB, s *httptest.Server) string {
	t.Helper()
	stop, stopped := context.WithCancel(context.Background())
	h := s.Config.Handler
	s.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ctx, cancel := context.WithCancel(r.Context())
		defer cancel()
		defer context.AfterFunc(stop, cancel)()
		h.ServeHTTP(w, r.WithContext(ctx))
	})
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	s.Start()
	t.Cleanup(func() {
		stopped()
		s.CloseClientConnections()
		s.Close()
	})
	return s.URL
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

// class names an error as the vectors do.
func class(err error) string {
	if _, ok := errors.AsType[*OutOfBoundsError](err); ok {
		return "OutOfBoundsError"
	}
	if _, ok := errors.AsType[*RequestError](err); ok {
		return "RequestError"
	}
	if _, ok := errors.AsType[*LPError](err); ok {
		return "IntermediaryError"
	}
	return "Error"
}

func readAll(r *http.Request) []byte {
	data, _ := io.ReadAll(r.Body)
	return data
}

func number(t testing.TB, s string) *big.Int {
	t.Helper()
	v, ok := new(big.Int).SetString(s, 10)
	if !ok {
		t.Fatalf("%q is no number", s)
	}
	return v
}

func retryTimes(n int) retry.Policy {
	p := quick()
	p.Calls = n
	return p
}

func privateKey(n byte) *btcec.PrivateKey {
	key, _ := btcec.PrivKeyFromBytes([]byte{n})
	return key
}

// eachTimed runs check on every case of a file in a world of its own, whose time
// passes only while everybody waits: what happens after 10 ms is before what
// happens after 20 ms, however busy the machine is.
func eachTimed(t *testing.T, area, file string, check func(t *testing.T, c *vectors.Case)) {
	t.Helper()
	vectors.Each(t, area, file, func(t *testing.T, c *vectors.Case) {
		synctest.Test(t, func(t *testing.T) { check(t, c) })
	})
}

// roundTripper answers requests without a network.
type roundTripper func(*http.Request) (status int, contentType string, body []byte)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) {
	status, contentType, body := f(r)
	return &http.Response{StatusCode: status, Header: http.Header{"Content-Type": {contentType}}, ContentLength: -1,
		Body: io.NopCloser(bytes.NewReader(body)), Request: r}, nil
}
