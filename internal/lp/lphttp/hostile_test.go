package lphttp

import (
	"context"
	"encoding/hex"
	"errors"
	"io"
	"math/big"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/internal/async"
	"github.com/swapper-go/swapper/internal/flowtest"
	"github.com/swapper-go/swapper/internal/lp"
	"github.com/swapper-go/swapper/internal/trial"
)

func TestHostileLPs(t *testing.T) {
	t.Parallel()
	for name, h := range flowtest.Hostile {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			base := flowtest.Serve(t, func(w http.ResponseWriter, r *http.Request) {
				if r.Header.Get("Content-Type") == lp.StreamType {
					_, _ = flowtest.ReadFrame(r.Body)
				}
				h(w, r)
			})
			c := client(t, Options{PostTimeout: 150 * time.Millisecond, GetTimeout: 150 * time.Millisecond, Retry: retryTimes(2)})
			start := time.Now()
			_, err := c.ToBTC(t.Context(), base, lp.ToBTCRequest{FeeRate: async.Known("1")}, lp.Early{})
			if flowtest.Class(err) != "Error" {
				t.Errorf("quote: %v", err)
			}
			if code := fault.CodeOf(err); code != fault.Upstream && code != fault.Timeout || !strings.Contains(err.Error(), base) {
				t.Errorf("quote: %v has the code %s", err, code)
			}
			if _, err := c.Status(t.Context(), lp.StatusQuery{URL: base + "/tobtc", Endpoint: lp.GetRefundAuthorization}); err == nil {
				t.Error("status accepted")
			}
			if _, err := c.Info(t.Context(), base); err == nil {
				t.Error("/info accepted")
			}
			if took := time.Since(start); took > 30*time.Second {
				t.Errorf("took %v", took)
			}
		})
	}
}

func TestRedirectsAreNotFollowed(t *testing.T) {
	var called atomic.Bool
	other := flowtest.Serve(t, func(http.ResponseWriter, *http.Request) { called.Store(true) })
	base := flowtest.Serve(t, func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, other, http.StatusTemporaryRedirect) })
	c := client(t, Options{})
	if _, err := c.ToBTC(t.Context(), base, lp.ToBTCRequest{}, lp.Early{}); flowtest.Class(err) != "RequestError" {
		t.Errorf("quote: %v", err)
	}
	if _, err := c.Status(t.Context(), lp.StatusQuery{URL: base, Endpoint: lp.GetInvoiceStatus}); flowtest.Class(err) != "RequestError" {
		t.Errorf("status: %v", err)
	}
	if _, err := c.List(t.Context(), base); err == nil {
		t.Error("list accepted")
	}
	if called.Load() {
		t.Error("a redirect was followed")
	}
}

func TestCallsLeaveNothingBehind(t *testing.T) {
	transport := NewTransport(TransportOptions{AllowLocal: true})
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		flowtest.ReadAll(r) // until the client is gone
	}))
	c := client(t, Options{Transport: transport, Retry: retryTimes(1)})
	before := runtime.NumGoroutine()
	for range 20 {
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Millisecond)
		if _, err := c.ToBTC(ctx, s.URL, lp.ToBTCRequest{FeeRate: async.NewFuture[string]()}, lp.Early{}); err == nil {
			t.Error("a quote from nowhere")
		}
		cancel()
	}
	transport.CloseIdleConnections()
	s.CloseClientConnections()
	s.Close()
	deadline := time.Now().Add(time.Minute)
	for runtime.NumGoroutine() > before && time.Now().Before(deadline) {
		time.Sleep(10 * time.Millisecond)
	}
	if n := runtime.NumGoroutine(); n > before {
		t.Errorf("%d goroutines before, %d after", before, n)
	}
	if len(c.slots.hosts) != 0 {
		t.Errorf("%d hosts remembered", len(c.slots.hosts))
	}
}

func TestCallsAtOnceAreBounded(t *testing.T) {
	var now, most, want atomic.Int64
	base := flowtest.Serve(t, func(w http.ResponseWriter, r *http.Request) {
		n := now.Add(1)
		defer now.Add(-1)
		for m := most.Load(); n > m && !most.CompareAndSwap(m, n); m = most.Load() {
		}
		for end := time.Now().Add(20 * time.Second); most.Load() < want.Load() && time.Now().Before(end); { // until all are here that may
			time.Sleep(time.Millisecond)
		}
		time.Sleep(10 * time.Millisecond) // in which others would come
		_, _ = io.WriteString(w, `{"code":10003,"msg":""}`)
	})
	c := client(t, Options{})
	done := make(chan error)
	status := func() error {
		_, err := c.Status(t.Context(), lp.StatusQuery{URL: base + "/frombtcln_auto", Endpoint: lp.GetInvoiceStatus, ID: "00"})
		return err
	}
	post := func() error {
		_, err := c.SetRefundAddress(t.Context(), base, "00", nil, "bc1")
		return err
	}
	quote := func() error {
		_, err := c.get(t.Context(), toQuote, base, "/lnforgas/createInvoice")
		return err
	}
	for _, at := range []struct {
		calls []func() error
		most  int64
	}{
		{[]func() error{status}, 3}, // two places are for other purposes
		{[]func() error{status, post, quote}, 5},
	} {
		most.Store(0)
		want.Store(at.most)
		for i := range 30 {
			go func() { done <- at.calls[i%len(at.calls)]() }()
		}
		for range 30 {
			if err := <-done; err != nil {
				t.Error(err)
			}
		}
		if most.Load() != at.most {
			t.Errorf("%d calls at once, want %d", most.Load(), at.most)
		}
	}
}

