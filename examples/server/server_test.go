package main

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/hex"
	"encoding/json"
	"encoding/pem"
	"errors"
	"log/slog"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/btcsuite/btcd/btcec/v2"
	"github.com/btcsuite/btcd/btcec/v2/schnorr"

	"github.com/swapper-go/swapper"
)

func TestLoad(t *testing.T) {
	if c, err := load("config.example.json"); err != nil || c.Listen != ":3000" || c.BasePath != "/api" || c.Auth[0].RateLimit == nil {
		t.Fatalf("%+v, %v", c, err)
	}
	certificate, key := credentials(t)
	base := map[string]string{
		"bitcoinNetwork": `"TESTNET4"`, "chains": `{"CITREA": ["http://127.0.0.1:1"]}`,
		"rateLimit": `{"windowMs": 1, "maxRequests": 1}`, "auth": `[{"type": "none", "name": "public"}]`,
	}
	for name, tt := range map[string]struct{ member, value, want string }{
		"good":                          {"logLevel", `"debug"`, ""},
		"mistyped member":               {"ratelimits", `{}`, "unknown field"},
		"no auth":                       {"auth", `[]`, "auth"},
		"auth of no type":               {"auth", `[{"name": "x"}]`, "auth[0]"},
		"same name twice":               {"auth", `[{"type": "none", "name": "x"}, {"type": "none", "name": "x"}]`, "auth[1]"},
		"no limit":                      {"rateLimit", `{"windowMs": 0, "maxRequests": 1}`, "rateLimit"},
		"no limit of one":               {"auth", `[{"type": "none", "name": "x", "rateLimit": {}}]`, "auth[0]: rateLimit"},
		"unknown network":               {"bitcoinNetwork", `"MOON"`, "bitcoinNetwork"},
		"unknown chain":                 {"chains", `{"NOPE": ["http://127.0.0.1:1"]}`, "chains"},
		"chain without":                 {"chains", `{"CITREA": []}`, "chains"},
		"key without":                   {"auth", `[{"type": "apiKey", "name": "x"}]`, "auth[0]"},
		"key twice":                     {"auth", `[{"type": "apiKey", "name": "x", "apiKey": "a", "apiKeySHA256": "` + strings.Repeat("0", 64) + `"}]`, "auth[0]"},
		"hash of 3 digits":              {"auth", `[{"type": "apiKey", "name": "x", "apiKeySHA256": "abc"}]`, "auth[0]"},
		"unset variable":                {"auth", `[{"type": "apiKey", "name": "x", "apiKeyEnv": "NOBODY_SETS_THIS"}]`, "auth[0]"},
		"wrong proxies":                 {"trustedProxies", `["10.0.0.1"]`, "10.0.0.1"},
		"own contracts that lack one":   {"chains", `{"CITREA": {"rpc": ["http://127.0.0.1:1"], "chainId": 7, "contracts": [{"escrowManager": "0x0000000000000000000000000000000000000001"}]}}`, "chains.CITREA.deployments[0]"},
		"mistyped member of a chain":    {"chains", `{"CITREA": {"rpcs": []}}`, "unknown field"},
		"Solana by its nodes":           {"chains", `{"SOLANA": ["http://127.0.0.1:1"]}`, ""},
		"Solana's later program":        {"chains", `{"SOLANA": {"rpc": ["http://127.0.0.1:1"], "version": "v2"}}`, ""},
		"Solana without nodes":          {"chains", `{"SOLANA": {"version": "v1"}}`, "chains.SOLANA.rpc"},
		"a member of EVM chains":        {"chains", `{"SOLANA": {"rpc": ["http://127.0.0.1:1"], "chainId": 7}}`, "chains.SOLANA: json: unknown field"},
		"program that is no address":    {"chains", `{"SOLANA": {"rpc": ["http://127.0.0.1:1"], "programs": [{"version": "v1", "swapProgram": "0x00", "btcRelay": "0x00"}]}}`, "chains.SOLANA.deployments[0].swapProgram"},
		"genesis that is no hash":       {"chains", `{"SOLANA": {"rpc": ["http://127.0.0.1:1"], "genesis": "devnet"}}`, "chains.SOLANA.genesis"},
		"unknown version of Solana's":   {"chains", `{"SOLANA": {"rpc": ["http://127.0.0.1:1"], "version": "v3"}}`, "chains.SOLANA.version"},
		"own RPC of a preset":           {"chains", `{"CITREA": {"rpc": ["http://127.0.0.1:1"], "maxBaseFee": 5}}`, ""},
		"backend twice":                 {"bitcoin", `{"urls": ["http://127.0.0.1:1"], "node": {"url": "http://127.0.0.1:1"}}`, "bitcoin.urls"},
		"node":                          {"bitcoin", `{"node": {"url": "http://127.0.0.1:1", "user": "a", "password": "b"}}`, ""},
		"node and a graph":              {"bitcoin", `{"node": {"url": "http://127.0.0.1:1", "user": "a", "password": "b"}, "graph": ["http://127.0.0.1:1"]}`, ""},
		"password twice":                {"bitcoin", `{"node": {"url": "http://127.0.0.1:1", "user": "a", "password": "b", "passwordEnv": "HOME"}}`, "bitcoin.node.password"},
		"unset password":                {"bitcoin", `{"node": {"url": "http://127.0.0.1:1", "user": "a", "passwordEnv": "NOBODY_SETS_THIS"}}`, "bitcoin.node.passwordEnv"},
		"LPs as a list":                 {"lps", `["https://lp.example"]`, ""},
		"LP credentials":                {"lps", `{"certificate": "` + certificate + `", "privateKey": "` + key + `"}`, ""},
		"certificate alone":             {"lps", `{"certificate": "` + certificate + `"}`, "lps.privateKey"},
		"fixed prices":                  {"prices", `{"fixed": {"CITREA-CBTC": "100000000.5"}}`, ""},
		"a price of nothing":            {"prices", `{"fixed": {"CITREA-CBTC": "0"}}`, "prices.fixed.CITREA-CBTC"},
		"unknown price service":         {"prices", `{"services": {"mtgox": ""}}`, "prices.services"},
		"no prices":                     {"prices", `{}`, "prices.fixed"},
		"hosts on a public service":     {"lnurl", `{"hosts": {"a": "127.0.0.1:1"}}`, "lnurl.allowLocal"},
		"certificate that is not there": {"lnurl", `{"allowLocal": true, "caFile": "none.pem"}`, "lnurl.caFile"},
		"no relays":                     {"relays", `[]`, ""},
		"a relay that is none":          {"relays", `["https://relay.example"]`, "relays[0]"},
		"policy":                        {"policy", `{"tolerancePPM": 5000, "anyFee": true}`, ""},
		"mistyped policy":               {"policy", `{"tolerance": 5000}`, "unknown field"},
		"retention":                     {"keepExpired", `"48h"`, ""},
		"retention without unit":        {"keepExpired", `"48"`, "48"},
		"clock":                         {"clock", `"not a URL"`, "clock"},
		"no origin":                     {"cors", `{"origin": []}`, "origin"},
	} {
		t.Run(name, func(t *testing.T) {
			var members []string
			for k, v := range base {
				if k != tt.member {
					members = append(members, `"`+k+`": `+v)
				}
			}
			members = append(members, `"`+tt.member+`": `+tt.value)
			path := filepath.Join(t.TempDir(), "config.json")
			if err := os.WriteFile(path, []byte("{"+strings.Join(members, ",")+"}"), 0o600); err != nil {
				t.Fatal(err)
			}
			c, err := load(path)
			if err == nil {
				_, err = newGate(c.Auth, c.RateLimit)
			}
			if err == nil {
				var s *settings
				if s, err = c.swaps(quiet()); err == nil {
					err = s.Close()
				}
			}
			if tt.want == "" && err != nil || tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
				t.Errorf("%v, want %q", err, tt.want)
			}
		})
	}
}

