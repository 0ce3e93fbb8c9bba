package nostr_test

import (
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/internal/devnet/watchtower"
	"github.com/swapper-go/swapper/internal/nostr"
	"github.com/swapper-go/swapper/internal/trial"
)

const preimage = "8e44e0a82e03a93d033223164b36efa288b7e2cd541884e6b31181665ae23107"

func message() nostr.Message {
	return nostr.Message{SwapData: json.RawMessage(`{"type": "evm", "amount": "1"}`), Preimage: preimage}
}

func relay(t testing.TB, f watchtower.RelayFault) *watchtower.Relay {
	t.Helper()
	r := trial.Must(watchtower.StartRelay(""))(t)
	r.Misbehave(f)
	t.Cleanup(func() { _ = r.Close() })
	return r
}

func messenger(t testing.TB, o nostr.Options) *nostr.Messenger {
	t.Helper()
	o.Network, o.Timeout = bitcoin.Regtest, cmp.Or(o.Timeout, time.Minute)
	m := trial.Must(nostr.New(o))(t)
	t.Cleanup(func() { _ = m.Close() })
	return m
}

// silent is a listener that takes connections and says nothing, as seen as ws and wss.
func silent(t *testing.T) (ws, wss string) {
	l := trial.Must(net.Listen("tcp", "127.0.0.1:0"))(t)
	t.Cleanup(func() { _ = l.Close() })
	return "ws://" + l.Addr().String(), "wss://" + l.Addr().String()
}

// trickle answers the handshake one byte at a time.
func trickle(t *testing.T) string {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		conn, _, err := w.(http.Hijacker).Hijack()
		if err != nil {
			return
		}
		defer conn.Close()
		for {
			if _, err := conn.Write([]byte("H")); err != nil {
				return
			}
			time.Sleep(10 * time.Millisecond)
		}
	}))
	t.Cleanup(s.Close)
	return "ws" + strings.TrimPrefix(s.URL, "http")
}

// published waits until a relay has a message, which the second relay has after Publish returned.
func published(t *testing.T, r *watchtower.Relay) {
	t.Helper()
	for end := time.Now().Add(time.Minute); len(r.Events()) == 0; time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("a relay never got the message")
		}
	}
	if n := len(r.Events()); n != 1 {
		t.Errorf("%d events", n)
	}
}

// gated is a transport that connects once it is opened.
func gated() (h *http.Transport, open func()) {
	gate := make(chan struct{})
	return &http.Transport{DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
		select {
		case <-gate:
			return new(net.Dialer).DialContext(ctx, network, address)
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}}, sync.OnceFunc(func() { close(gate) })
}

// waiter is a context that counts who waits for its end.
type waiter struct {
	context.Context
	waiting atomic.Int32
}

func (w *waiter) Done() <-chan struct{} {
	w.waiting.Add(1)
	return w.Context.Done()
}

// wait returns once so many have joined a publication that has not begun.
func (w *waiter) wait(t *testing.T, n int32) {
	t.Helper()
	for end := time.Now().Add(time.Minute); w.waiting.Load() < n; time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%d wait, want %d", w.waiting.Load(), n)
		}
	}
}

func TestPublish(t *testing.T) {
	good, other := relay(t, watchtower.RelayFault{}), relay(t, watchtower.RelayFault{})
	m := messenger(t, nostr.Options{Relays: []string{good.URL(), other.URL(), good.URL()}})
	trial.Do(t, m.Publish(t.Context(), message()))
	published(t, good)
	published(t, other)
	trial.Do(t, m.Close())
	for _, r := range []*watchtower.Relay{good, other} {
		events := r.Events()
		if len(events) != 1 {
			t.Fatalf("%d events", len(events))
		}
		for _, e := range events {
			if want := `{"type":0,"swapData":{"type":"evm","amount":"1"},"witness":"` + preimage + `"}`; e.Content != want || e.Kind != 28646 || e.Check() != nil {
				t.Errorf("%d %s", e.Kind, e.Content)
			}
		}
	}
	if err := m.Publish(t.Context(), message()); err == nil {
		t.Error("closed, but published")
	}
}

