package e2e

import (
	"bytes"
	"encoding/json"
	"io"
	"math/big"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/swapper-go/swapper"
	"github.com/swapper-go/swapper/chains/solana"
	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/httpapi"
	"github.com/swapper-go/swapper/internal/devnet/control"
	"github.com/swapper-go/swapper/internal/devnet/lightning"
	solwire "github.com/swapper-go/swapper/internal/solana/wire"
	"github.com/swapper-go/swapper/internal/swap"
	"github.com/swapper-go/swapper/internal/trial"
)

// asked is what a caller is answered over HTTP.
func asked[T any](t *testing.T, server *httptest.Server, path string, headers map[string]string) (out T, text string) {
	t.Helper()
	r := trial.Must(http.NewRequestWithContext(t.Context(), http.MethodGet, server.URL+path, nil))(t)
	for name, value := range headers {
		r.Header.Set(name, value)
	}
	answer := trial.Must(http.DefaultClient.Do(r))(t)
	defer answer.Body.Close()
	body := trial.Must(io.ReadAll(answer.Body))(t)
	if answer.StatusCode != http.StatusOK {
		t.Fatalf("%s: %d %s", path, answer.StatusCode, body)
	}
	trial.Do(t, json.Unmarshal(body, &out))
	return out, string(body)
}

// tells reports whether one of the transactions to sign carries a preimage.
func tells(t *testing.T, s *swapper.GetSwapStatusOutput, preimage []byte) bool {
	t.Helper()
	sign := asksFor[*swapper.SignSmartChainTransaction](s)
	return sign != nil && slices.ContainsFunc(sign.Txs, func(text string) bool {
		tx := trial.Must(solana.UnsignedTransaction(text))(t)
		return bytes.Contains(trial.Must(tx.MarshalBinary())(t), preimage)
	})
}

