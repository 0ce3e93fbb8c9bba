package e2e

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/big"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/swapper-go/swapper"
	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/httpapi"
	"github.com/swapper-go/swapper/internal/devnet/lightning"
	"github.com/swapper-go/swapper/internal/swap"
	"github.com/swapper-go/swapper/internal/trial"
)

// An id lets whoever knows it act on the swap, so that nothing tells one to
// another caller: not a repeated idempotency key, not an error about a payment
// hash or an invoice, not the LP's own numbers.
func TestIDsAreForWhoMadeTheSwap(t *testing.T) {
	t.Parallel()
	w := start(t, options{slow: true})
	alice, bob := swapper.WithCaller(t.Context(), "alice"), swapper.WithCaller(t.Context(), "bob")
	t.Run("idempotency keys", func(t *testing.T) {
		in := w.incoming()[swapper.SwapFromBTCLNAuto]()
		in.IdempotencyKey = "1"
		first := trial.Must(w.client.CreateSwap(alice, in))(t)
		if again, err := w.client.CreateSwap(alice, in); err != nil || again.SwapID != first.SwapID {
			t.Errorf("repeated: %+v, %v", again, err)
		}
		if other, err := w.client.CreateSwap(bob, in); err != nil || other.SwapID == first.SwapID {
			t.Errorf("another caller: %+v, %v", other, err)
		}
		if none, err := w.client.CreateSwap(t.Context(), in); err != nil || none.SwapID == first.SwapID {
			t.Errorf("a caller without a name: %+v, %v", none, err)
		}
		gas := w.gasInput("LIGHTNING-BTC", w.newcomer())
		gas.IdempotencyKey = "gas"
		g1, err1 := w.client.CreateGasSwap(alice, gas)
		g2, err2 := w.client.CreateGasSwap(bob, gas)
		if err1 != nil || err2 != nil || g1.SwapID == g2.SwapID {
			t.Errorf("gas: %v, %v", err1, err2)
		}
	})
	t.Run("over HTTP", func(t *testing.T) {
		server := httptest.NewServer(httpapi.New(w.client, httpapi.Options{Caller: func(r *http.Request) string { return r.Header.Get("X-Account") }}))
		defer server.Close()
		create := func(account string) string {
			body := fmt.Sprintf(`{"srcToken":"LIGHTNING-BTC","dstToken":"CITREA-WBTC","amount":"100000","amountType":"EXACT_IN","dstAddress":"%s","idempotencyKey":"2"}`, w.address())
			r := trial.Must(http.NewRequestWithContext(t.Context(), http.MethodPost, server.URL+"/createSwap", strings.NewReader(body)))(t)
			r.Header.Set("Content-Type", "application/json")
			r.Header.Set("X-Account", account)
			resp := trial.Must(http.DefaultClient.Do(r))(t)
			defer resp.Body.Close()
			text, _ := io.ReadAll(resp.Body)
			var out struct{ SwapID string }
			if json.Unmarshal(text, &out) != nil || out.SwapID == "" {
				t.Fatalf("%d %s", resp.StatusCode, text)
			}
			return out.SwapID
		}
		if a, again, b := create("a"), create("a"), create("b"); a != again || a == b {
			t.Errorf("%s, %s again, %s for another", a, again, b)
		}
	})
	t.Run("a payment hash", func(t *testing.T) {
		_, hash := lightning.Preimage(t.Name())
		first := w.fromLightning(hex.EncodeToString(hash[:]))
		_, err := w.client.CreateSwap(bob, swapper.CreateSwapInput{SrcToken: "LIGHTNING-BTC", DstToken: "CITREA-WBTC", Amount: big.NewInt(100_001), AmountType: swapper.ExactIn,
			DstAddress: w.address(), PaymentHash: hex.EncodeToString(hash[:])})
		if e, ok := errors.AsType[*fault.Error](err); !ok || e.Field != "paymentHash" {
			t.Fatalf("not refused by name: %v", err)
		}
		if strings.Contains(err.Error(), first.SwapID) {
			t.Errorf("tells the id: %v", err)
		}
	})
	t.Run("the LP's numbers", func(t *testing.T) {
		for _, src := range []string{"LIGHTNING-BTC", "BITCOIN-BTC"} {
			s := w.gas(w.gasInput(src, w.newcomer()))
			e := trial.Must(w.store.Get(t.Context(), s.SwapID))(t)
			var r swap.Record
			trial.Do(t, json.Unmarshal(e.Body, &r))
			known := ""
			if r.Lightning != nil {
				known = r.Lightning.Hash
			} else {
				known = r.Gas.Hash
			}
			if len(known) != 64 || len(s.SwapID) != 64+32 || !strings.HasPrefix(s.SwapID, known) {
				t.Errorf("%s: id %s of the LP's %s", src, s.SwapID, known)
			}
		}
	})
}
