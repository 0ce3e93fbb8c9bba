package main

import (
	"bufio"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"github.com/swapper-go/swapper/httpapi/limit"
)

// stranger sends requests from an address of this machine, which of IPv4 has many.
func (v *town) stranger(address string) *http.Client {
	v.Helper()
	d := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(address)}, Timeout: 10 * time.Second}
	c := &http.Client{Timeout: 30 * time.Second, Transport: &http.Transport{DialContext: d.DialContext, MaxIdleConnsPerHost: 10_000, MaxConnsPerHost: 0}}
	v.Cleanup(c.CloseIdleConnections)
	probe, err := d.Dial("tcp", strings.TrimPrefix(v.base, "http://"))
	if err != nil {
		v.Skipf("connections from %s are not possible here: %v", address, err)
	}
	probe.Close()
	return c
}

// status is what a request is answered with; 0 if the connection was cut.
func (v *town) status(c *http.Client, path string, headers map[string]string) int {
	v.Helper()
	r, err := http.NewRequestWithContext(v.Context(), "GET", v.base+path, nil)
	if err != nil {
		v.Fatal(err)
	}
	r.Header = header(headers)
	answer, err := c.Do(r)
	if err != nil {
		return 0
	}
	defer answer.Body.Close()
	_, _ = io.Copy(io.Discard, answer.Body)
	return answer.StatusCode
}

// Strangers who take all that they can get, by one line of the network or by many, keep out
// neither the holder of a key nor a check of health.
func TestACrowdKeepsOutStrangersAlone(t *testing.T) {
	v := newTown(t)
	v.write("local.json", json.RawMessage(v.text))
	v.serve(map[string]any{
		"local": "local.json", "limits": map[string]int{"connections": 256, "perAddress": 40, "requests": 4, "perSender": 2},
		"rateLimit": map[string]int{"windowMs": 1000, "maxRequests": 100_000},
		"auth":      []any{map[string]any{"type": "apiKey", "name": "backend", "apiKey": "secret-0123456789"}, map[string]any{"type": "none", "name": "public"}},
	})
	key := map[string]string{"x-api-key": "secret-0123456789"}
	ask := "/api/parseAddress?address=" + v.me()
	holder := v.stranger("127.0.9.1")
	gets := func(what string) {
		t.Helper()
		for path, headers := range map[string]map[string]string{"/healthz": nil, "/readyz": nil, ask: key} {
			for range 3 {
				began := time.Now()
				if status := v.status(holder, path, headers); status != http.StatusOK || time.Since(began) > 30*time.Second {
					t.Errorf("%s: %s is answered with %d after %s", what, path, status, time.Since(began))
				}
				holder.CloseIdleConnections()
			}
		}
	}
	gets("before")

	// One address with all the connections that it can have, by the cheapest of requests.
	var held []net.Conn
	hold := func(address string, n int) (kept int) {
		t.Helper()
		for range n {
			c, err := (&net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(address)}}).DialContext(t.Context(), "tcp", strings.TrimPrefix(v.base, "http://"))
			if err != nil {
				t.Fatal(err)
			}
			held = append(held, c)
			_, _ = io.WriteString(c, "GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n")
			_ = c.SetReadDeadline(time.Now().Add(10 * time.Second))
			if answer, err := http.ReadResponse(bufio.NewReader(c), nil); err == nil && answer.StatusCode == http.StatusOK && !answer.Close {
				kept++
			}
		}
		return kept
	}
	if kept := hold("127.0.5.1", 300); kept != 40 {
		t.Errorf("one address keeps %d of 256 connections, want 40", kept)
	}
	gets("connections of one address")
	others := v.stranger("127.0.6.1")
	if status := v.status(others, ask, nil); status != http.StatusOK {
		t.Errorf("another stranger: %d", status)
	}
	others.CloseIdleConnections()

	// Many addresses with all of them.
	kept := 0
	for i := range 10 {
		kept += hold(fmt.Sprint("127.0.7.", i+1), 40)
	}
	if kept < 256-256/8-40-4 {
		t.Errorf("the crowd keeps %d connections", kept)
	}
	gets("all connections")
	if status := v.status(others, ask, nil); status != http.StatusServiceUnavailable {
		t.Errorf("another stranger is answered with %d while strangers have all connections, want 503", status)
	}
	for _, c := range held {
		c.Close()
	}
	v.until("connections are given back", func() bool { return v.status(others, ask, nil) == http.StatusOK })

	// Streams, each from a line of its own.
	s := v.create(v.fromBitcoin())
	ctx, end := context.WithCancel(t.Context())
	defer end()
	follow := func(c *http.Client, headers map[string]string) (status int) {
		t.Helper()
		r, err := http.NewRequestWithContext(ctx, "GET", v.base+"/api/subscribe?swapId="+s.SwapID, nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Header = header(headers)
		answer, err := c.Do(r)
		if err != nil {
			return 0
		}
		return answer.StatusCode
	}
	streams := &http.Client{Transport: others.Transport}
	open := 0
	for range 30 {
		if follow(streams, nil) == http.StatusOK {
			open++
		}
	}
	if open != 20 {
		t.Errorf("one address has %d streams, want 20", open)
	}
	if status := follow(&http.Client{Transport: holder.Transport}, key); status != http.StatusOK {
		t.Errorf("the holder's stream: %d", status)
	}
	gets("streams")
}

