package swapper

import (
	"errors"
	"math/big"
	"slices"
	"testing"
	"time"

	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/internal/devnet/lp"
	"github.com/swapper-go/swapper/internal/httpx"
	lpwire "github.com/swapper-go/swapper/internal/lp"
	"github.com/swapper-go/swapper/internal/lp/discovery"
	"github.com/swapper-go/swapper/internal/lp/lphttp"
	"github.com/swapper-go/swapper/internal/trial"
)

// nobodyOffers demands that every question about offers says that the fault is
// upstream, instead of an empty list or bounds that nobody has named.
func (h *honest) nobodyOffers(t *testing.T) {
	t.Helper()
	_, err := h.Ready(t.Context())
	missing, ok := errors.AsType[*NotReady](err)
	if !ok || fault.CodeOf(missing.Parts[partProviders]) != fault.Upstream || len(missing.Parts) != 1 {
		t.Errorf("ready: %v", missing)
	}
	for _, side := range []Side{SideInput, SideOutput} {
		if list, err := h.GetSupportedTokens(t.Context(), GetSupportedTokensInput{Side: side}); fault.CodeOf(err) != fault.Upstream {
			t.Errorf("%s: %v, %v", side, list, err)
		}
		if list, err := h.GetSwapCounterTokens(t.Context(), GetSwapCounterTokensInput{Token: "BITCOIN-BTC", Side: side}); fault.CodeOf(err) != fault.Upstream {
			t.Errorf("%s of bitcoin: %v, %v", side, list, err)
		}
	}
	if l, err := h.GetSwapLimits(t.Context(), GetSwapLimitsInput{SrcToken: "CITREA-WBTC", DstToken: "BITCOIN-BTC"}); fault.CodeOf(err) != fault.Upstream {
		t.Errorf("limits: %+v, %v", l, err)
	}
	if _, err := h.CreateSwap(t.Context(), h.plain()); fault.CodeOf(err) != fault.Upstream {
		t.Errorf("swap: %v", err)
	}
}

func (h *honest) plain() CreateSwapInput {
	return CreateSwapInput{SrcToken: "CITREA-WBTC", DstToken: "BITCOIN-BTC", Amount: big.NewInt(100_000), AmountType: ExactOut,
		SrcAddress: h.net.EVM.User.Address.Hex(), DstAddress: h.net.Wallet.Address.String()}
}

func TestNobodyOffers(t *testing.T) {
	t.Parallel()
	t.Run("nobody is known", func(t *testing.T) {
		t.Parallel()
		h := newHonest(t, one())
		h.deal(t, discovery.NewDirectory(discovery.Setup{Client: h.lps, Tokens: h.registry}))
		h.nobodyOffers(t)
	})
	t.Run("all lied", func(t *testing.T) {
		t.Parallel()
		h := newHonest(t, one())
		trial.Must(h.Ready(t.Context()))(t)
		h.offers.Punish(h.net.LPURLs()[0], lpwire.Pair{}, lpwire.Lie("", "it is %d", 5))
		h.nobodyOffers(t)
	})
	t.Run("all are gone", func(t *testing.T) {
		t.Parallel()
		h := newHonest(t, one())
		h.quoter.LPs = lphttp.NewClient(lphttp.Options{AllowHTTP: true, AllowLocal: true, Retry: httpx.RetryPolicy{Delay: time.Millisecond}})
		trial.Must(h.Ready(t.Context()))(t)
		h.net.LPs[0].Misbehave(lp.Fault{Down: true})
		if _, err := h.CreateSwap(t.Context(), h.plain()); fault.CodeOf(err) != fault.Upstream {
			t.Errorf("swap: %v", err)
		}
		_, err := h.Ready(t.Context())
		missing, ok := errors.AsType[*NotReady](err)
		if !ok || fault.CodeOf(missing.Parts[partProviders]) != fault.Upstream {
			t.Errorf("ready: %v", missing)
		}
		h.net.LPs[0].Misbehave(lp.Fault{})
		if _, err := h.Ready(t.Context()); err != nil {
			t.Errorf("back again: %v", err)
		}
	})
	t.Run("one pair is left alone", func(t *testing.T) {
		t.Parallel()
		h := newHonest(t, one())
		trial.Must(h.Ready(t.Context()))(t)
		wbtc := trial.Must(h.registry.Resolve("CITREA-WBTC"))(t)
		h.offers.Punish(h.net.LPURLs()[0], lpwire.Pair{Service: lpwire.ToBTC, Chain: "CITREA", Token: wbtc.Address}, lpwire.Lie("", "too dear"))
		if _, err := h.Ready(t.Context()); err != nil {
			t.Errorf("ready: %v", err)
		}
		if _, err := h.CreateSwap(t.Context(), h.plain()); fault.CodeOf(err) != fault.Upstream {
			t.Errorf("swap: %v", err)
		}
		other := h.plain()
		other.SrcToken = "CITREA-CBTC"
		if _, err := h.CreateSwap(t.Context(), other); err != nil {
			t.Errorf("of another token: %v", err)
		}
		for dst, want := range map[string]fault.Code{"BITCOIN-BTC": fault.Upstream, "LIGHTNING-BTC": ""} {
			if l, err := h.GetSwapLimits(t.Context(), GetSwapLimitsInput{SrcToken: "CITREA-WBTC", DstToken: dst}); fault.CodeOf(err) != want {
				t.Errorf("limits to %s: %+v, %v", dst, l, err)
			}
		}
	})
}