// A list tells the ids of a signer's swaps to anybody, the provider among them. Who asks
// for a paid swap by such an id is not told the preimage, with which the provider would
// take the payment without paying out. Its owner is, by who calls or by the swap's key, and
// signs everything at one go. A wallet that knows of no keys, and comes from elsewhere, opens
// first and claims afterwards.
func TestAPreimageIsForItsOwner(t *testing.T) {
	t.Parallel()
	w := start(t, options{on: solwire.V1, slow: true})
	server := httptest.NewServer(httpapi.New(w.client, httpapi.Options{Caller: func(r *http.Request) string { return r.Header.Get("X-Account") }}))
	defer server.Close()
	as := func(name string) *control.Wallet {
		user := *w.user
		user.Swaps = trial.Must(httpapi.NewClient(server.URL, httpapi.ClientOptions{Header: http.Header{"X-Account": {name}}}))(t)
		return &user
	}
	paid := func(t *testing.T, w *world) (s *swapper.CreateSwapOutput, preimage []byte) {
		owner := as("alice")
		s = trial.Must(owner.Swaps.CreateSwap(w.within(30*time.Second), w.incoming()[swapper.SwapFromBTCLN]()))(t)
		if len(s.SwapKey.Reveal()) != 32 {
			t.Fatalf("key %q", s.SwapKey.Reveal())
		}
		w.act(s.SwapID)
		w.watch(s.SwapID, is("PR_PAID"))
		entry := trial.Must(w.store.Get(t.Context(), s.SwapID))(t)
		var r swap.Record
		trial.Do(t, json.Unmarshal(entry.Body, &r))
		if bytes.Contains(entry.Body, []byte(s.SwapKey.Reveal())) || bytes.Contains(entry.Body, []byte("alice")) {
			t.Error("the record holds the key, or the owner's name")
		}
		return s, r.Lightning.Preimage[:]
	}
	t.Run("strangers and owners", func(t *testing.T) {
		w := w.in(t)
		s, preimage := paid(t, w)
		strangers := map[string]map[string]string{"nobody": nil, "another caller": {"X-Account": "mallory"}, "another key": {"Swap-Key": strings.Repeat("0", 32)},
			"another caller with another key": {"X-Account": "mallory", "Swap-Key": strings.Repeat("f", 32)}}
		for name, headers := range strangers {
			pending, _ := asked[[]swapper.ListSwapOutput](t, server, "/listPendingSwaps?signer="+w.address(), headers)
			if !slices.ContainsFunc(pending, func(l swapper.ListSwapOutput) bool { return l.SwapID == s.SwapID }) {
				t.Fatalf("%s: the list does not tell the id, so that this test shows nothing", name)
			}
			got, text := asked[swapper.GetSwapStatusOutput](t, server, "/getSwapStatus?swapId="+s.SwapID, headers)
			if tells(t, &got, preimage) {
				t.Errorf("%s reads the preimage", name)
			}
			for form, secret := range forms(preimage) {
				if strings.Contains(text, secret) {
					t.Errorf("%s reads the preimage as %s", name, form)
				}
			}
			if sign := asksFor[*swapper.SignSmartChainTransaction](&got); sign == nil || len(sign.Txs) == 0 {
				t.Errorf("%s is not asked for the opening: %+v", name, got.CurrentAction)
			}
		}
		for name, headers := range map[string]map[string]string{"the caller": {"X-Account": "alice"}, "the key": {"Swap-Key": s.SwapKey.Reveal()}, "the key in capitals": {"Swap-Key": strings.ToUpper(s.SwapKey.Reveal())}} {
			if got, _ := asked[swapper.GetSwapStatusOutput](t, server, "/getSwapStatus?swapId="+s.SwapID, headers); !tells(t, &got, preimage) {
				t.Errorf("%s is not asked for the claim: %+v", name, got.CurrentAction)
			}
		}
		end, err := as("alice").Finish(w.within(time.Minute), s.SwapID, nil)
		if err != nil || !end.IsSuccess {
			t.Fatalf("%v, %+v", err, end)
		}
	})
	t.Run("a wallet without the key", func(t *testing.T) {
		w := w.in(t)
		s, _ := paid(t, w)
		end, err := as("").Finish(w.within(2*time.Minute), s.SwapID, nil)
		if err != nil || !end.IsSuccess {
			t.Fatalf("%v, %+v", err, end)
		}
	})
	t.Run("asked with the key and handed in without", func(t *testing.T) {
		w := w.in(t)
		s, _ := paid(t, w)
		owner, other := as("alice"), as("")
		got := trial.Must(owner.Look(t.Context(), s.SwapID))(t)
		signed := trial.Must(owner.Sign(asksFor[*swapper.SignSmartChainTransaction](got)))(t)
		if _, err := other.Swaps.SubmitTransaction(w.within(30*time.Second), swapper.SubmitTransactionInput{SwapID: s.SwapID, SignedTxs: signed}); err != nil {
			t.Fatal(err)
		}
		w.watch(s.SwapID, is("CLAIM_CLAIMED"))
	})
	t.Run("asked without the key and handed in with it", func(t *testing.T) {
		w := w.in(t)
		s, _ := paid(t, w)
		owner, other := as("alice"), as("")
		got := trial.Must(other.Look(t.Context(), s.SwapID))(t)
		signed := trial.Must(owner.Sign(asksFor[*swapper.SignSmartChainTransaction](got)))(t)
		if _, err := owner.Swaps.SubmitTransaction(w.within(30*time.Second), swapper.SubmitTransactionInput{SwapID: s.SwapID, SignedTxs: signed}); err != nil {
			t.Fatal(err)
		}
		if end, err := owner.Finish(w.within(time.Minute), s.SwapID, nil); err != nil || !end.IsSuccess {
			t.Fatalf("%v, %+v", err, end)
		}
	})
}

