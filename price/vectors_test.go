package price

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/big"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/swapper-go/swapper/internal/httpx"
	"github.com/swapper-go/swapper/internal/vectors"
	"github.com/swapper-go/swapper/tokens"
)

func integer(t testing.TB, s string) *big.Int {
	t.Helper()
	v, ok := new(big.Int).SetString(s, 10)
	if !ok {
		t.Fatalf("%q is no integer", s)
	}
	return v
}

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

var services = map[string]func(Options) Source{
	"binance": Binance, "okx": OKX, "coingecko": CoinGecko, "coinpaprika": CoinPaprika, "kraken": Kraken,
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
			if want.RequestError != statusAnswer(err) {
				t.Errorf("error %v: HTTP status %v, want %v", err, statusAnswer(err), want.RequestError)
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

// scripted is a source whose answers stand in a list, the last one for ever. It
// answers after its place in the order, so that the first one wins a race.
type scripted struct {
	place  int
	script []string
	calls  int
	mu     *sync.Mutex
	log    *[]map[string]any
}

func (s *scripted) Name() string                               { return fmt.Sprint("source ", s.place) }
func (s *scripted) USDPerSat(context.Context) (float64, error) { return 0, errors.New("not scripted") }
func (s *scripted) Price(ctx context.Context, _ tokens.Token) (*big.Int, error) {
	outcome := s.script[min(s.calls, len(s.script)-1)]
	s.calls++
	time.Sleep(time.Duration(s.place) * time.Millisecond)
	s.mu.Lock()
	defer s.mu.Unlock()
	*s.log = append(*s.log, map[string]any{"provider": s.place, "outcome": outcome})
	switch outcome {
	case "ok":
		return big.NewInt(1000 + int64(s.place)), nil
	case "request":
		return nil, &httpx.StatusError{Status: 500}
	}
	return nil, errors.New("other")
}

func TestVectorsPriceRedundancy(t *testing.T) {
	vectors.Each(t, "swap-flows-spv-and-core", "price_redundancy", func(t *testing.T, c *vectors.Case) {
		var in struct {
			Providers int
			Script    [][]string
		}
		c.Input(t, &in)
		var want struct{ Calls []map[string]any }
		c.Expected(t, &want)
		var got []map[string]any
		synctest.Test(t, func(t *testing.T) {
			var log []map[string]any
			var mu sync.Mutex
			var sources []Source
			for i := range in.Providers {
				sources = append(sources, &scripted{place: i, script: in.Script[i], mu: &mu, log: &log})
			}
			r := NewRedundant(sources...)
			for range want.Calls {
				mu.Lock()
				log = nil
				mu.Unlock()
				p, err := r.Price(t.Context(), tokens.Token{Chain: "X", Ticker: "Y"})
				time.Sleep(time.Second) // the stragglers
				synctest.Wait()
				mu.Lock()
				seen := log
				mu.Unlock()
				result := map[string]any{"error": true, "requestError": statusAnswer(err)}
				if err == nil {
					result = map[string]any{"price": p.String()}
				}
				flags := []any{}
				for _, h := range r.up {
					flags = append(flags, map[health]any{unknown: nil, up: true, down: false}[h])
				}
				got = append(got, map[string]any{"result": result, "calls": seen, "operational": flags})
			}
			time.Sleep(time.Minute) // timers end with the bubble
		})
		vectors.SameJSON(t, c.Want(t), map[string]any{"calls": got})
	})
}

type checked struct {
	IsValid              bool    `json:"isValid"`
	DifferencePPM        string  `json:"differencePPM"`
	Real                 string  `json:"realPriceUSatPerToken"`
	Swap                 string  `json:"swapPriceUSatPerToken"`
	DifferencePPMCorrect *string `json:"differencePPMCorrect"`
	Error                bool    `json:"error"`
}

func optional(t *testing.T, s *string) *big.Int {
	if s == nil {
		return nil
	}
	return integer(t, *s)
}

// sameTenth compares what the reference says when tokens are bought: a tenth of
// the difference, and its verdict on that.
func sameTenth(t *testing.T, says checked, ppm string, tolerance int64) {
	t.Helper()
	tenth := new(big.Int).Quo(integer(t, ppm), big.NewInt(10))
	if says.DifferencePPM != tenth.String() || says.IsValid != (tenth.Cmp(big.NewInt(tolerance)) <= 0) {
		t.Errorf("the reference says %+v of a difference of %s ppm", says, ppm)
	}
}

func TestVectorsPriceArithmetic(t *testing.T) {
	vectors.Each(t, "swap-flows-spv-and-core", "price_arithmetic", func(t *testing.T, c *vectors.Case) {
		var in struct {
			Decimals                                                  int
			PriceUSatPerToken, Sats, SatsBaseFee, FeePPM, TokenAmount string
			SwapFeeSats                                               *string
			MaxPriceDifferencePPM                                     string
		}
		c.Input(t, &in)
		var want struct {
			FromBtc, ToBtcOfFromBtc                        string
			Send, Receive, RecomputeSend, RecomputeReceive checked
		}
		c.Expected(t, &want)
		q := Quote{Sats: integer(t, in.Sats), Units: integer(t, in.TokenAmount), FeeSats: optional(t, in.SwapFeeSats), BaseFee: integer(t, in.SatsBaseFee),
			FeePPM: integer(t, in.FeePPM), Decimals: in.Decimals, Price: integer(t, in.PriceUSatPerToken)}
		from, err := FromBitcoin(q.Sats, q.Price, q.Decimals)
		if err != nil || from.String() != want.FromBtc {
			t.Errorf("FromBitcoin %v, %v; want %s", from, err, want.FromBtc)
		}
		if to, err := ToBitcoin(from, q.Price, q.Decimals); err != nil || to.String() != want.ToBtcOfFromBtc {
			t.Errorf("ToBitcoin %v, %v; want %s", to, err, want.ToBtcOfFromBtc)
		}
		tolerance := integer(t, in.MaxPriceDifferencePPM).Int64()
		for name, side := range map[string]struct {
			send bool
			want checked
		}{"send": {true, want.Send}, "receive": {false, want.Receive}} {
			r, err := check(q, side.send)
			if err != nil {
				t.Errorf("%s: %v", name, err)
				continue
			}
			ppm := side.want.DifferencePPM
			if side.want.DifferencePPMCorrect != nil {
				c.Differ(t, "price-receive-ppm")
				ppm = *side.want.DifferencePPMCorrect
				sameTenth(t, side.want, ppm, tolerance)
				side.want.IsValid = integer(t, ppm).Int64() <= tolerance
			}
			got := checked{IsValid: r.Within(tolerance), DifferencePPM: r.DifferencePPM.String(), Real: r.Market.String(), Swap: r.Quoted.String()}
			if diff := cmp.Diff(checked{IsValid: side.want.IsValid, DifferencePPM: ppm, Real: side.want.Real, Swap: side.want.Swap}, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", name, diff)
			}
		}
		q.FeeSats, q.Price = nil, nil // as shown for a swap whose market price is not known: from the announced fees
		for name, side := range map[string]struct {
			send bool
			want checked
		}{"recompute send": {true, want.RecomputeSend}, "recompute receive": {false, want.RecomputeReceive}} {
			p, err := q.Quoted(side.send)
			if err != nil {
				t.Errorf("%s: %v", name, err)
				continue
			}
			// Without a market the quoted price is its own measure.
			if got := (checked{IsValid: true, DifferencePPM: "0", Real: p.String(), Swap: p.String()}); got != side.want {
				t.Errorf("%s: %+v, want %+v", name, got, side.want)
			}
		}
	})
}

func TestVectorsConvertClient(t *testing.T) {
	vectors.Each(t, "lp-protocol", "convert-client", func(t *testing.T, c *vectors.Case) {
		var in struct {
			Sats, Token, PriceUSatPerToken string
			Decimals                       int
		}
		c.Input(t, &in)
		answer := map[string]string{}
		p := integer(t, in.PriceUSatPerToken)
		from, err := FromBitcoin(integer(t, in.Sats), p, in.Decimals)
		if err != nil {
			t.Fatal(err)
		}
		to, err := ToBitcoin(integer(t, in.Token), p, in.Decimals)
		if err != nil {
			t.Fatal(err)
		}
		answer["fromBtc"], answer["toBtc"] = from.String(), to.String()
		vectors.SameJSON(t, c.Want(t), answer)
	})
}

func TestVectorsPriceCheck(t *testing.T) {
	vectors.Each(t, "lp-protocol", "price-check", func(t *testing.T, c *vectors.Case) {
		var in struct {
			Direction, AmountSats, SatsBaseFee, FeePPM, AmountToken string
			Decimals                                                *int
			PriceUSatPerToken, MaxAllowedFeeDifferencePPM           string
			RealSwapFeeSats                                         *string
		}
		c.Input(t, &in)
		var want checked
		c.Expected(t, &want)
		var through struct{ SatsBaseFee, FeePPM *string }
		if c.Expected(t, &through); !want.Error && (through.SatsBaseFee == nil || *through.SatsBaseFee != in.SatsBaseFee || through.FeePPM == nil || *through.FeePPM != in.FeePPM) {
			t.Errorf("the reference hands %+v through, want %s and %s", through, in.SatsBaseFee, in.FeePPM)
		}
		q := Quote{Sats: integer(t, in.AmountSats), Units: integer(t, in.AmountToken), FeeSats: optional(t, in.RealSwapFeeSats), BaseFee: integer(t, in.SatsBaseFee),
			FeePPM: integer(t, in.FeePPM), Decimals: -2, Price: integer(t, in.PriceUSatPerToken)}
		if in.Decimals != nil {
			q.Decimals = *in.Decimals
		}
		tolerance := integer(t, in.MaxAllowedFeeDifferencePPM).Int64()
		send := in.Direction == "send"
		r, err := check(q, send)
		switch {
		case q.Decimals == unpriced && want.Error && errors.Is(err, ErrQuote):
			return // whatever the price, its numbers make no sense
		case q.Decimals == unpriced && want.Error:
			c.Differ(t, "price-unpriced")
			if err != nil || !r.Within(tolerance) || r.Market != nil {
				t.Errorf("a token without price: %+v, %v", r, err)
			}
			return
		case (q.Units.Sign() <= 0 || q.Sats.Sign() <= 0) && !want.Error:
			c.Differ(t, "price-negative")
			if !errors.Is(err, ErrQuote) {
				t.Errorf("accepted: %+v, %v", r, err)
			}
			return
		case !want.Error && strings.HasPrefix(want.Swap, "-"):
			// The fees exceed the amount: the reference computes with negative sats, and finds the price bad.
			c.Differ(t, "price-negative")
			if !errors.Is(err, ErrQuote) || want.IsValid {
				t.Errorf("accepted: %+v, %v", r, err)
			}
			return
		}
		if (err != nil) != want.Error {
			t.Fatalf("error %v, want one: %v", err, want.Error)
		}
		if err != nil {
			return
		}
		if !send {
			c.Differ(t, "price-receive-ppm")
			sameTenth(t, want, r.DifferencePPM.String(), tolerance)
			want.DifferencePPM = r.DifferencePPM.String()
			want.IsValid = want.IsValid && r.DifferencePPM.Int64() <= tolerance
		}
		got := checked{IsValid: r.Within(tolerance), DifferencePPM: r.DifferencePPM.String(), Real: r.Market.String(), Swap: r.Quoted.String()}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
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