// What is shown as the least and the most is accepted, on either side.
func TestShownLimitsAreAccepted(t *testing.T) {
	t.Parallel()
	newHonest(t, one()).shownLimitsAreAccepted(t)
}

// So is it where the watchtower's pay decides how little can be swapped.
func TestShownLimitsAreAcceptedWithExpensiveGas(t *testing.T) {
	t.Parallel()
	for _, test := range trial.Of(1, []struct {
		name string
		gas  uint64
	}{{"as much as the least amount", 190_000_000}, {"a multiple of it", 1_000_000_000}}) {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			w := one()
			w.gas = test.gas
			h := newHonest(t, w)
			l := trial.Must(h.GetSwapLimits(t.Context(), GetSwapLimitsInput{SrcToken: "LIGHTNING-BTC", DstToken: "CITREA-WBTC"}))(t)
			if l.Input.Min.RawAmount.Cmp(big.NewInt(1000)) <= 0 || l.Input.Min.RawAmount.Cmp(l.Input.Max.RawAmount) >= 0 {
				t.Errorf("from %s to %s sats", l.Input.Min.RawAmount, l.Input.Max.RawAmount)
			}
			h.shownLimitsAreAccepted(t)
		})
	}
}

// An amount below a minimum that the watchtower's pay has raised is refused.
func TestRaisedLimitsAreTheLeast(t *testing.T) {
	t.Parallel()
	w := one()
	w.gas = 1_000_000_000
	h := newHonest(t, w)
	for _, src := range []string{"LIGHTNING-BTC", "BITCOIN-BTC"} {
		l := trial.Must(h.GetSwapLimits(t.Context(), GetSwapLimitsInput{SrcToken: src, DstToken: "CITREA-WBTC"}))(t)
		in := CreateSwapInput{SrcToken: src, DstToken: "CITREA-WBTC", DstAddress: h.net.EVM.User.Address.Hex(),
			AmountType: ExactIn, Amount: new(big.Int).Sub(l.Input.Min.RawAmount, big.NewInt(1))}
		if _, err := h.CreateSwap(t.Context(), in); fault.CodeOf(err) != fault.InvalidInput {
			t.Errorf("%s: %s sats, less than the minimum: %v", src, in.Amount, err)
		}
	}
}

func (h *honest) shownLimitsAreAccepted(t *testing.T) {
	t.Helper()
	user := h.net.EVM.User.Address.Hex()
	for _, smart := range []string{"CITREA-CBTC", "CITREA-WBTC", "CITREA-USDC"} {
		for _, in := range []CreateSwapInput{
			{SrcToken: smart, DstToken: "LIGHTNING-BTC", SrcAddress: user, DstAddress: h.net.Alice.LNURL},
			{SrcToken: smart, DstToken: "BITCOIN-BTC", SrcAddress: user, DstAddress: h.net.Wallet.Address.String()},
			{SrcToken: "LIGHTNING-BTC", DstToken: smart, DstAddress: user},
			{SrcToken: "BITCOIN-BTC", DstToken: smart, DstAddress: user},
		} {
			l := trial.Must(h.GetSwapLimits(t.Context(), GetSwapLimitsInput{SrcToken: in.SrcToken, DstToken: in.DstToken}))(t)
			for side, amount := range map[AmountType]GetSwapLimitsSide{ExactIn: l.Input, ExactOut: l.Output} {
				for _, units := range []Amount{amount.Min, *amount.Max} {
					in.AmountType, in.Amount = side, units.RawAmount
					if _, err := h.CreateSwap(t.Context(), in); err != nil {
						t.Errorf("%s to %s, %s of %s: %v", in.SrcToken, in.DstToken, side, units.RawAmount, err)
					}
				}
			}
		}
	}
}

// Whom a client has caught at lying another one leaves alone that is opened on the same
// store, after a restart for instance.
func TestLiarsAreRemembered(t *testing.T) {
	t.Parallel()
	h := newHonest(t, one())
	liar := h.net.LPURLs()[0]
	h.offers.Punish(liar, lpwire.Pair{}, lpwire.Lie("", "it is %d", 5))
	trial.Do(t, h.Close())
	next := trial.Must(Open(t.Context(), h.config))(t)
	defer next.Close()
	s := trial.Must(next.Stats(t.Context()))(t)
	i := slices.IndexFunc(s.Providers, func(p ProviderStats) bool { return p.URL == liar })
	if i < 0 || s.Providers[i].Strikes != 1 || !s.Providers[i].Excluded.After(h.net.Clock.Now()) {
		t.Errorf("%+v", s.Providers)
	}
}