// What pays out, or was paid for, is the owner's: a withdrawal link, and what a shop says
// to its payer. A stranger can neither read nor use them. A request that is repeated with
// its idempotency key gets the swap's key again, if it is the owner who repeats it.
func TestLinksAreForTheirOwner(t *testing.T) {
	t.Parallel()
	w := start(t, options{})
	server := httptest.NewServer(httpapi.New(w.client, httpapi.Options{Caller: func(r *http.Request) string { return r.Header.Get("X-Account") }}))
	defer server.Close()
	remote := func(name string) swapper.Service {
		return trial.Must(httpapi.NewClient(server.URL, httpapi.ClientOptions{Header: http.Header{"X-Account": {name}}}))(t)
	}
	services := trial.Must(lightning.StartLNURL(lightning.LNURLOptions{Node: w.net.Payer, Now: w.net.Clock.Now}))(t)
	defer services.Close()
	shop := trial.Must(services.AddPay(lightning.Pay{Name: "shop", MinMsat: 1_000, MaxMsat: 1_000_000_000,
		Action: &lightning.Action{Tag: "aes", Description: "a gift", Text: "voucher 88-17"}}))(t)
	faucet := trial.Must(services.AddWithdraw(lightning.Withdraw{Name: "faucet", MinMsat: 1_000, MaxMsat: 1_000_000_000, Description: "for you"}))(t)
	ctx := w.within(2 * time.Minute)
	alice, bob := remote("alice"), remote("bob")

	in := swapper.CreateSwapInput{SrcToken: "LIGHTNING-BTC", DstToken: w.token("WBTC"), Amount: big.NewInt(100_000), AmountType: swapper.ExactIn, SrcAddress: faucet.LNURL, DstAddress: w.address(), IdempotencyKey: "1"}
	linked := trial.Must(alice.CreateSwap(ctx, in))(t)
	again := trial.Must(remote("alice").CreateSwap(ctx, in))(t)
	if again.SwapID != linked.SwapID || again.SwapKey != linked.SwapKey || len(again.SwapKey) != 32 || again.LNURL == nil {
		t.Errorf("repeated: %+v with the key %q, %q at first", again, again.SwapKey.Reveal(), linked.SwapKey.Reveal())
	}
	bought := trial.Must(alice.CreateSwap(ctx, swapper.CreateSwapInput{SrcToken: w.token("WBTC"), DstToken: "LIGHTNING-BTC", Amount: big.NewInt(50_000),
		AmountType: swapper.ExactOut, SrcAddress: w.address(), DstAddress: shop.LNURL}))(t)
	if linked.SwapKey == bought.SwapKey {
		t.Error("two swaps have one key")
	}
	if _, err := bob.SettleWithLnurl(ctx, swapper.SettleWithLnurlInput{SwapID: linked.SwapID}); fault.CodeOf(err) != fault.Unsupported {
		t.Errorf("a stranger uses the owner's link: %v", err)
	}
	if r := trial.Must(alice.GetSwapStatus(ctx, swapper.GetSwapStatusInput{SwapID: linked.SwapID}))(t); r.State.Name != "PR_CREATED" || r.LNURL == nil || r.LNURL.Withdraw != faucet.LNURL {
		t.Errorf("%+v", r)
	}
	if _, err := remote("").SettleWithLnurl(ctx, swapper.SettleWithLnurlInput{SwapID: linked.SwapID, SwapKey: linked.SwapKey}); err != nil {
		t.Errorf("with the key: %v", err)
	}
	user := *w.user
	user.Swaps = alice
	if end, err := user.Finish(ctx, bought.SwapID, nil); err != nil || end.LNURL.SuccessAction == nil || end.LNURL.SuccessAction.Text != "voucher 88-17" {
		t.Fatalf("%v, %+v", err, end)
	}
	for name, headers := range map[string]map[string]string{"bob": {"X-Account": "bob"}, "nobody": nil, "alice": {"X-Account": "alice"}} {
		var all string
		for _, id := range []string{linked.SwapID, bought.SwapID} {
			_, text := asked[swapper.GetSwapStatusOutput](t, server, "/getSwapStatus?swapId="+id, headers)
			all += text
		}
		_, list := asked[[]swapper.ListSwapOutput](t, server, "/listSwaps?signer="+w.address(), headers)
		for _, text := range []string{all, list} {
			if own := name == "alice"; strings.Contains(text, faucet.LNURL) != own || strings.Contains(text, "voucher") != own {
				t.Errorf("%s is told %s", name, text)
			}
			if strings.Contains(text, linked.SwapKey.Reveal()) {
				t.Errorf("%s is told the key once more", name)
			}
		}
	}
}