// credentials are such as an LP gives to a client it knows.
func credentials(t *testing.T) (certificate, key string) {
	t.Helper()
	authority, err := btcec.NewPrivateKey()
	if err != nil {
		t.Fatal(err)
	}
	own, err := btcec.NewPrivateKey()
	if err != nil {
		t.Fatal(err)
	}
	request := schnorr.SerializePubKey(own.PubKey())
	signature, err := schnorr.Sign(authority, request)
	if err != nil {
		t.Fatal(err)
	}
	text := slices.Concat(schnorr.SerializePubKey(authority.PubKey()), signature.Serialize(), request)
	return hex.EncodeToString(text), hex.EncodeToString(own.Serialize())
}

// A key that is not there must never match, whatever is configured.
func TestNoKeyIsNoKey(t *testing.T) {
	const ofNothing = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
	g, err := newGate([]entryConfig{{Type: "apiKey", Name: "x", APIKeySHA256: ofNothing}}, limit{1, 1})
	if err != nil {
		t.Fatal(err)
	}
	for _, h := range []http.Header{{}, {"X-Api-Key": {""}}} {
		if e, ok := g.admit(h); ok {
			t.Errorf("%v is admitted as %q", h, e.name)
		}
	}
}

func TestAlgorithmsBelongToTheKey(t *testing.T) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.MarshalPKIXPublicKey(&key.PublicKey)
	if err != nil {
		t.Fatal(err)
	}
	text := string(pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der}))
	for algorithm, good := range map[string]bool{"ES256": true, "ES384": false, "HS256": false, "none": false, "RS256": false, "EdDSA": false} {
		_, err := newGate([]entryConfig{{Type: "jwt", Name: "x", PublicKey: text, Algorithms: []string{algorithm}}}, limit{1, 1})
		if good != (err == nil) {
			t.Errorf("%s: %v", algorithm, err)
		}
	}
}

