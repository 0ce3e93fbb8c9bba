package discovery

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/internal/flowtest"
	"github.com/swapper-go/swapper/internal/lp"
	"github.com/swapper-go/swapper/internal/lp/lphttp"
	"github.com/swapper-go/swapper/internal/trial"
)

// infoHandler answers /info as an LP on CITREA that offers payments to Bitcoin.
func infoHandler(signature string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		var ask struct{ Nonce string }
		if ask.Nonce = r.URL.Query().Get("nonce"); r.Method == http.MethodPost {
			_ = json.Unmarshal(flowtest.ReadAll(r), &ask)
		}
		envelope := `{"nonce":"` + ask.Nonce + `","services":{"TO_BTC":{"swapFeePPM":3000,"swapBaseFee":10,"min":1000,"max":5000000,"chainTokens":{"CITREA":["T"]}}}}`
		_ = json.NewEncoder(w).Encode(map[string]any{"envelope": envelope, "chains": map[string]any{"CITREA": map[string]string{"address": "0xA", "signature": signature}}})
	}
}

func TestReloadWaitsForNobody(t *testing.T) {
	t.Parallel()
	good := flowtest.Serve(t, infoHandler("good"))
	urls := []string{}
	for _, name := range []string{"never answers", "closes the connection", "streams bytes without end", "drips frames without end"} {
		urls = append(urls, flowtest.Serve(t, flowtest.Hostile[name]))
	}
	late := flowtest.Serve(t, func(w http.ResponseWriter, r *http.Request) {
		time.Sleep(150 * time.Millisecond)
		infoHandler("good")(w, r)
	})
	d := NewDirectory(Setup{Client: newClient(t, lphttp.Options{GetTimeout: time.Minute}), Chains: clientChains(), URLs: append(urls, late, good), Grace: 2 * time.Second})
	start := time.Now()
	trial.Do(t, d.Reload(t.Context()))
	took := time.Since(start)
	t.Logf("loaded in %v", took)
	if took > 30*time.Second {
		t.Errorf("the load took %v with a grace of 2 s", took)
	}
	var got []string
	for _, p := range d.LPs() {
		got = append(got, p.URL)
	}
	if diff := cmp.Diff([]string{late, good}, got); diff != "" {
		t.Errorf("loaded (-want +got):\n%s", diff)
	}
}

func TestReloadReplacesWhatIsKnown(t *testing.T) {
	var down atomic.Bool
	switchable := flowtest.Serve(t, func(w http.ResponseWriter, r *http.Request) {
		if down.Load() {
			panic(http.ErrAbortHandler)
		}
		infoHandler("good")(w, r)
	})
	steady := flowtest.Serve(t, infoHandler("good"))
	d := NewDirectory(Setup{Client: newClient(t, lphttp.Options{}), Chains: clientChains(), URLs: []string{switchable, steady, steady + "/", "http://elsewhere.example"}})
	load := func(want int) {
		t.Helper()
		if err := d.Reload(t.Context()); err != nil || len(d.LPs()) != want {
			t.Fatalf("%d LPs, %v, want %d", len(d.LPs()), err, want)
		}
	}
	load(2)
	down.Store(true)
	load(1)
	down.Store(false)
	load(2)

	alone := NewDirectory(Setup{Client: newClient(t, lphttp.Options{}), Chains: clientChains(), URLs: []string{switchable}})
	trial.Do(t, alone.Reload(t.Context()))
	down.Store(true)
	if err := alone.Reload(t.Context()); err == nil || len(alone.LPs()) != 1 {
		t.Errorf("when nobody can be reached: %d LPs, %v, want those known", len(alone.LPs()), err)
	}
	if p, err := d.Get(t.Context(), steady); err != nil || p.URL != steady {
		t.Errorf("loaded LP: %v, %v", p, err)
	}
}

func TestFalseSignatureIsARefusal(t *testing.T) {
	for signature, want := range map[string]bool{"good": true, "false": false, "throw": false, "": false} {
		base := flowtest.Serve(t, infoHandler(signature))
		d := NewDirectory(Setup{Client: newClient(t, lphttp.Options{}), Chains: clientChains(), URLs: []string{base}})
		trial.Do(t, d.Reload(t.Context()))
		q := Query{Service: lp.ToBTC, Chain: "CITREA", Token: "T"}
		if got := len(d.candidates(q)) == 1; got != want {
			t.Errorf("signature %q: candidate %v, want %v", signature, got, want)
		}
		url := map[bool]string{true: base}[want]
		if got := d.At("CITREA", "0xA"); got != url || d.At("CITREA", "") != "" || d.At("SOLANA", "0xA") != "" {
			t.Errorf("signature %q: the LP is at %q, want %q", signature, got, url)
		}
	}
}

