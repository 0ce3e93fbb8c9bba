package main

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"math/big"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ethereum/go-ethereum/crypto"
	"github.com/google/go-cmp/cmp"

	"github.com/swapper-go/swapper"
	"github.com/swapper-go/swapper/internal/trial"
	"github.com/swapper-go/swapper/storage"
	"github.com/swapper-go/swapper/storage/bolt"
	"github.com/swapper-go/swapper/swappertest"
)

// newOperator starts a network whose own watchtower is silent, and puts the key of an account
// with native tokens into citrea.key. It returns the key as it is in the file.
func newOperator(t *testing.T) (v *town, secret string) {
	t.Helper()
	v = newTown(t)
	v.net.Misbehave(swappertest.WatchtowerFault{Off: true, Deaf: true})
	key, err := crypto.GenerateKey()
	if err != nil {
		t.Fatal(err)
	}
	if err := v.net.SendTokens(t.Context(), "CITREA-CBTC", crypto.PubkeyToAddress(key.PublicKey).Hex(), big.NewInt(1e18)); err != nil {
		t.Fatal(err)
	}
	secret = hex.EncodeToString(crypto.FromECDSA(key))
	if err := os.WriteFile(filepath.Join(v.dir, "citrea.key"), []byte(secret+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	v.write("local.json", json.RawMessage(v.text))
	return v, secret
}

// watch are settings with the operator's watchtower.
func watch(admin string, policy map[string]any) map[string]any {
	own := map[string]any{"keyFile": "citrea.key"}
	maps.Copy(own, policy)
	return map[string]any{
		"local": "local.json", "store": "swaps.db", "admin": map[string]any{"listen": admin}, "backup": map[string]any{"folder": "backups"},
		"logLevel": "debug", "watchtower": map[string]any{"every": "100ms", "chains": map[string]any{"CITREA": own}},
	}
}

// leaves makes a swap of a user without gas, who pays and leaves.
func (v *town) leaves(in swapper.CreateSwapInput, n int) (id string) {
	v.Helper()
	in.DstAddress = fmt.Sprintf("0x%040x", 0xabc00+n)
	id = v.create(in).SwapID
	v.finish(id, func(s *swapper.GetSwapStatusOutput) bool {
		_, waits := s.CurrentAction.(*swapper.Wait)
		return waits || s.IsFinished
	})
	return id
}

// claimed waits for the success of a swap whose user is away.
func (v *town) claimed(id string) {
	v.Helper()
	defer trial.Hasten(v, v.net)()
	v.until("claimed", func() bool {
		end, err := v.swaps.GetSwapStatus(v.Context(), swapper.GetSwapStatusInput{SwapID: id})
		if err != nil {
			v.Fatal(err)
		}
		if end.IsFinished && !end.IsSuccess {
			v.Fatalf("ended as %s", end.State.Name)
		}
		if err := v.net.Mine(1); err != nil {
			v.Fatal(err)
		}
		return end.IsFinished
	})
}

// logs waits until the log has so many lines with a text, from a place of it on. Metrics that are
// asked for before what they are to show serve for seconds.
func (v *town) logs(from int, text string, lines int) {
	v.Helper()
	v.until(text, func() bool { return strings.Count(v.log.String()[from:], text) >= lines })
}

// shows waits for a line of the metrics, while blocks are mined.
func (v *town) shows(admin, line string) {
	v.Helper()
	v.until(line, func() bool {
		if err := v.net.Mine(1); err != nil {
			v.Fatal(err)
		}
		_, text := get(v.T, "http://"+admin+"/metrics", nil)
		return strings.Contains(text, line+"\n")
	})
}

// A server with a watchtower claims for users who have paid and left, and who have no gas,
// while nobody else does; the operator sees what it costs.
func TestWatchtowerClaimsForUsersWhoAreAway(t *testing.T) {
	t.Parallel()
	v, secret := newOperator(t)
	admin := free(t)
	v.serve(watch(admin, map[string]any{"allowance": "1"}))
	for n, in := range []swapper.CreateSwapInput{v.fromLightning(), v.fromBitcoin()} {
		v.claimed(v.leaves(in, n))
	}
	v.logs(0, `"claimed":true`, 2)
	v.shows(admin, `swapper_watchtower_claims_total{chain="CITREA",outcome="claimed"} 2`)
	if log := v.log.String(); strings.Contains(log, secret) {
		t.Error("the log has the key")
	}
}

// A backup has what waits to be claimed. After a start from it the watchtower claims that; and if the
// backup's copy of the watchtower is lost, the service hands the claim over again.
func TestWatchtowerIsRestored(t *testing.T) {
	t.Parallel()
	v, _ := newOperator(t)
	for n, lost := range []bool{false, true} {
		admin, said := free(t), len(v.log.String())
		v.serve(watch(admin, map[string]any{"maxFee": "0.000000000000000001"}))
		id := v.leaves(v.fromLightning(), n)
		v.logs(said, "a claim does not pay", 2) // the first is stored after it was said
		v.shows(admin, `swapper_watchtower_refused{chain="CITREA"} 1`)
		answer, err := http.Post("http://"+admin+"/backup", "", nil)
		if err != nil {
			t.Fatal(err)
		}
		var made struct{ File, Watchtower string }
		err = json.NewDecoder(answer.Body).Decode(&made)
		answer.Body.Close()
		if err != nil || answer.StatusCode != http.StatusOK {
			t.Fatalf("%d, %v", answer.StatusCode, err)
		}
		if err := v.end(); err != nil {
			t.Fatal(err)
		}
		if err := os.Remove(filepath.Join(v.dir, "watchtower.db")); err != nil {
			t.Fatal(err)
		}
		v.restore(made.File, "swaps.db", "change", "", n+1)
		if !lost {
			v.restore(made.Watchtower, "watchtower.db", "watchtower", "CITREA", 1)
		}
		v.serve(watch(admin, map[string]any{"allowance": "1"}))
		v.claimed(id)
		v.logs(said, `"claimed":true`, 1)
		v.shows(admin, `swapper_watchtower_claims_total{chain="CITREA",outcome="claimed"} 1`)
		if err := v.end(); err != nil {
			t.Fatal(err)
		}
	}
}

// restore puts a copy of a backup in the place of a file, and demands that it opens, is sound and has
// so many records in an index.
func (v *town) restore(name, to, index, value string, want int) {
	v.Helper()
	text, err := os.ReadFile(filepath.Join(v.dir, "backups", name))
	if err != nil {
		v.Fatal(err)
	}
	path := filepath.Join(v.dir, to)
	if err := os.WriteFile(path, text, 0o600); err != nil {
		v.Fatal(err)
	}
	s, err := bolt.Open(v.Context(), path, bolt.Options{})
	if err != nil {
		v.Fatal(err)
	}
	defer s.Close()
	if err := s.Verify(v.Context()); err != nil {
		v.Error(err)
	}
	n := 0
	for _, err := range s.Find(v.Context(), storage.Query{Index: index, Value: value}) {
		if err != nil {
			v.Fatal(err)
		}
		n++
	}
	if n != want {
		v.Errorf("%s has %d records in %s, want %d", name, n, index, want)
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
