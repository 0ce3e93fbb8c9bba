package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// All that is wrong with a file is said at once, in the order of its lines, each with what would be right.
func TestAllErrorsAtOnce(t *testing.T) {
	path := filepath.Join(t.TempDir(), "config.yaml")
	if err := os.WriteFile(path, []byte(`listen: everywhere
lissten: x
bitcoinNetwork: TESTNET4
chains:
  CITREA:
    rpcs: [a]
  SOLANA: [rpc.example]
rateLimit:
  windowMs: 0
  maxRequests: 5
auth:
  - {type: apiKey, name: a, apiKey: short}
  - {type: nonesuch, name: a}
cors: {origin: "*", credentials: true}
https: {certPath: none.pem, keyPath: none.pem}
policy: {maxFeePPM: -1}
`), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := load(path, []string{"SWAPPER__LIMITS__REQUESTS=many", "SWAPPER__KEEPEXPIRED=-1h"})
	if err == nil {
		t.Fatal("no error")
	}
	var got []string
	for _, line := range strings.Split(err.Error(), "\n") {
		got = append(got, strings.Join(strings.Fields(strings.TrimPrefix(line, path))[:2], " "))
		if len(line) < len(path)+25 {
			t.Errorf("says too little: %s", line)
		}
	}
	want := []string{
		": keepExpired:", ": limits.requests:",
		":1: listen:", ":2: lissten:", ":6: chains.CITREA.rpcs:", ":7: chains.SOLANA.rpc[0]:", ":8: rateLimit:", ":12: auth[0].apiKey:",
		":13: auth[1].type:", ":13: auth[1].name:", ":14: cors.credentials:", ":15: https:", ":16: policy.maxFeePPM:",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s\n%v", diff, err)
	}
	if !strings.Contains(err.Error(), ": limits.requests: must be a whole number; it is set by the environment\n") {
		t.Errorf("where a value comes from that is not the file's is not said: %v", err)
	}
}

// An unknown Bitcoin network hides only the errors of what depends on it.
func TestErrorsBesideAnUnknownNetwork(t *testing.T) {
	path := filepath.Join(t.TempDir(), "config.yaml")
	if err := os.WriteFile(path, []byte(`bitcoinNetwork: TESTNET5
chains: {CITREA: [https://rpc.example]}
lps: {certificate: aa, privateKey: bb}
lnurl: {allowLocal: true, caFile: none.pem}
clock: nowhere
rateLimit: {windowMs: 1000, maxRequests: 5}
auth:
  - {type: none, name: a}
`), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := load(path, nil)
	if err == nil {
		t.Fatal("no error")
	}
	for _, want := range []string{":1: bitcoinNetwork: ", ":3: lps.", ":4: lnurl.", ":5: clock: "} {
		if !strings.Contains(err.Error(), path+want) {
			t.Errorf("no %q in\n%v", want, err)
		}
	}
}

// Both what is wrong with the key of a watchtower's account and with its amounts is said.
func TestErrorsOfAWatchtower(t *testing.T) {
	path := filepath.Join(t.TempDir(), "config.yaml")
	if err := os.WriteFile(path, []byte(`bitcoinNetwork: TESTNET4
chains: {CITREA: [https://rpc.example]}
rateLimit: {windowMs: 1000, maxRequests: 5}
auth: [{type: none, name: a}]
watchtower:
  claims: mine
  chains:
    CITREA: {keyFile: none.key, maxFee: much}
    SOLANA: {keyEnv: NONE}
`), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := load(path, nil)
	if err == nil {
		t.Fatal("no error")
	}
	for _, want := range []string{
		`:6: watchtower.claims: must be own or all, not "mine"`, ":8: watchtower.chains.CITREA.keyFile: ", ":8: watchtower.chains.CITREA.maxFee: must be an amount",
		":9: watchtower.chains.SOLANA: is not one of the chains above",
	} {
		if !strings.Contains(err.Error(), path+want) {
			t.Errorf("%v\nwithout %q", err, want)
		}
	}
}