func TestClientOf(t *testing.T) {
	trusted := []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("::1/128")}
	for name, tt := range map[string]struct {
		peer      string
		forwarded []string
		want      string
	}{
		"direct":              {"203.0.113.9:1", nil, "203.0.113.9"},
		"stranger forwards":   {"203.0.113.9:1", []string{"198.51.100.1"}, "203.0.113.9"},
		"one proxy":           {"10.0.0.1:1", []string{"198.51.100.1"}, "198.51.100.1"},
		"left one is a lie":   {"10.0.0.1:1", []string{"1.1.1.1, 198.51.100.1"}, "198.51.100.1"},
		"two proxies":         {"10.0.0.1:1", []string{"198.51.100.1, 10.9.9.9"}, "198.51.100.1"},
		"two headers":         {"10.0.0.1:1", []string{"1.1.1.1", "198.51.100.1"}, "198.51.100.1"},
		"garbage":             {"10.0.0.1:1", []string{"198.51.100.1, x"}, "10.0.0.1"},
		"only proxies":        {"10.0.0.1:1", []string{"10.0.0.2"}, "10.0.0.2"},
		"mapped":              {"[::ffff:10.0.0.1]:1", []string{"198.51.100.1"}, "198.51.100.1"},
		"loopback of version": {"[::1]:1", []string{"2001:db8::1"}, "2001:db8::1"},
		"no header":           {"10.0.0.1:1", nil, "10.0.0.1"},
	} {
		r := &http.Request{RemoteAddr: tt.peer, Header: http.Header{"X-Forwarded-For": tt.forwarded}}
		if got := clientOf(r, trusted); got.String() != tt.want {
			t.Errorf("%s: %s, want %s", name, got, tt.want)
		}
	}
}

