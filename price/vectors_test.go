package price

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/swapper-go/swapper/internal/httpx"
	"github.com/swapper-go/swapper/internal/vectors"
	"github.com/swapper-go/swapper/tokens"
)

// canned answers requests from a table and remembers their order.
type canned struct {
	answers map[string]struct {
		Status int
		Body   string
	}
	asked []string
}

func (c *canned) RoundTrip(r *http.Request) (*http.Response, error) {
	url := r.URL.String()
	c.asked = append(c.asked, url)
	a, ok := c.answers[url]
	if !ok {
		return nil, fmt.Errorf("nobody is at %s", url)
	}
	if a.Status == 0 {
		a.Status = http.StatusOK
	}
	return &http.Response{StatusCode: a.Status, Body: io.NopCloser(strings.NewReader(a.Body)), ContentLength: -1, Header: http.Header{}, Request: r}, nil
}

func TestVectorsPriceProviders(t *testing.T) {
	vectors.Each(t, "swap-flows-spv-and-core", "price_providers", func(t *testing.T, c *vectors.Case) {
		var in struct {
			Provider, Ticker string
			Symbol           *string
			USD              bool
			HTTP             map[string]struct {
				Status int
				Body   string
			}
		}
		c.Input(t, &in)
		var want struct {
			Error, RequestError bool
			PriceUSatPerToken   string
			USDPerSat           float64
			Requests            []string
		}
		c.Expected(t, &want)
		net := &canned{answers: in.HTTP}
		s := services[in.Provider](Options{Client: &http.Client{Transport: net}})
		if in.USD {
			got, err := s.USDPerSat(t.Context())
			if (err != nil) != want.Error || got != want.USDPerSat {
				t.Errorf("got %v, %v; want %v", got, err, want.USDPerSat)
			}
			return
		}
		if in.Symbol != nil {
			if got := s.(*exchange).symbols(known[in.Ticker]); got != *in.Symbol {
				t.Errorf("symbol %q, want %q", got, *in.Symbol)
			}
		}
		got, err := s.Price(t.Context(), tokens.Token{Chain: "X", Ticker: in.Ticker})
		if want.PriceUSatPerToken == "0" {
			c.Differ(t, "price-zero")
			want.Error = true
		}
		if in.Provider == "coingecko" && want.Error && err == nil {
			// Six decimals that a double does not hold exactly: a price all the same.
			c.Differ(t, "price-coingecko-rounding")
			if err := sane(got); err != nil {
				t.Error(err)
			}
			return
		}
		if (err != nil) != want.Error {
			t.Fatalf("error %v, want one: %v", err, want.Error)
		}
		if err != nil {
			if _, status := errors.AsType[*httpx.StatusError](err); status != want.RequestError {
				t.Errorf("error %v: HTTP status %v, want %v", err, status, want.RequestError)
			}
			if in.Symbol == nil != errors.Is(err, ErrUnknownToken) {
				t.Errorf("error %v: unknown token %v", err, !(in.Symbol == nil))
			}
			return
		}
		if got.String() != want.PriceUSatPerToken {
			t.Errorf("price %s, want %s", got, want.PriceUSatPerToken)
		}
		if diff := cmp.Diff(want.Requests, append([]string{}, net.asked...)); diff != "" {
			t.Errorf("requests (-want +got):\n%s", diff)
		}
	})
}

func TestVectorsPriceRedundancy(t *testing.T) {
	vectors.Each(t, "swap-flows-spv-and-core", "price_redundancy", func(t *testing.T, c *vectors.Case) { c.NotOurs(t, "price-redundancy") })
}

// The pricing members of the token registry are the symbols of this package.
func TestVectorsTokenPricing(t *testing.T) {
	vectors.Each(t, "swap-flows-spv-and-core", "token_registry", func(t *testing.T, c *vectors.Case) {
		var want struct {
			Tokens []struct {
				Ticker  string
				Pricing *struct{ BinancePair, OkxPair, CoinGeckoCoinID, CoinPaprikaCoinID, KrakenPair string }
			}
		}
		c.Expected(t, &want)
		for _, token := range want.Tokens {
			if token.Pricing == nil {
				continue
			}
			p := *token.Pricing
			if got, want := known[token.Ticker], (symbols{p.BinancePair, p.OkxPair, p.CoinGeckoCoinID, p.CoinPaprikaCoinID, p.KrakenPair}); got != want {
				t.Errorf("%s: %+v, want %+v", token.Ticker, got, want)
			}
		}
	})
}