// A relay of any badness must neither hold up nor spoil a publication that another
// takes, and alone must be an error within the timeout.
func TestBadRelays(t *testing.T) {
	t.Parallel()
	const timeout = 400 * time.Millisecond
	ws, wss := silent(t)
	slowTLS := httptest.NewUnstartedServer(http.NotFoundHandler())
	slowTLS.TLS = &tls.Config{GetConfigForClient: func(*tls.ClientHelloInfo) (*tls.Config, error) {
		time.Sleep(2 * timeout)
		return nil, errors.New("too late")
	}}
	slowTLS.StartTLS()
	t.Cleanup(slowTLS.Close)
	closed := trial.Must(net.Listen("tcp", "127.0.0.1:0"))(t)
	_ = closed.Close()
	target := relay(t, watchtower.RelayFault{})

	bad := map[string]string{
		"silent listener": ws, "silent TLS": wss, "slow TLS": "wss" + strings.TrimPrefix(slowTLS.URL, "https"), "nobody there": "ws://" + closed.Addr().String(),
		"trickling handshake": trickle(t),
	}
	for name, f := range map[string]watchtower.RelayFault{
		"never answers": {Silent: true}, "hangs": {Hang: true}, "refuses": {Refuse: "blocked: you said %s"}, "refuses without a word": {Refuse: "no, %s"},
		"closes": {Cut: true}, "garbage": {Garbage: true}, "other id": {WrongID: true}, "endless": {Endless: true}, "huge": {Huge: true}, "down": {Down: true},
		"status": {Status: 503}, "slow": {Delay: 2 * timeout}, "redirects": {Redirect: strings.Replace(target.URL(), "ws", "http", 1)},
	} {
		bad[name] = relay(t, f).URL()
	}
	for name, url := range bad {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var log bytes.Buffer
			m := messenger(t, nostr.Options{Relays: []string{url + "/path?token=hidden"}, Timeout: timeout,
				Log: slog.New(slog.NewJSONHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))})
			start := time.Now()
			err := m.Publish(t.Context(), message())
			if took := time.Since(start); took > timeout+5*time.Minute {
				t.Errorf("took %s", took)
			}
			if fault.CodeOf(err) != fault.Upstream {
				t.Errorf("%v", err)
			}
			t.Log(err)
			trial.Do(t, m.Close()) // the log is complete
			for _, secret := range []string{preimage, preimage[:8], "hidden", "amount"} {
				if text := fmt.Sprint(err) + log.String(); strings.Contains(text, secret) {
					t.Errorf("%q is told: %s", secret, text)
				}
			}
			good := relay(t, watchtower.RelayFault{})
			both := messenger(t, nostr.Options{Relays: []string{url, good.URL()}, Timeout: time.Hour})
			start = time.Now()
			if err := both.Publish(t.Context(), message()); err != nil {
				t.Errorf("beside a good one: %v", err)
			}
			published(t, good)
			if took := time.Since(start); took > 5*time.Minute {
				t.Errorf("took %s beside a good one", took)
			}
		})
	}
	t.Cleanup(func() {
		if len(target.Events()) != 0 || target.Connections() != 0 {
			t.Error("a redirect was followed")
		}
	})
}

func TestConcurrentCallsShareAPublication(t *testing.T) {
	t.Parallel()
	r := relay(t, watchtower.RelayFault{})
	now := time.Unix(1_800_000_000, 0)
	transport, open := gated()
	defer open()
	m := messenger(t, nostr.Options{Relays: []string{r.URL()}, Now: func() time.Time { return now }, HTTP: transport})
	var all sync.WaitGroup
	callers := &waiter{Context: t.Context()}
	for range 20 {
		all.Go(func() {
			if err := m.Publish(callers, message()); err != nil {
				t.Error(err)
			}
		})
	}
	callers.wait(t, 20)
	open()
	all.Wait()
	if n := len(r.Events()); n != 1 {
		t.Errorf("%d publications", n)
	}
	deadline := time.Now().Add(time.Minute)
	for len(r.Events()) < 2 && time.Now().Before(deadline) { // the same second, so the same event again
		trial.Do(t, m.Publish(t.Context(), message()))
	}
	if e := r.Events(); len(e) < 2 || e[0].ID != e[1].ID {
		t.Errorf("%v", e)
	}
}

func TestOneCallerGoesAndOthersStay(t *testing.T) {
	t.Parallel()
	r := relay(t, watchtower.RelayFault{})
	transport, open := gated()
	defer open()
	m := messenger(t, nostr.Options{Relays: []string{r.URL()}, HTTP: transport})
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	stays, caller := make(chan error, 1), &waiter{Context: t.Context()}
	go func() { stays <- m.Publish(caller, message()) }()
	caller.wait(t, 1)
	if err := m.Publish(ctx, message()); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("%v", err)
	}
	open()
	if err := <-stays; err != nil {
		t.Error(err)
	}
}