func TestLimiterIsBounded(t *testing.T) {
	now := time.Now()
	l := newLimiter(func() time.Time { return now })
	at := &limit{WindowMs: 1000, MaxRequests: 1}
	for i := range uint32(maxBuckets + 10) {
		l.allow("x", netip.AddrFrom4([4]byte{byte(i >> 24), byte(i >> 16), byte(i >> 8), byte(i)}), at)
	}
	if len(l.buckets) > maxBuckets {
		t.Errorf("%d buckets", len(l.buckets))
	}
	now = now.Add(2 * time.Minute)
	l.allow("x", netip.MustParseAddr("2001:db8::1"), at)
	if len(l.buckets) != 1 {
		t.Errorf("%d buckets are left of a window long gone", len(l.buckets))
	}
	if ok, _ := l.allow("x", netip.MustParseAddr("2001:db8::2"), at); ok {
		t.Error("another address of the same network is another client")
	}
	if ok, _ := l.allow("y", netip.MustParseAddr("2001:db8::2"), at); !ok {
		t.Error("another entry has the same bucket")
	}
}

func TestProtect(t *testing.T) {
	s := newService(t, entryConfig{Type: "apiKey", Name: "backend", APIKey: "secret", RateLimit: json.RawMessage(`{"windowMs": 60000, "maxRequests": 2}`)})
	s.global = limit{WindowMs: 60_000, MaxRequests: 3}
	server := httptest.NewServer(s.handler(parses{}, "/api", nil))
	defer server.Close()
	ask := func(key string) (int, http.Header, string) {
		return call(t, server.URL, "GET", "/api/parseAddress?address=0x1", "", map[string]string{"x-api-key": key})
	}
	for i, want := range []int{401, 401, 401, 429, 429} {
		if status, _, text := ask("guess"); status != want {
			t.Errorf("guess %d: %d %s", i, status, text)
		}
	}
	// Whoever guesses takes nothing from the holder of the key at the same address.
	for i, want := range []int{200, 200, 429} {
		status, head, text := ask("secret")
		if status != want || want == 429 && (head.Get("Retry-After") != "60" || !strings.Contains(text, `"retryAfter":60`)) {
			t.Errorf("request %d: %d %v %s", i, status, head, text)
		}
	}
	if status, _, _ := call(t, server.URL, "GET", "/healthz", "", nil); status != http.StatusOK {
		t.Errorf("health %d", status)
	}
}

func TestReady(t *testing.T) {
	s := newService(t, entryConfig{Type: "none", Name: "public"})
	var log bytes.Buffer
	s.log = slog.New(slog.NewTextHandler(&log, nil))
	asked := 0
	s.ready = func(context.Context) error {
		asked++
		if asked == 1 {
			return errors.New("node.internal is down")
		}
		return nil
	}
	h := s.handler(parses{}, "/api", nil)
	get := func(path string) *httptest.ResponseRecorder {
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequest("GET", path, nil))
		return w
	}
	if w := get("/readyz"); w.Code != http.StatusServiceUnavailable || strings.Contains(w.Body.String(), "node") || !strings.Contains(log.String(), "node.internal") {
		t.Errorf("%d %s, log %s", w.Code, w.Body, &log)
	}
	if w := get("/readyz"); w.Code != http.StatusServiceUnavailable || asked != 1 {
		t.Errorf("asked %d times within 5 s: %d", asked, w.Code)
	}
	s.checked = readiness{} // 5 s have passed
	for range 3 {
		if w := get("/readyz"); w.Code != http.StatusOK {
			t.Errorf("%d %s", w.Code, w.Body)
		}
	}
	if asked != 2 {
		t.Errorf("asked %d times", asked)
	}
	if w := get("/elsewhere"); w.Code != http.StatusNotFound || w.Header().Get("Content-Type") != "application/json; charset=utf-8" {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	log.Reset()
	get("/api/parseAddress?address=0x1&secret=abcdef")
	if text := log.String(); strings.Contains(text, "abcdef") || !strings.Contains(text, "path=/api/parseAddress") || !strings.Contains(text, "entry=public") {
		t.Errorf("log %s", text)
	}
	s.chains = []string{"CITREA", "BOTANIX"}
	for _, tt := range []struct {
		parts  []string
		status int
	}{
		{[]string{"BOTANIX"}, 200}, {[]string{"BOTANIX", "CITREA"}, 503}, {[]string{"bitcoin"}, 503}, {[]string{"CITREA", "bitcoin"}, 503},
	} {
		parts := map[string]error{}
		for _, p := range tt.parts {
			parts[p] = errors.New("node.internal is down")
		}
		s.checked = readiness{}
		s.ready = func(context.Context) error { return &swapper.NotReady{Parts: parts} }
		w := get("/readyz")
		var got struct{ NotReady []string }
		if err := json.Unmarshal(w.Body.Bytes(), &got); err != nil || w.Code != tt.status || !slices.Equal(got.NotReady, tt.parts) {
			t.Errorf("%v: %d %s, want %d", tt.parts, w.Code, w.Body, tt.status)
		}
	}
	s.closing.Store(true)
	if w := get("/readyz"); w.Code != http.StatusServiceUnavailable {
		t.Errorf("%d while closing", w.Code)
	}
}

