package main

import (
	"bytes"
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/btcsuite/btcd/btcec/v2"
	"github.com/btcsuite/btcd/btcec/v2/schnorr"

	"github.com/swapper-go/swapper"
	"github.com/swapper-go/swapper/examples/server/internal/serve"
)

func TestLoad(t *testing.T) {
	if c, err := load("config.example.yaml", nil); err != nil || c.Listen != "127.0.0.1:3000" || c.BasePath != "/api" || c.Auth[0].RateLimit.given {
		t.Fatalf("%+v, %v", c, err)
	}
	certificate, key := credentials(t)
	base := map[string]string{
		"bitcoinNetwork": `"TESTNET4"`, "chains": `{"CITREA": ["http://127.0.0.1:1"]}`,
		"rateLimit": `{"windowMs": 1, "maxRequests": 1}`, "auth": `[{"type": "none", "name": "public"}]`,
	}
	for name, tt := range map[string]struct{ member, value, want string }{
		"good":                          {"logLevel", `"debug"`, ""},
		"mistyped member":               {"ratelimits", `{}`, "is not a key"},
		"no auth":                       {"auth", `[]`, "auth"},
		"auth of no type":               {"auth", `[{"name": "x"}]`, "auth[0]"},
		"same name twice":               {"auth", `[{"type": "none", "name": "x"}, {"type": "none", "name": "x"}]`, "auth[1]"},
		"no limit":                      {"rateLimit", `{"windowMs": 0, "maxRequests": 1}`, "rateLimit"},
		"no limit of one":               {"auth", `[{"type": "none", "name": "x", "rateLimit": {}}]`, "auth[0].rateLimit"},
		"limit of nobody":               {"auth", `[{"type": "none", "name": "x", "rateLimit": {"windowMs": 1, "maxRequests": 1, "per": "moon"}}]`, "rateLimit.per"},
		"no limit at all":               {"auth", `[{"type": "none", "name": "x", "rateLimit": null}]`, ""},
		"list of hashes":                {"auth", `[{"type": "apiKey", "name": "x", "apiKeySHA256": ["` + strings.Repeat("0", 64) + `", "` + strings.Repeat("1", 64) + `"]}]`, ""},
		"token without a key":           {"auth", `[{"type": "jwt", "name": "x"}]`, "auth[0]"},
		"token by HS256":                {"auth", `[{"type": "jwt", "name": "x", "publicKey": "x", "algorithms": ["HS256"]}]`, "algorithms"},
		"key set that is not there":     {"auth", `[{"type": "jwt", "name": "x", "jwksFile": "none.json"}]`, "jwksFile"},
		"keys that are not there":       {"auth", `[{"type": "apiKey", "name": "x", "apiKeysFile": "none.txt"}]`, "apiKeysFile"},
		"a text in place of a list":     {"chains", `{"CITREA": "http://127.0.0.1:1"}`, "chains.CITREA: must be a mapping, or a list in place of {rpc: a list}"},
		"a number that is none":         {"rateLimit", `{"windowMs": "soon", "maxRequests": 1}`, "rateLimit.windowMs: must be a whole number"},
		"a half request":                {"rateLimit", `{"windowMs": 1.5, "maxRequests": 1}`, "rateLimit.windowMs: must be a whole number"},
		"all nodes":                     {"allNodes", `true`, ""},
		"a limit below zero":            {"policy", `{"maxFeePPM": -5}`, "policy.maxFeePPM: must not be negative"},
		"truth that is none":            {"policy", `{"anyFee": "perhaps"}`, "policy.anyFee: must be true or false"},
		"a key twice":                   {"policy", `{"anyFee": true, "ANYFEE": true}`, "is given twice"},
		"a level that is none":          {"logLevel", `"loud"`, "logLevel: must be debug, info, warn or error"},
		"a form of logs that is none":   {"logFormat", `"xml"`, "logFormat"},
		"certificate that is none":      {"https", `{"certPath": "none.pem", "keyPath": "none.pem"}`, "https"},
		"traces":                        {"tracing", `{"endpoint": "http://127.0.0.1:1", "sampleRatio": 0.5, "headers": {"a": "b"}}`, ""},
		"traces to nowhere":             {"tracing", `{"endpoint": "127.0.0.1:1"}`, "tracing.endpoint"},
		"more than all traces":          {"tracing", `{"endpoint": "http://127.0.0.1:1", "sampleRatio": 2}`, "tracing.sampleRatio"},
		"a page that is none":           {"cors", `{"origin": "app.example"}`, "cors.origin"},
		"all pages":                     {"cors", `{"origin": "*"}`, ""},
		"a database":                    {"database", `{"dsn": "host=127.0.0.1 port=1 dbname=swaps", "schema": "swaps"}`, "database: open store in schema swaps: "},
		"a database by a URL":           {"database", `{"dsn": "postgres://u:p@127.0.0.1:1,127.0.0.1:2/swaps?sslmode=verify-full"}`, "database: open store in schema swapper: "},
		"a database that is nowhere":    {"database", `{"schema": "swaps"}`, "database: needs dsn or dsnEnv"},
		"a database by what is not set": {"database", `{"dsnEnv": "NOBODY_SETS_THIS"}`, "database.dsnEnv: names NOBODY_SETS_THIS"},
		"a database by no DSN":          {"database", `{"dsn": "host"}`, "database.dsn: "},
		"unknown network":               {"bitcoinNetwork", `"MOON"`, "bitcoinNetwork"},
		"unknown chain":                 {"chains", `{"NOPE": ["http://127.0.0.1:1"]}`, "chains"},
		"chain without":                 {"chains", `{"CITREA": []}`, "chains"},
		"key without":                   {"auth", `[{"type": "apiKey", "name": "x"}]`, "auth[0]"},
		"key twice":                     {"auth", `[{"type": "apiKey", "name": "x", "apiKey": "0123456789abcdef", "apiKeySHA256": "` + strings.Repeat("0", 64) + `"}]`, ""},
		"hash of 3 digits":              {"auth", `[{"type": "apiKey", "name": "x", "apiKeySHA256": "abc"}]`, "auth[0]"},
		"unset variable":                {"auth", `[{"type": "apiKey", "name": "x", "apiKeyEnv": "NOBODY_SETS_THIS"}]`, "auth[0]"},
		"wrong proxies":                 {"trustedProxies", `["10.0.0.1"]`, "10.0.0.1"},
		"own contracts that lack one":   {"chains", `{"CITREA": {"rpc": ["http://127.0.0.1:1"], "chainId": 7, "contracts": [{"escrowManager": "0x0000000000000000000000000000000000000001"}]}}`, "chains.CITREA.deployments[0]"},
		"mistyped member of a chain":    {"chains", `{"CITREA": {"rpcs": []}}`, "is not a key"},
		"Solana by its nodes":           {"chains", `{"SOLANA": ["http://127.0.0.1:1"]}`, ""},
		"Solana's later program":        {"chains", `{"SOLANA": {"rpc": ["http://127.0.0.1:1"], "version": "v2"}}`, ""},
		"Solana without nodes":          {"chains", `{"SOLANA": {"version": "v1"}}`, "chains.SOLANA.rpc"},
		"a member of EVM chains":        {"chains", `{"SOLANA": {"rpc": ["http://127.0.0.1:1"], "chainId": 7}}`, "chains.SOLANA.chainId: is not a key"},
		"program that is no address":    {"chains", `{"SOLANA": {"rpc": ["http://127.0.0.1:1"], "programs": [{"version": "v1", "swapProgram": "0x00", "btcRelay": "0x00"}]}}`, "chains.SOLANA.deployments[0].swapProgram"},
		"genesis that is no hash":       {"chains", `{"SOLANA": {"rpc": ["http://127.0.0.1:1"], "genesis": "devnet"}}`, "chains.SOLANA.genesis"},
		"unknown version of Solana's":   {"chains", `{"SOLANA": {"rpc": ["http://127.0.0.1:1"], "version": "v3"}}`, "chains.SOLANA.version"},
		"Starknet by its nodes":         {"chains", `{"STARKNET": ["http://127.0.0.1:1"]}`, ""},
		"Starknet without nodes":        {"chains", `{"STARKNET": {"chainId": "SN_SEPOLIA"}}`, "chains.STARKNET.rpc"},
		"Starknet's own contracts":      {"chains", `{"STARKNET": {"rpc": ["http://127.0.0.1:1"], "contracts": [{"escrowManager": "0x1", "btcRelay": "0x2", "vaultManager": "0x3", "timelockRefundHandler": "0x4", "hashlockClaimHandler": "0x5", "outputClaimHandler": "0x6", "noncedOutputClaimHandler": "0x7", "txIdClaimHandler": "0x8"}]}}`, ""},
		"a contract that is no address": {"chains", `{"STARKNET": {"rpc": ["http://127.0.0.1:1"], "contracts": [{"escrowManager": "moon"}]}}`, "chains.STARKNET.deployments[0].escrowManager"},
		"programs on Starknet":          {"chains", `{"STARKNET": {"rpc": ["http://127.0.0.1:1"], "programs": []}}`, "chains.STARKNET.programs: is not a key"},
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
		"mistyped policy":               {"policy", `{"tolerance": 5000}`, "is not a key"},
		"retention":                     {"keepExpired", `"48h"`, ""},
		"retention without unit":        {"keepExpired", `"48"`, "keepExpired: must be a duration"},
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
			path := filepath.Join(t.TempDir(), "config.yaml")
			if err := os.WriteFile(path, []byte("{"+strings.Join(members, ",")+"}"), 0o600); err != nil {
				t.Fatal(err)
			}
			c, err := load(path, nil)
			if err == nil {
				err = run(t.Context(), c, true, quiet())
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

func TestProtect(t *testing.T) {
	s := newService(t, `[{"type": "apiKey", "name": "backend", "apiKey": "secret", "rateLimit": {"windowMs": 60000, "maxRequests": 2}}]`, `{"windowMs": 60000, "maxRequests": 3}`)
	server := httptest.NewServer(s.handler(parses{}))
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

// Nobody gets a limit of his own by a header that he writes himself, and everybody
// behind a trusted proxy has his own.
func TestLimitsByAddress(t *testing.T) {
	for name, tt := range map[string]struct {
		trusted serve.Trusted
		want    int // of 10 requests that claim different addresses
	}{
		"no proxy is trusted":  {nil, 3},
		"another is trusted":   {serve.Trusted{netip.MustParsePrefix("10.0.0.0/8")}, 3},
		"the proxy is trusted": {serve.Trusted{netip.MustParsePrefix("127.0.0.0/8")}, 10},
	} {
		s := newService(t, `[{"type": "none", "name": "public"}]`, `{"windowMs": 60000, "maxRequests": 3}`)
		s.admission.client = tt.trusted
		server := httptest.NewServer(s.handler(parses{}))
		defer server.Close()
		passed := 0
		for i := range 10 {
			header := map[string]string{"X-Real-Ip": fmt.Sprint("198.51.100.", i), "Forwarded": fmt.Sprint("for=198.51.100.", i), "X-Forwarded-For": fmt.Sprint("198.51.100.", i)}
			if status, _, _ := call(t, server.URL, "GET", "/api/parseAddress?address=0x1", "", header); status == http.StatusOK {
				passed++
			}
		}
		if passed != tt.want {
			t.Errorf("%s: %d of 10 requests passed, want %d", name, passed, tt.want)
		}
	}
}

func TestReady(t *testing.T) {
	s := newService(t, `[{"type": "none", "name": "public"}]`, "")
	var log bytes.Buffer
	s.log = slog.New(slog.NewTextHandler(&log, nil))
	s.health.log = s.log
	asked := 0
	s.health.ready = func(context.Context) (swapper.Readiness, error) {
		asked++
		if asked == 1 {
			return swapper.Readiness{}, errors.New("node.internal is down")
		}
		return swapper.Readiness{}, nil
	}
	h := s.handler(parses{})
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
	s.health.checked = readiness{} // 5 s have passed
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
	s.health.chains = []string{"CITREA", "BOTANIX"}
	for _, tt := range []struct {
		parts  []string
		status int
	}{
		{[]string{"BOTANIX"}, 200}, {[]string{"BOTANIX", "CITREA"}, 503}, {[]string{"bitcoin"}, 200}, {[]string{"CITREA", "bitcoin"}, 200},
		{[]string{"bitcoin", "liquidity providers"}, 200}, {[]string{"store"}, 503}, {[]string{"BOTANIX", "store"}, 503}, {[]string{"BOTANIX", "CITREA", "bitcoin"}, 503},
	} {
		parts := map[string]error{}
		for _, p := range tt.parts {
			parts[p] = errors.New("node.internal is down")
		}
		s.health.checked = readiness{}
		s.health.ready = func(context.Context) (swapper.Readiness, error) {
			return swapper.Readiness{OneNode: []string{"CITREA"}, Unheard: []string{"bitcoin"}}, &swapper.NotReady{Parts: parts}
		}
		w := get("/readyz")
		var got struct{ NotReady, OneNode, Unheard []string }
		if err := json.Unmarshal(w.Body.Bytes(), &got); err != nil || w.Code != tt.status || !slices.Equal(got.NotReady, tt.parts) || !slices.Equal(got.OneNode, []string{"CITREA"}) || !slices.Equal(got.Unheard, []string{"bitcoin"}) {
			t.Errorf("%v: %d %s, want %d", tt.parts, w.Code, w.Body, tt.status)
		}
	}
	s.health.closing.Store(true)
	if w := get("/readyz"); w.Code != http.StatusServiceUnavailable {
		t.Errorf("%d while closing", w.Code)
	}
}