func TestManyMessagesShareConnections(t *testing.T) {
	t.Parallel()
	r := relay(t, watchtower.RelayFault{Delay: 5 * time.Millisecond})
	m := messenger(t, nostr.Options{Relays: []string{r.URL()}, Timeout: time.Minute})
	var all sync.WaitGroup
	for i := range 200 {
		all.Go(func() {
			msg := message()
			msg.SwapData = fmt.Appendf(nil, `{"type":"evm","amount":"%d"}`, i)
			if err := m.Publish(t.Context(), msg); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if n := len(r.Events()); n != 200 {
		t.Errorf("%d events", n)
	}
}

func TestCloseCutsOff(t *testing.T) {
	before := runtime.NumGoroutine()
	silent := trial.Must(net.ListenTCP("tcp", &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)}))(t)
	defer silent.Close()
	m := messenger(t, nostr.Options{Relays: []string{"ws://" + silent.Addr().String()}, Timeout: time.Hour})
	failed := make(chan error, 1)
	go func() { failed <- m.Publish(t.Context(), message()) }()
	soon := time.Now().Add(time.Minute)
	trial.Do(t, silent.SetDeadline(soon))
	conn := trial.Must(silent.Accept())(t)
	defer conn.Close()
	trial.Do(t, conn.SetDeadline(soon))
	trial.Must(conn.Read(make([]byte, 1)))(t) // the connection is in use: one that is still being made would be kept for later
	trial.Do(t, m.Close())
	if err := <-failed; err == nil {
		t.Error("no error")
	}
	for deadline := time.Now().Add(time.Minute); runtime.NumGoroutine() > before && time.Now().Before(deadline); {
		time.Sleep(10 * time.Millisecond)
	}
	if n := runtime.NumGoroutine(); n > before {
		t.Errorf("%d goroutines, %d before", n, before)
	}
}

func TestOptionsAndMessagesAreChecked(t *testing.T) {
	for name, o := range map[string]nostr.Options{
		"signet has no messages": {Network: bitcoin.Signet}, "regtest has no relays": {Network: bitcoin.Regtest},
		"http":      {Network: bitcoin.Regtest, Relays: []string{"http://127.0.0.1"}},
		"no host":   {Network: bitcoin.Regtest, Relays: []string{"wss://"}},
		"not a URL": {Network: bitcoin.Regtest, Relays: []string{"wss://%zz"}},
		"too many":  {Network: bitcoin.Regtest, Relays: make([]string, 33)},
	} {
		if _, err := nostr.New(o); fault.CodeOf(err) != fault.InvalidInput {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, n := range []bitcoin.Network{bitcoin.Mainnet, bitcoin.Testnet3, bitcoin.Testnet4} {
		if m, err := nostr.New(nostr.Options{Network: n}); err != nil || m.Close() != nil {
			t.Errorf("%s: %v", n, err)
		}
	}
	r := relay(t, watchtower.RelayFault{})
	m := messenger(t, nostr.Options{Relays: []string{r.URL()}})
	for name, msg := range map[string]nostr.Message{
		"no preimage":    {SwapData: json.RawMessage(`{"type":"evm"}`)},
		"short preimage": {SwapData: json.RawMessage(`{"type":"evm"}`), Preimage: "00"},
		"no data":        {Preimage: preimage},
		"null":           {SwapData: json.RawMessage(`null`), Preimage: preimage},
		"no type":        {SwapData: json.RawMessage(`{}`), Preimage: preimage},
		"two values":     {SwapData: json.RawMessage(`{"type":"evm"}{}`), Preimage: preimage},
	} {
		if err := m.Publish(t.Context(), msg); err == nil || strings.Contains(err.Error(), preimage) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if len(r.Events()) != 0 {
		t.Error("published")
	}
}

func TestMessagesPrintWithoutThePreimage(t *testing.T) {
	r := relay(t, watchtower.RelayFault{})
	m := messenger(t, nostr.Options{Relays: []string{r.URL()}})
	trial.Do(t, m.Publish(t.Context(), message()))
	e := r.Events()[0]
	var log bytes.Buffer
	slog.New(slog.NewJSONHandler(&log, nil)).Info("x", "message", message(), "event", e)
	for _, text := range []string{fmt.Sprint(message(), e), fmt.Sprintf("%+v %#v %s", message(), message(), message()), fmt.Sprintf("%+v %#v %s", e, e, e), log.String()} {
		if strings.Contains(text, preimage) {
			t.Error(text)
		}
	}
}