func TestSlowProofDoesNotHoldTheLoad(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		slow := testChain{info: chains.Info{ID: "SOLANA", Versions: []chains.Version{{Name: "v1"}}}, verify: func(ctx context.Context, _ string, _ []byte, _ string) error {
			<-ctx.Done()
			return ctx.Err()
		}}
		d := NewDirectory(Setup{Chains: []Chain{clientChains()[0], slow}})
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		defer cancel()
		p := d.prove(ctx, "lp", lp.Info{Chains: []lp.ChainClaim{{Chain: "SOLANA", Address: "S", Signature: "x", Version: "v1"}, {Chain: "CITREA", Address: "C", Signature: "good", Version: "v1"}}})
		if diff := cmp.Diff(map[string]string{"CITREA": "C"}, p.Addresses); diff != "" {
			t.Errorf("proven (-want +got):\n%s", diff)
		}
	})
}

func TestPenaltiesGrowAndEnd(t *testing.T) {
	now := time.Unix(1_700_000_000, 0)
	d := NewDirectory(Setup{Chains: clientChains(), Now: func() time.Time { return now }})
	d.lps = []*LP{{URL: "lp", Services: map[lp.Service]lp.ServiceInfo{lp.ToBTC: {Min: 1, Max: 10, Chains: []lp.ChainTokens{{Chain: "CITREA", Tokens: []string{"T"}}}}}}}
	free := func() bool { return len(d.candidates(Query{Service: lp.ToBTC, Chain: "CITREA", Token: "T"})) == 1 }
	pair := lp.Pair{Service: lp.ToBTC, Chain: "CITREA", Token: "T"}

	for name, err := range map[string]error{
		"network": &lp.CallError{LP: "lp", Err: errors.New("reset")}, "refusal": &lp.RequestError{}, "bounds": &lp.OutOfBoundsError{},
		"recoverable": &lp.LPError{Recoverable: true}, "clock": &lp.LPError{Clock: true}, "ours": errors.New("x"),
	} {
		if d.Punish("lp", pair, err); !free() {
			t.Errorf("%s: punished", name)
		}
	}
	for _, want := range []time.Duration{1, 2, 4, 8, 16, 32, 64, 128, 256, 360, 360, 360} {
		want *= time.Minute
		d.Punish("lp", pair, fmt.Errorf("quote: %w", &lp.LPError{Reason: "lie"}))
		if free() || d.Limits(lp.ToBTC, "CITREA", "T").Output.Min != nil || len(d.Penalties()) != 1 {
			t.Fatalf("not punished for %v", want)
		}
		now = now.Add(want - time.Second)
		if free() {
			t.Fatalf("free before %v", want)
		}
		if now = now.Add(time.Second); !free() {
			t.Fatalf("punished for more than %v", want)
		}
	}
	now = now.Add(forgiveness)
	d.Punish("lp", pair, &lp.LPError{Reason: "lie"})
	if now = now.Add(time.Minute); !free() {
		t.Error("old lies are not forgotten")
	}
}

func TestSpellingOfTokens(t *testing.T) {
	_, ids := everyChain()
	d := NewDirectory(Setup{Tokens: flowtest.Tokens(t, ids...)})
	token, _ := d.s.Tokens.Resolve("CITREA-WBTC")
	lower := strings.ToLower(token.Address)
	s := lp.ServiceInfo{Chains: []lp.ChainTokens{{Chain: "CITREA", Tokens: []string{"0x0", lower, "bad"}}}}
	if got, ok := d.spelling(s, "CITREA", token.Address); !ok || got != lower {
		t.Errorf("spelled %q, %v", got, ok)
	}
	if _, ok := d.spelling(s, "BOTANIX", token.Address); ok {
		t.Error("listed on another chain")
	}
}

