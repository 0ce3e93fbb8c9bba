package main

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// An error names the line and the key, and what would be right; it shows no value.
func TestErrorsNameLineAndKey(t *testing.T) {
	for name, tt := range map[string]struct{ text, want string }{
		"unknown key":          {"listen: x\nlissten: y", "line 2: lissten: is not a key; there are admin, "},
		"unknown key inside":   {"auth:\n- type: none\n  nam: x", "line 3: auth[0].nam: is not a key; there are "},
		"unknown key of chain": {"chains:\n  CITREA:\n    rpcs: [a]", "line 3: chains.CITREA.rpcs: is not a key; there are chainID, contracts, "},
		"of the wrong form":    {"chains:\n  CITREA:\n    rpc: hunter2hunter2", "line 3: chains.CITREA.rpc: must be a list"},
		"no number":            {"limits:\n  requests: hunter2hunter2", "line 2: limits.requests: must be a whole number"},
		"no address":           {"trustedProxies: [hunter2hunter2]", "line 1: trustedProxies[0]: must be a network such as 10.0.0.0/8"},
		"a list in a text":     {"auth:\n- {type: none, name: [hunter2hunter2]}", "line 2: auth[0].name: must be a text"},
		"twice":                {"listen: a\nLISTEN: hunter2hunter2", "line 2: LISTEN: is given twice"},
		"no mapping":           {"- hunter2hunter2", "line 1: the file: must be a mapping"},
		"merge key":            {"a: &x {}\n<<: *x", "is not a key"},
	} {
		var c config
		err := parse([]byte(tt.text), nil, &c)
		if err == nil || !strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s: %v, want %q", name, err, tt.want)
		}
	}
}

// The environment stands over the file, wherever the key is and whether or not the file
// has it; a variable that leads nowhere is refused, and others' are left alone.
func TestEnvironment(t *testing.T) {
	read := func(text string, environ ...string) (*config, error) {
		var c config
		err := parse([]byte(text), environ, &c)
		return &c, err
	}
	c, err := read("listen: a\nauth: [{type: none, name: public}]\nchains: {CITREA: {rpc: [x], chainId: 7}}",
		"SWAPPER__LISTEN=:8080", "SWAPPER__RATELIMIT__MAXREQUESTS=50", "SWAPPER__CHAINS__CITREA__RPC=[https://rpc.example, https://b.example]", "SWAPPER__CHAINS__SOLANA__VERSION=v2",
		"SWAPPER__AUTH__0__NAME=other", "SWAPPER__AUTH__1__TYPE=apiKey", "SWAPPER__AUTH__1__APIKEY=0123", "SWAPPER__AUTH__0__RATELIMIT=null", "SWAPPER__POLICY__ANYFEE=true",
		"SWAPPER__ADMIN__LISTEN=127.0.0.1:1", "SWAPPER__STOPGRACE=5s", "SWAPPER__TRUSTEDPROXIES=[10.0.0.0/8]", "SWAPPER__CORS__ORIGIN=https://app.example", "SWAPPER__BITCOIN__NODE__PASSWORD=: [",
		"SWAPPER_PORT=tcp://10.0.0.1:80", "SWAPPER_SERVICE_HOST=10.0.0.1", "PATH=/bin")
	if err != nil {
		t.Fatal(err)
	}
	citrea := c.Chains["CITREA"].(*evmConfig)
	got := []any{c.Listen, c.RateLimit.MaxRequests, citrea.RPC, citrea.ChainID, c.Chains["SOLANA"].(*solanaConfig).Version, c.Auth[0].Name, c.Auth[0].Type, c.Auth[1].Type, c.Auth[1].APIKey,
		c.Auth[0].RateLimit.given, c.Auth[0].RateLimit.own == nil, c.Policy.AnyFee, c.Admin.Listen, c.StopGrace, c.TrustedProxies[0].String(), []string(c.CORS.Origin), c.Bitcoin.Node.Password}
	want := []any{":8080", int64(50), []string{"https://rpc.example", "https://b.example"}, uint64(7), "v2", "other", "none", "apiKey", "0123",
		true, true, true, "127.0.0.1:1", duration(5e9), "10.0.0.0/8", []string{"https://app.example"}, ": ["}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	// A list that stands for a mapping is one beside which other keys can be set; an alias is its own.
	c, err = read("chains: {CITREA: [x], SOLANA: [y]}\nlps: [z]\nauth: [&a {type: none, name: public}, *a]",
		"SWAPPER__CHAINS__CITREA__RPC=[https://rpc.example]", "SWAPPER__CHAINS__SOLANA__VERSION=v2", "SWAPPER__LPS__ALLOWHTTP=true", "SWAPPER__AUTH__1__NAME=other", "SWAPPER__AUTH__0__RATELIMIT__MAXREQUESTS=7")
	if err != nil {
		t.Fatal(err)
	}
	sol := c.Chains["SOLANA"].(*solanaConfig)
	got = []any{c.Chains["CITREA"].(*evmConfig).RPC, sol.RPC, sol.Version, c.LPs.URLs, c.LPs.AllowHTTP, c.Auth[0].Name, c.Auth[1].Name, c.Auth[1].Type, c.Auth[0].RateLimit.own.MaxRequests}
	if diff := cmp.Diff([]any{[]string{"https://rpc.example"}, []string{"y"}, "v2", []string{"z"}, true, "public", "other", "none", int64(7)}, got); diff != "" {
		t.Error(diff)
	}
	for _, bad := range []string{"SWAPPER__LISSTEN=a", "SWAPPER__AUTH__X__NAME=a", "SWAPPER__AUTH__5__NAME=a", "SWAPPER__LISTEN__X=a", "SWAPPER__LIMITS__REQUESTS=many", "SWAPPER__LIMITS=5", "SWAPPER__CHAINS__CITREA__RPCS=[a]", "SWAPPER__CORS={", "SWAPPER__="} {
		name, _, _ := strings.Cut(bad, "=")
		if _, err := read("auth: [{type: none, name: public}]", bad); err == nil {
			t.Errorf("%s is taken", bad)
		} else if strings.Contains(err.Error(), "line") {
			t.Errorf("%s: names a line: %v", name, err)
		}
	}
}

func FuzzConfig(f *testing.F) {
	f.Add("listen: a", "SWAPPER__AUTH__0__NAME=x")
	f.Add("a: &x [*x]", "SWAPPER__CHAINS__A__TOKENS__0__TICKER=x")
	f.Add("chains: {CITREA: [x]}", "SWAPPER__CHAINS=[1]")
	f.Fuzz(func(_ *testing.T, text, variable string) {
		var c config
		if parse([]byte(text), []string{variable}, &c) == nil {
			_ = secrets(&c)
		}
	})
}
