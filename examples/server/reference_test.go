package main

import (
	"context"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/swapper-go/swapper/chains/starknet"
)

// reference writes a configuration of the reference service.
func reference(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "reference.yaml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// Every key of the reference's configuration means here what it means there.
func TestReferenceConfiguration(t *testing.T) {
	_, public := publicKey(t)
	path := reference(t, `# as its documentation has it
port: 3400
logLevel: warn
trustProxy: true
starknetRpc: "https://starknet.example/"
solanaRpc: https://solana.example
botanixRpc: null
citreaRpc:
bitcoinNetwork: TESTNET
swapsSyncIntervalSeconds: 60
reloadLpIntervalSeconds: 60
https: null
lpApiAuth: null
cors:
  origin: ["https://app.example"]
  methods: GET, POST
  allowedHeaders: ["Content-Type", "x-api-key"]
  exposedHeaders: [X-Own]
  credentials: true
  maxAge: 5
  optionsSuccessStatus: 200
  preflightContinue: false
rateLimit: {windowMs: 60000, maxRequests: 200}
auth:
  - {type: apiKey, name: "Wallet Backend", apiKey: your-api-key-here, header: x-api-key, rateLimit: null}
  - {type: jwt, name: Users, publicKey: `+public+`, algorithms: [ES256], claims: {tier: swapper, roles: {includes: x}}, rateLimit: {windowMs: 60000, maxRequests: 60}}
  - {type: none, name: Public}
`)
	storage := t.TempDir()
	t.Setenv("STORAGE_DIR", storage)
	c, err := from{reference: path}.load([]string{"SWAPPER__CHAINS__SOLANA__RPC=[https://a.example, https://b.example]"})
	if err != nil {
		t.Fatal(err)
	}
	var proxies []string
	for _, p := range c.TrustedProxies {
		proxies = append(proxies, p.String())
	}
	got := []any{c.Listen, c.BasePath, c.UnknownMembers, c.LogLevel.String(), proxies, len(c.Chains), c.Chains[starknet.ChainID].(*starknetConfig).RPC, c.Chains["SOLANA"].(*solanaConfig).RPC, c.BitcoinNetwork, c.HTTPS == nil,
		[]string(c.CORS.Origin), []string(c.CORS.Methods), []string(c.CORS.AllowedHeaders), []string(c.CORS.ExposedHeaders), c.CORS.Credentials, *c.CORS.MaxAge,
		c.RateLimit, c.Auth[0].RateLimit.given && c.Auth[0].RateLimit.own == nil, c.Auth[1].WithoutExp, c.Auth[1].RateLimit.own.MaxRequests, c.Auth[2].Type, c.storePath()}
	want := []any{":3400", "/", true, "WARN", privateNetworks, 2, []string{"https://starknet.example/"}, []string{"https://a.example", "https://b.example"}, "TESTNET3", true,
		[]string{"https://app.example"}, []string{"GET", "POST"}, []string{"Content-Type", "x-api-key"}, []string{"X-Own"}, true, 5,
		rateConfig{WindowMs: 60000, MaxRequests: 200}, true, true, int64(60), "none", filepath.Join(storage, usualStore)}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	for _, word := range []string{"swapsSyncIntervalSeconds", "reloadLpIntervalSeconds", "trustProxy", "cors.optionsSuccessStatus", "cors.preflightContinue", "STARKNET", "exp"} {
		if !strings.Contains(strings.Join(c.notes, "\n"), word) {
			t.Errorf("no note of %s in %q", word, c.notes)
		}
	}
}

// What differs from the reference's usual values is read too, and everything that is wrong said at once.
func TestReferenceConfigurationWrong(t *testing.T) {
	path := reference(t, "port: many\nportt: 3\nstarknetRpcs: x\nsolanaRpc: [a]\ntrustProxy: 1\nbitcoinNetwork: TESTNET4\nciteaRpc: null\nlpApiAuth: {certificate: aa, privateKey: bb}\nrateLimit: {windowMs: 1, maxRequests: 1}\nauth: [{type: none, name: x}]\n")
	_, err := from{reference: path}.load(nil)
	if err == nil {
		t.Fatal("no error")
	}
	for _, want := range []string{":1: port:", ":2: portt: is not a key of the reference service", ":3: starknetRpcs:", ":4: solanaRpc: must be one URL", ":5: trustProxy: must be", ":7: citeaRpc:", ":8: lps."} {
		if !strings.Contains(err.Error(), path+want) {
			t.Errorf("no %q in\n%v", want, err)
		}
	}
}

// A server that is started with the reference's file serves at the reference's paths, and its log says when
// it starts and when it is told to end.
func TestReferenceConfigurationServes(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("STORAGE_DIR", dir)
	_, port, _ := net.SplitHostPort(free(t))
	path := reference(t, "port: "+port+"\nbitcoinNetwork: TESTNET4\ncitreaRpc: http://127.0.0.1:1\nrateLimit: {windowMs: 60000, maxRequests: 200}\nauth: [{type: none, name: Public}]\n")
	environ := []string{"SWAPPER__BITCOIN__URLS=[http://127.0.0.1:1]", "SWAPPER__LPS__URLS=[https://127.0.0.1:1]", "SWAPPER__RELAYS=[]", "SWAPPER__PRICES__FIXED={CITREA-CBTC: \"100000000\"}"}
	ctx, stop := context.WithCancel(t.Context())
	var log lockedBuffer
	ended := make(chan error, 1)
	go func() { ended <- start(ctx, from{reference: path}, "", false, environ, &log) }()
	url := "http://127.0.0.1:" + port
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(20 * time.Millisecond) {
		if response, err := http.Get(url + "/healthz"); err == nil {
			response.Body.Close()
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("it does not serve:\n%s", log.String())
		}
	}
	if status, _, text := call(t, url, "GET", "/parseAddress?address=tb1qw508d6qejxtdg4y5r3zarvary0c5xw7kxpjzsx&unknown=1", "", nil); status != http.StatusOK {
		t.Errorf("%d %s", status, text)
	}
	stop()
	if err := <-ended; err != nil {
		t.Errorf("%v\n%s", err, log.String())
	}
	if _, err := os.Stat(filepath.Join(dir, usualStore)); err != nil {
		t.Error(err)
	}
	for _, line := range []string{`"msg":"starting"`, `"msg":"ending:`, `"msg":"ended"`} {
		if n := strings.Count(log.String(), line); n != 1 {
			t.Errorf("%d lines %s in\n%s", n, line, log.String())
		}
	}
}

// Who starts the server without a configuration is told how to name one.
func TestNoConfiguration(t *testing.T) {
	t.Chdir(t.TempDir())
	_, err := from{}.load(nil)
	if err == nil || !strings.Contains(err.Error(), "config.yaml") || !strings.Contains(err.Error(), "-config") {
		t.Errorf("%v", err)
	}
}