func TestRoundTellsWhoAndWhy(t *testing.T) {
	lps := make([]Candidate, 8)
	for i := range lps {
		lps[i] = Candidate{LP: &LP{URL: fmt.Sprintf("https://lp%d", i)}}
	}
	r := Round[int]{Better: func(a, b int) bool { return a > b }, Ask: func(_ context.Context, c Candidate) (int, error) {
		switch c.LP.URL {
		case "https://lp1":
			panic("a check that was not careful")
		case "https://lp2":
			return 0, lp.Lie("", "total is %d, expected %d", 5, 4)
		}
		return 0, fmt.Errorf("node: %w", fault.New(fault.Timeout, "too late"))
	}}
	offer, found := r.run(t.Context(), lps)
	if found || len(offer.Failures) != len(lps) {
		t.Fatalf("found %v, %d failures", found, len(offer.Failures))
	}
	text := ""
	for _, f := range offer.Failures {
		if !strings.Contains(f.Err.Error(), f.Candidate.LP.URL) {
			t.Errorf("%v does not name %s", f.Err, f.Candidate.LP.URL)
		}
		text += f.Err.Error() + "\n"
	}
	if !strings.Contains(text, "https://lp2 sent an invalid response: total is 5, expected 4") || !strings.Contains(text, "https://lp1: internal error while handling a response: a check that was not careful") {
		t.Error(text)
	}
	if err := (&roundError{offer.Failures}); len(err.Error()) > 2000 || !strings.Contains(err.Error(), "and 3 more") {
		t.Errorf("error %v", err)
	}
}

func TestRecoverableErrorsAreAskedAgain(t *testing.T) {
	p := []Candidate{{LP: &LP{URL: "https://lp"}}}
	calls := 0
	r := Round[int]{Better: func(a, b int) bool { return a > b }, Ask: func(context.Context, Candidate) (int, error) {
		if calls++; calls < 3 {
			return 0, &lp.LPError{Reason: "vault output spent", Recoverable: true}
		}
		return 7, nil
	}}
	if offer, found := r.run(t.Context(), p); !found || offer.Quote != 7 || calls != 3 {
		t.Errorf("%+v after %d calls", offer, calls)
	}
	calls = -100
	if _, found := r.run(t.Context(), p); found || calls != -95 {
		t.Errorf("%d calls, want 5", calls+100)
	}
}

func TestRoundEndsWithItsBudget(t *testing.T) { synctest.Test(t, roundEndsWithItsBudget) }

func roundEndsWithItsBudget(t *testing.T) {
	stuck := Round[int]{Budget: 50 * time.Millisecond, Better: func(a, b int) bool { return a > b }, Ask: func(ctx context.Context, _ Candidate) (int, error) {
		<-ctx.Done()
		time.Sleep(200 * time.Millisecond) // slow to give up
		return 0, ctx.Err()
	}}
	start := time.Now()
	offer, found := stuck.run(t.Context(), []Candidate{{LP: &LP{URL: "https://a"}}, {LP: &LP{URL: "https://b"}}})
	if took := time.Since(start); found || took != stuck.Budget {
		t.Errorf("found %v in %v", found, took)
	}
	if err := error(&roundError{offer.Failures}); len(offer.Failures) != 2 || fault.CodeOf(err) != fault.Timeout {
		t.Errorf("%d failures, code %s", len(offer.Failures), fault.CodeOf(err))
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	why := errors.New("the caller is gone")
	time.AfterFunc(20*time.Millisecond, func() { cancel(why) })
	d := NewDirectory(Setup{Chains: clientChains()})
	d.lps = []*LP{{URL: "lp", Services: map[lp.Service]lp.ServiceInfo{lp.ToBTC: {Min: 1, Max: 10, Chains: []lp.ChainTokens{{Chain: "CITREA", Tokens: []string{"T"}}}}}}}
	stuck.Budget = time.Minute
	if _, err := Collect(ctx, d, Query{Service: lp.ToBTC, Chain: "CITREA", Token: "T"}, stuck); !errors.Is(err, why) {
		t.Errorf("error %v, want %v", err, why)
	}
	time.Sleep(time.Second) // until those who are slow have given up
}

// Tokens come in the order of the configured chains, whatever the order of an LP's own list is.
func TestTokensComeInTheOrderOfTheChains(t *testing.T) {
	list, ids := everyChain()
	d := NewDirectory(Setup{Chains: list, Tokens: flowtest.Tokens(t, ids...)})
	of := func(name string) string {
		token := trial.Must(d.s.Tokens.Resolve(name))(t)
		return token.Address
	}
	d.lps = []*LP{{URL: "https://lp", Services: map[lp.Service]lp.ServiceInfo{lp.ToBTC: {Chains: []lp.ChainTokens{
		{Chain: "CITREA", Tokens: []string{of("CITREA-CBTC")}}, {Chain: "SOLANA", Tokens: []string{of("SOLANA-SOL")}}, {Chain: "STARKNET", Tokens: []string{of("STARKNET-WBTC"), of("STARKNET-STRK")}},
	}}}}}
	var got []string
	for _, token := range d.Supported(Input) {
		got = append(got, token.ID())
	}
	if diff := cmp.Diff([]string{"STARKNET-WBTC", "STARKNET-STRK", "SOLANA-SOL", "CITREA-CBTC"}, got); diff != "" {
		t.Error(diff)
	}
}
