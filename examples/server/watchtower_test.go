package main

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"math/big"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/crypto"
	"github.com/google/go-cmp/cmp"

	"github.com/swapper-go/swapper"
	"github.com/swapper-go/swapper/swappertest"
)

// A server with a watchtower claims for users who have paid and left, and who have no gas,
// while nobody else does; the operator sees what it costs.
func TestWatchtowerClaimsForUsersWhoAreAway(t *testing.T) {
	t.Parallel()
	v := newTown(t)
	v.net.Misbehave(swappertest.WatchtowerFault{Off: true, Deaf: true})
	key, err := crypto.GenerateKey()
	if err != nil {
		t.Fatal(err)
	}
	account := crypto.PubkeyToAddress(key.PublicKey)
	if err := v.net.SendTokens(t.Context(), "CITREA-CBTC", account.Hex(), big.NewInt(1e18)); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(v.dir, "citrea.key"), []byte(hex.EncodeToString(crypto.FromECDSA(key))+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	v.write("local.json", json.RawMessage(v.text))
	admin := free(t)
	v.serve(map[string]any{
		"local": "local.json", "store": "swaps.db", "admin": map[string]any{"listen": admin},
		"watchtower": map[string]any{"every": "100ms", "chains": map[string]any{"CITREA": map[string]any{"keyFile": "citrea.key", "allowance": "1"}}},
	})
	for n, in := range []swapper.CreateSwapInput{v.fromLightning(), v.fromBitcoin()} {
		in.DstAddress = "0x00000000000000000000000000000000000abc0" + string(rune('1'+n))
		s := v.create(in)
		v.finish(s.SwapID, func(s *swapper.GetSwapStatusOutput) bool {
			return s.CurrentAction != nil && s.CurrentAction.Wait != nil || s.IsFinished
		})
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		for {
			end, err := v.swaps.GetSwapStatus(ctx, swapper.GetSwapStatusInput{SwapID: s.SwapID})
			if err != nil {
				t.Fatalf("%s: %v", in.SrcToken, err)
			}
			if end.IsFinished {
				if !end.IsSuccess {
					t.Errorf("%s: ended as %s", in.SrcToken, end.State.Name)
				}
				break
			}
			if err := v.net.Mine(1); err != nil {
				t.Fatal(err)
			}
			time.Sleep(100 * time.Millisecond)
		}
	}
	v.until("the books have both claims", func() bool {
		if err := v.net.Mine(1); err != nil {
			t.Fatal(err)
		}
		_, text := get(t, "http://"+admin+"/metrics", nil)
		return strings.Contains(text, `swapper_watchtower_claims_total{chain="CITREA",outcome="claimed"} 2`)
	})
	if log := v.log.String(); strings.Contains(log, hex.EncodeToString(crypto.FromECDSA(key))) {
		t.Error("the log has the key")
	}
}

// What is wrong with the watchtower's keys is said with the line, and what would be right.
func TestWatchtowerErrors(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"config.yaml": `bitcoinNetwork: TESTNET4
chains:
  CITREA: [https://rpc.example]
  SOLANA: [https://rpc.example]
  STARKNET: [https://rpc.example]
auth: [{type: none, name: a, rateLimit: null}]
watchtower:
  claims: some
  schema: watch
  chains:
    CITREA: {keyFile: open.key}
    SOLANA: {keyFile: bad.key}
    STARKNET: {keyEnv: SWAPPER_TEST_UNSET}
    BOTANIX: {keyFile: bad.key}
rateLimit: {windowMs: 1000, maxRequests: 5}
`, "open.key": "12", "bad.key": "12"} {
		mode := os.FileMode(0o600)
		if name == "open.key" {
			mode = 0o644
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), mode); err != nil {
			t.Fatal(err)
		}
	}
	path := filepath.Join(dir, "config.yaml")
	_, err := load(path, nil)
	if err == nil {
		t.Fatal("no error")
	}
	var got []string
	for _, line := range strings.Split(err.Error(), "\n") {
		got = append(got, strings.Fields(strings.TrimPrefix(line, path))[0]+" "+strings.Fields(strings.TrimPrefix(line, path))[1])
	}
	want := []string{
		":8: watchtower.claims:", ":9: watchtower.schema:", ":11: watchtower.chains.CITREA.keyFile:", ":12: watchtower.chains.SOLANA.keyFile:",
		":13: watchtower.chains.STARKNET.keyEnv:", ":14: watchtower.chains.BOTANIX:",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s\n%v", diff, err)
	}
}

// What a claim may cost is given in whole native tokens.
func TestWatchtowerPolicy(t *testing.T) {
	for name, c := range map[string]struct {
		chain string
		own   accountConfig
		want  [3]string
		err   string
	}{
		"EVM":           {"CITREA", accountConfig{Profit: "0", Allowance: "0.0001", MaxFee: "1"}, [3]string{"0", "100000000000000", "1000000000000000000"}, ""},
		"Solana":        {"SOLANA", accountConfig{Allowance: "0.01"}, [3]string{"<nil>", "10000000", "<nil>"}, ""},
		"too fine":      {"SOLANA", accountConfig{MaxFee: "0.0000000001"}, [3]string{}, "maxFee"},
		"negative":      {"CITREA", accountConfig{Profit: "-1"}, [3]string{}, "profit"},
		"not an amount": {"CITREA", accountConfig{Allowance: "much"}, [3]string{}, "allowance"},
	} {
		p, err := c.own.policy(c.chain)
		if c.err != "" {
			if err == nil || !strings.HasPrefix(err.Error(), c.err+": ") {
				t.Errorf("%s: got %v, want an error about %s", name, err, c.err)
			}
			continue
		}
		if got := [3]string{p.Profit.String(), p.Allowance.String(), p.MaxFee.String()}; err != nil || got != c.want {
			t.Errorf("%s: got %v, %v, want %v", name, got, err, c.want)
		}
	}
}