// Whoever has a line of IPv6 has one sender's share, behind a proxy too, and what many lines
// of strangers take is not the places of those who are known.
func TestALineIsOneSender(t *testing.T) {
	s := newService(t, `[{"type": "apiKey", "name": "backend", "apiKey": "secret-0123456789"}, {"type": "none", "name": "public"}]`, `{"windowMs": 60000, "maxRequests": 5}`)
	s.admission.client = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}
	s.places = limit.Places{Total: 30, Each: 3}
	service := &waits{asked: make(chan struct{}, 1000), may: make(chan struct{})}
	server := httptest.NewServer(s.handler(service))
	defer server.Close()
	results := make(chan int, 1000)
	flood := func(form string, n int, headers map[string]string) (passed int) {
		t.Helper()
		for i := range n {
			own := map[string]string{"X-Forwarded-For": fmt.Sprintf(form, i)}
			for k, x := range headers {
				own[k] = x
			}
			go func() {
				status, _, _ := call(t, server.URL, "GET", "/api/parseAddress?address=x", "", own)
				results <- status
			}()
			select {
			case <-service.asked:
				passed++
			case status := <-results:
				if status != http.StatusTooManyRequests && status != http.StatusServiceUnavailable {
					t.Errorf("%v: %d", own, status)
				}
			}
		}
		return passed
	}
	for _, tt := range []struct {
		form string
		want int
	}{
		{"2001:db8::%x", 3}, {"2001:db8:0:%x::1", 0}, {"2001:db8:0:%x00::1", 9}, {"2001:db8:1::%x", 3}, {"2001:db8:%x::1", 15}, // 30 in all
	} {
		if passed := flood(tt.form, 40, nil); passed != tt.want {
			t.Errorf("%s: %d of 40 have places, want %d", tt.form, passed, tt.want)
		}
	}
	if passed := flood("2001:db8::%x", 3, map[string]string{"x-api-key": "secret-0123456789"}); passed != 3 {
		t.Errorf("the holder of a key at the address of the first has %d of 3", passed)
	}
	close(service.may)
}

// A flood of forged signatures is not verified: past the limit of refusals they are not
// looked at. A token that was good lately is, at the same address too.
func TestForgedSignaturesAreNotVerified(t *testing.T) {
	key, public := publicKey(t)
	stranger, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	token := func(subject string, by *ecdsa.PrivateKey) map[string]string {
		text, err := jwt.NewWithClaims(jwt.SigningMethodES256, jwt.MapClaims{"sub": subject, "exp": time.Now().Add(time.Hour).Unix()}).SignedString(by)
		if err != nil {
			t.Fatal(err)
		}
		return map[string]string{"Authorization": "Bearer " + text}
	}
	for name, entries := range map[string]string{"tokens alone": "", "and anybody": `, {"type": "none", "name": "public", "rateLimit": null}`} {
		s := newService(t, `[{"type": "jwt", "name": "users", "rateLimit": null, "publicKey": `+public+`}`+entries+`]`, `{"windowMs": 3600000, "maxRequests": 5}`)
		service := &remembers{}
		server := httptest.NewServer(s.handler(service))
		defer server.Close()
		who := func(headers map[string]string) string {
			t.Helper()
			service.caller = ""
			status, _, _ := call(t, server.URL, "GET", "/api/parseAddress?address=0x1", "", headers)
			if status == http.StatusOK {
				return service.caller[:strings.IndexByte(service.caller, ' ')]
			}
			return fmt.Sprint(status)
		}
		alice, bob := token("alice", key), token("bob", key)
		if got := who(alice); got != `"users"` {
			t.Fatalf("%s: alice is %s", name, got)
		}
		for range 50 {
			if got := who(token("alice", stranger)); got == `"users"` {
				t.Fatalf("%s: a forged token", name)
			}
		}
		if got := who(alice); got != `"users"` {
			t.Errorf("%s: alice, whose token was good, is %s after a flood from her address", name, got)
		}
		if got := who(bob); got == `"users"` {
			t.Errorf("%s: a token that nobody has seen was looked at after 50 forged ones of 5", name)
		}
	}
}