func TestURLRules(t *testing.T) {
	strict, open, public := client(t, Options{}), client(t, Options{AllowHTTP: true}), NewClient(Options{AllowHTTP: true})
	for base, want := range map[string]string{
		"https://lp.example:4000": "https://lp.example:4000", "https://lp.example/": "https://lp.example", "https://lp.example/sub/": "https://lp.example/sub",
		"http://127.0.0.1:80": "http://127.0.0.1:80", "http://[::1]:80": "http://[::1]:80", "http://localhost": "http://localhost",
		"http://lp.example": "", "http://10.0.0.1": "", "http://127.0.0.1.example": "", "http://localhost.example": "", "ftp://lp.example": "", "lp.example": "", "": "",
		"https://": "", "https://a:b@lp.example": "", "https://lp.example?x=1": "", "https://lp.example#x": "", "file:///etc/passwd": "", "https:lp.example": "", "https://lp example": "",
	} {
		got, err := strict.CheckURL(base)
		if got != want || (err == nil) != (want != "") {
			t.Errorf("%q: %q, %v, want %q", base, got, err, want)
		}
	}
	for _, base := range []string{"http://127.0.0.1:80", "https://[::1]:80", "https://localhost", "https://10.0.0.1", "https://169.254.169.254", "https://[fd00::1]", "http://0.0.0.0"} {
		if _, err := public.CheckURL(base); err == nil {
			t.Errorf("%s may be called on a public network", base)
		}
		if _, err := open.CheckURL(base); err != nil {
			t.Errorf("%s on a local network: %v", base, err)
		}
	}
	if _, err := open.CheckURL("http://lp.example"); err != nil {
		t.Errorf("http allowed: %v", err)
	}
	if _, err := strict.ToBTC(t.Context(), "http://lp.example", lp.ToBTCRequest{}, lp.Early{}); err == nil {
		t.Error("an LP is called over http")
	}
}

func TestEveryRequestIsSigned(t *testing.T) {
	auth := testAuth(t)
	signed := make(chan error, 10)
	base := flowtest.Serve(t, func(w http.ResponseWriter, r *http.Request) {
		_, err := accepts(r.Header.Get("x-atomiq-auth"), time.Now())
		signed <- err
		http.Error(w, "{}", http.StatusTeapot)
	})
	c := client(t, Options{Auth: auth})
	_, _ = c.ToBTC(t.Context(), base, lp.ToBTCRequest{FeeRate: async.Known("1")}, lp.Early{})
	_, _ = c.Status(t.Context(), lp.StatusQuery{URL: base, Endpoint: lp.GetInvoiceStatus})
	_, _ = c.TrustedLN(t.Context(), base, lp.TrustedRequest{Amount: big.NewInt(1)})
	for range 3 {
		if err := <-signed; err != nil {
			t.Error(err)
		}
	}
}

// testAuth returns an authentication whose authority is the key 1 and whose
// request key is the key 2.
func testAuth(t testing.TB) *Auth {
	t.Helper()
	authority, request := privateKey(1), privateKey(2)
	requestKey := request.PubKey().SerializeCompressed()[1:]
	signature := trial.Must(signSchnorr(authority, requestKey, [32]byte{}))(t)
	certificate := append(append(authority.PubKey().SerializeCompressed()[1:], signature...), requestKey...)
	return trial.Must(NewAuth(hex.EncodeToString(certificate), hex.EncodeToString(request.Serialize())))(t)
}

func TestPostSPVIsSentOnce(t *testing.T) {
	var calls atomic.Int64
	base := flowtest.Serve(t, func(http.ResponseWriter, *http.Request) {
		calls.Add(1)
		panic(http.ErrAbortHandler)
	})
	c := client(t, Options{})
	_, err := c.PostSPV(t.Context(), base, "CITREA", strings.Repeat("0", 64), []byte("psbt"))
	if _, unknown := errors.AsType[*lp.CallError](err); !unknown || calls.Load() != 1 {
		t.Errorf("%v after %d calls, want an unknown outcome after one", err, calls.Load())
	}
	if _, err := c.PostSPV(t.Context(), base, "CITREA", strings.Repeat("0", 64), make([]byte, 4200)); fault.CodeOf(err) != fault.InvalidInput || calls.Load() != 1 {
		t.Errorf("PSBT that LPs would cut off: %v", err)
	}
}

// A registry, or who names an LP for gas, must not make the service call what only
// it can reach, be it by a name that stands for a private address.
func TestPrivateAddressesAreNotCalled(t *testing.T) {
	var called atomic.Int32
	base := flowtest.Serve(t, func(w http.ResponseWriter, _ *http.Request) {
		called.Add(1)
		w.WriteHeader(http.StatusTeapot)
	})
	port := base[strings.LastIndex(base, ":"):]
	// The system resolves every name below localhost to a loopback address.
	c := NewClient(Options{AllowHTTP: true, Retry: quick()})
	for _, at := range []string{base, "http://lp.localhost" + port} {
		_, err := c.Info(t.Context(), at)
		if err == nil {
			t.Errorf("%s was called", at)
		}
		if _, err := c.List(t.Context(), at); err == nil {
			t.Errorf("%s was asked for LPs", at)
		}
	}
	if n := called.Load(); n != 0 {
		t.Errorf("%d requests to a loopback address", n)
	}
	if _, err := NewClient(Options{AllowLocal: true, Retry: quick()}).Info(t.Context(), base); err == nil || called.Load() == 0 {
		t.Errorf("on a local network: %v, %d calls", err, called.Load())
	}
}
