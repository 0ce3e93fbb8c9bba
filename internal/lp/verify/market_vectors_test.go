package verify

import (
	"errors"
	"math/big"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/swapper-go/swapper/internal/flowtest"
	"github.com/swapper-go/swapper/internal/trial"
	"github.com/swapper-go/swapper/internal/vectors"
)

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
	return flowtest.Number(t, *s)
}

// sameTenth compares what the reference says when tokens are bought: a tenth of
// the difference, and its verdict on that.
func sameTenth(t *testing.T, says checked, ppm string, tolerance int64) {
	t.Helper()
	tenth := new(big.Int).Quo(flowtest.Number(t, ppm), big.NewInt(10))
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
			FromBtc, ToBtcOfFromBtc string
			Send, Receive           checked
		}
		c.Expected(t, &want)
		q := PriceQuote{Sats: flowtest.Number(t, in.Sats), Units: flowtest.Number(t, in.TokenAmount), FeeSats: optional(t, in.SwapFeeSats), BaseFee: flowtest.Number(t, in.SatsBaseFee),
			FeePPM: flowtest.Number(t, in.FeePPM), Decimals: in.Decimals, Price: flowtest.Number(t, in.PriceUSatPerToken)}
		from, err := FromBitcoin(q.Sats, q.Price, q.Decimals)
		if err != nil || from.String() != want.FromBtc {
			t.Errorf("FromBitcoin %v, %v; want %s", from, err, want.FromBtc)
		}
		if to, err := ToBitcoin(from, q.Price, q.Decimals); err != nil || to.String() != want.ToBtcOfFromBtc {
			t.Errorf("ToBitcoin %v, %v; want %s", to, err, want.ToBtcOfFromBtc)
		}
		tolerance := flowtest.Number(t, in.MaxPriceDifferencePPM).Int64()
		for name, side := range map[string]struct {
			send bool
			want checked
		}{"send": {true, want.Send}, "receive": {false, want.Receive}} {
			r, err := comparePrice(q, side.send)
			if err != nil {
				t.Errorf("%s: %v", name, err)
				continue
			}
			ppm := side.want.DifferencePPM
			if side.want.DifferencePPMCorrect != nil {
				c.Differ(t, "price-receive-ppm")
				ppm = *side.want.DifferencePPMCorrect
				sameTenth(t, side.want, ppm, tolerance)
				side.want.IsValid = flowtest.Number(t, ppm).Int64() <= tolerance
			}
			got := checked{IsValid: r.Within(tolerance), DifferencePPM: r.DifferencePPM.String(), Real: r.Market.String(), Swap: r.Quoted.String()}
			if diff := cmp.Diff(checked{IsValid: side.want.IsValid, DifferencePPM: ppm, Real: side.want.Real, Swap: side.want.Swap}, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", name, diff)
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
		p := flowtest.Number(t, in.PriceUSatPerToken)
		from := trial.Must(FromBitcoin(flowtest.Number(t, in.Sats), p, in.Decimals))(t)
		to := trial.Must(ToBitcoin(flowtest.Number(t, in.Token), p, in.Decimals))(t)
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
		q := PriceQuote{Sats: flowtest.Number(t, in.AmountSats), Units: flowtest.Number(t, in.AmountToken), FeeSats: optional(t, in.RealSwapFeeSats), BaseFee: flowtest.Number(t, in.SatsBaseFee),
			FeePPM: flowtest.Number(t, in.FeePPM), Decimals: -2, Price: flowtest.Number(t, in.PriceUSatPerToken)}
		if in.Decimals != nil {
			q.Decimals = *in.Decimals
		}
		tolerance := flowtest.Number(t, in.MaxAllowedFeeDifferencePPM).Int64()
		send := in.Direction == "send"
		r, err := comparePrice(q, send)
		switch {
		case q.Decimals == unpriced && want.Error && errors.Is(err, errQuote):
			return // whatever the price, its numbers make no sense
		case q.Decimals == unpriced && want.Error:
			c.Differ(t, "price-unpriced")
			if err != nil || !r.Within(tolerance) || r.Market != nil {
				t.Errorf("a token without price: %+v, %v", r, err)
			}
			return
		case (q.Units.Sign() <= 0 || q.Sats.Sign() <= 0) && !want.Error:
			c.Differ(t, "price-negative")
			if !errors.Is(err, errQuote) {
				t.Errorf("accepted: %+v, %v", r, err)
			}
			return
		case !want.Error && strings.HasPrefix(want.Swap, "-"):
			// The fees exceed the amount: the reference computes with negative sats, and finds the price bad.
			c.Differ(t, "price-negative")
			if !errors.Is(err, errQuote) || want.IsValid {
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
