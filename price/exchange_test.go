package price

import (
	"context"
	"io"
	"math/big"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/swapper-go/swapper/internal/vectors"
	"github.com/swapper-go/swapper/tokens"
)

func TestServicesAgainstBadServers(t *testing.T) {
	stop := make(chan struct{})
	for name, handler := range map[string]http.HandlerFunc{
		"silence": func(_ http.ResponseWriter, r *http.Request) {
			select {
			case <-r.Context().Done():
			case <-stop:
			}
		},
		"without end": func(w http.ResponseWriter, r *http.Request) {
			for r.Context().Err() == nil {
				if _, err := io.WriteString(w, strings.Repeat(" ", 4096)); err != nil {
					return
				}
			}
		},
		"drops":   func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) },
		"nothing": func(http.ResponseWriter, *http.Request) {},
	} {
		s := httptest.NewServer(handler)
		var all sync.WaitGroup
		for provider, make := range services {
			all.Go(func() {
				source := make(Options{URL: s.URL + "/", Timeout: 100 * time.Millisecond})
				start := time.Now()
				if p, err := source.Price(t.Context(), tokens.Token{Ticker: "SOL"}); err == nil || time.Since(start) > 30*time.Second {
					t.Errorf("%s, %s: price %v, %v after %v", name, provider, p, err, time.Since(start))
				}
				if v, err := source.USDPerSat(t.Context()); err == nil {
					t.Errorf("%s, %s: %v US dollars per sat", name, provider, v)
				}
			})
		}
		all.Wait()
		s.CloseClientConnections()
		if name == "silence" {
			close(stop)
		}
		s.Close()
	}
}

func TestOddPrices(t *testing.T) {
	for _, body := range []string{
		`"-1"`, `"0"`, `"-0"`, `"NaN"`, `"Infinity"`, `"0x1p4"`, `"1_000"`, `" 1"`, `"1e999"`, `"1e-999"`, `"1e5000000000"`, `""`, `null`, `true`, `{}`, `[]`, `"1e30"`,
		`"` + strings.Repeat("9", 4000) + `"`, `"1.5.2"`, `"٣"`, `-3`, `1e400`, `"0.000000000000000000000001"`,
	} {
		s := binance(Options{Client: &http.Client{Transport: roundTrip(func(*http.Request) string { return `{"price":` + body + `}` })}})
		for _, ticker := range []string{"SOL", "USDC"} { // straight and inverted
			p, err := s.Price(t.Context(), tokens.Token{Ticker: ticker})
			if err == nil {
				t.Errorf("%s of %.30s: price %s", ticker, body, p)
			}
		}
	}
}

type roundTrip func(*http.Request) string

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: 200, Body: io.NopCloser(strings.NewReader(f(r))), ContentLength: -1, Request: r}, nil
}

func TestOwnSymbolsAndFixedPrices(t *testing.T) {
	var asked string
	s := okx(Options{
		Symbols: map[string]string{"NEW": "NEW-BTC", "SOL": "", "HALF": "$fixed-50000000", "BAD": "$fixed-x", "NONE": "$fixed-0"},
		Client: &http.Client{Transport: roundTrip(func(r *http.Request) string {
			asked = r.URL.String()
			return `{"data":[{"idxPx":0.5}]}`
		})},
	})
	if p, err := s.Price(t.Context(), tokens.Token{Ticker: "NEW"}); err != nil || p.String() != "50000000000000" || !strings.HasSuffix(asked, "instId=NEW-BTC") {
		t.Errorf("%v, %v from %s", p, err, asked)
	}
	if p, err := s.Price(t.Context(), tokens.Token{Ticker: "HALF"}); err != nil || p.String() != "50000000000000" {
		t.Errorf("%v, %v", p, err)
	}
	for _, ticker := range []string{"SOL", "BAD", "NONE", "OTHER"} {
		if p, err := s.Price(t.Context(), tokens.Token{Ticker: ticker}); err == nil {
			t.Errorf("%s: %s", ticker, p)
		}
	}
	f := Fixed{Prices: map[string]*big.Int{"A-B": big.NewInt(3), "A-Z": new(big.Int)}, USD: 0.001}
	if p, err := f.Price(t.Context(), tokens.Token{Chain: "A", Ticker: "B"}); err != nil || p.Int64() != 3 {
		t.Errorf("%v, %v", p, err)
	}
	for _, ticker := range []string{"Z", "C"} {
		if p, err := f.Price(t.Context(), tokens.Token{Chain: "A", Ticker: ticker}); err == nil {
			t.Errorf("%s: %s", ticker, p)
		}
	}
}

// FuzzAnswer: no body makes a service panic or give a price that cannot be.
func FuzzAnswer(f *testing.F) {
	for _, c := range vectors.Load(f, "swap-flows-spv-and-core", "price_providers").Cases {
		var in struct {
			HTTP map[string]struct{ Body string }
		}
		c.Input(f, &in)
		for _, a := range in.HTTP {
			f.Add(a.Body)
		}
	}
	f.Fuzz(func(t *testing.T, body string) {
		o := Options{Client: &http.Client{Transport: roundTrip(func(*http.Request) string { return body })}}
		for name, make := range services {
			s := make(o)
			for _, ticker := range []string{"SOL", "BONK", "USDC"} {
				p, err := s.Price(context.Background(), tokens.Token{Ticker: ticker})
				if (err == nil) != (p != nil && sane(p) == nil) {
					t.Errorf("%s: price %v, %v", name, p, err)
				}
			}
			if v, err := s.USDPerSat(context.Background()); (err == nil) != (saneUSD(v) == nil) && v != 0 {
				t.Errorf("%s: %v US dollars, %v", name, v, err)
			}
		}
	})
}