// slow answers when it is told to.
type slow struct {
	swapper.Service
	asked, go_ chan struct{}
}

func (s slow) ParseAddress(context.Context, swapper.ParseAddressInput) (*swapper.ParseAddressOutput, error) {
	close(s.asked)
	<-s.go_
	return &swapper.ParseAddressOutput{Address: "x", Type: "CITREA"}, nil
}

func TestShutdownLetsRequestsFinish(t *testing.T) {
	s := newService(t, entryConfig{Type: "none", Name: "public"})
	op := slow{asked: make(chan struct{}), go_: make(chan struct{})}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	background := make(chan struct{})
	ended := make(chan error, 1)
	go func() {
		ended <- s.serve(ctx, &http.Server{Handler: s.handler(op, "/api", nil)}, listener, func(ctx context.Context) error {
			<-ctx.Done()
			close(background)
			return ctx.Err()
		})
	}()
	answered := make(chan int, 1)
	go func() {
		response, err := http.Get("http://" + listener.Addr().String() + "/api/parseAddress?address=x")
		if err != nil {
			answered <- 0
			return
		}
		response.Body.Close()
		answered <- response.StatusCode
	}()
	<-op.asked
	stop()
	select {
	case <-background:
		t.Error("the background work ended before the requests")
	case err := <-ended:
		t.Errorf("ended under a request: %v", err)
	case <-time.After(50 * time.Millisecond):
	}
	close(op.go_)
	if status := <-answered; status != http.StatusOK {
		t.Errorf("status %d", status)
	}
	if err := <-ended; err != nil {
		t.Error(err)
	}
	<-background
}

func writePair(t *testing.T, dir, name string, at time.Time) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: name}, DNSNames: []string{name}, NotAfter: time.Now().Add(time.Hour)}
	cert, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	for file, block := range map[string]*pem.Block{"cert.pem": {Type: "CERTIFICATE", Bytes: cert}, "key.pem": {Type: "PRIVATE KEY", Bytes: private}} {
		path := filepath.Join(dir, file)
		if err := os.WriteFile(path, pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(path, at, at); err != nil {
			t.Fatal(err)
		}
	}
}

func TestCertificateIsReplaced(t *testing.T) {
	dir := t.TempDir()
	cert, key := filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	if _, err := newCertificate(cert, key, quiet()); err == nil {
		t.Error("no files, no error")
	}
	start := time.Now().Add(-time.Hour)
	writePair(t, dir, "first", start)
	c, err := newCertificate(cert, key, quiet())
	if err != nil {
		t.Fatal(err)
	}
	name := func() string {
		t.Helper()
		c.looked = time.Time{} // a second has passed
		got, err := c.get(&tls.ClientHelloInfo{})
		if err != nil {
			t.Fatal(err)
		}
		return got.Leaf.Subject.CommonName
	}
	if got := name(); got != "first" {
		t.Errorf("%s", got)
	}
	if err := os.WriteFile(cert, []byte("half a file"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := name(); got != "first" {
		t.Errorf("after a broken file: %s", got)
	}
	writePair(t, dir, "second", start.Add(time.Minute))
	if got := name(); got != "second" {
		t.Errorf("after a new pair: %s", got)
	}
}
