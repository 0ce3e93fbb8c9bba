package e2e

import (
	"errors"
	"math/big"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/swapper-go/swapper"
	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/httpapi"
	"github.com/swapper-go/swapper/internal/trial"
)

// Gas is bought over HTTP from the provider that the service trusts, with a payment over
// Lightning and one on Bitcoin, which the wallet signs as the swap's owner.
func TestGasOverHTTP(t *testing.T) {
	t.Parallel()
	w := start(t, options{config: func(c *swapper.Config) { c.LPs.Trusted = c.LPs.URLs[0] }})
	server := httptest.NewServer(httpapi.New(w.client, httpapi.Options{}))
	defer server.Close()
	remote := trial.Must(httpapi.NewClient(server.URL, httpapi.ClientOptions{}))(t)
	user := *w.user
	user.Swaps = remote
	for src, typ := range map[string]swapper.SwapType{"LIGHTNING-BTC": swapper.SwapTrustedFromLN, "BITCOIN-BTC": swapper.SwapTrustedFromBTC} {
		t.Run(src, func(t *testing.T) {
			w := w.in(t)
			in := swapper.CreateGasSwapInput{SrcToken: src, ChainID: w.chain(), Amount: w.gasWorth(), DstAddress: w.newcomer(), IdempotencyKey: src}
			s := trial.Must(remote.CreateGasSwap(w.within(30*time.Second), in))(t)
			if s.SwapType != typ || s.SwapKey == "" || s.Quote.OutputAmount.RawAmount.Cmp(in.Amount) != 0 || s.Quote.OutputAddress != in.DstAddress {
				t.Errorf("made %+v", s)
			}
			if again, err := remote.CreateGasSwap(w.within(30*time.Second), in); err != nil || again.SwapID != s.SwapID || again.SwapKey != s.SwapKey {
				t.Errorf("asked again: %+v, %v", again, err)
			}
			other := in
			other.Amount = new(big.Int).Add(in.Amount, big.NewInt(1))
			if _, err := remote.CreateGasSwap(w.within(30*time.Second), other); fault.CodeOf(err) != fault.InvalidInput || fieldOf(err) != "idempotencyKey" {
				t.Errorf("the key of another request: %v", err)
			}
			end, err := user.Finish(w.within(60*time.Second), s.SwapID, nil)
			if err != nil || !end.IsSuccess {
				t.Fatalf("ended as %+v, %v", end, err)
			}
			if got := w.coins(in.DstAddress); got.Cmp(in.Amount) != 0 {
				t.Errorf("received %v, want %v", got, in.Amount)
			}
		})
	}
}

// A caller names no provider but the service's: requests to providers are signed by the service,
// and made from where it is. The service itself may name any.
func TestCallersNameTheServicesProviders(t *testing.T) {
	t.Parallel()
	w := start(t, options{})
	ctx := swapper.WithCaller(w.within(30*time.Second), "alice")
	asked := false
	stranger := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { asked = true; w.WriteHeader(http.StatusNotFound) }))
	defer stranger.Close()
	in := w.gasInput("LIGHTNING-BTC", w.newcomer())
	if _, err := w.client.CreateGasSwap(ctx, in); err != nil {
		t.Errorf("one of the service's: %v", err)
	}
	in.LP = stranger.URL
	if _, err := w.client.CreateGasSwap(ctx, in); fault.CodeOf(err) != fault.InvalidInput || fieldOf(err) != "lp" || asked {
		t.Errorf("a stranger: %v, asked %t", err, asked)
	}
	if _, err := w.client.CreateGasSwap(w.within(30*time.Second), in); fault.CodeOf(err) != fault.Upstream || !asked {
		t.Errorf("a stranger, named by the service: %v, asked %t", err, asked)
	}
}

// fieldOf is the field that an error names.
func fieldOf(err error) string {
	if e, ok := errors.AsType[*fault.Error](err); ok {
		return e.Field
	}
	return ""
}
