package single_test

import (
	"context"
	"errors"
	"math"
	"testing"

	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/internal/btc/single"
)

type rateTeller struct {
	rates bitcoin.FeeRates
	err   error
}

func (r rateTeller) FeeRates(context.Context) (bitcoin.FeeRates, error) { return r.rates, r.err }

// Rates of any backend, also of one that is not ours, are numbers that can be.
func TestFeeRates(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	for _, c := range []struct {
		fastest, minimum float64
		ok               bool
	}{
		{0, 0, true}, {0.5, 1, true}, {20, 1, true}, {bitcoin.HighestFeeRate, bitcoin.HighestFeeRate, true},
		{bitcoin.HighestFeeRate + 0.1, 1, false}, {1, bitcoin.HighestFeeRate + 0.1, false}, {-0.1, 1, false}, {1, -0.1, false},
		{nan, 1, false}, {1, nan, false}, {inf, 1, false}, {1, inf, false}, {-inf, 1, false}, {1, -inf, false},
	} {
		want := bitcoin.FeeRates{Fastest: c.fastest, Minimum: c.minimum}
		got, err := single.FeeRates(t.Context(), rateTeller{rates: want})
		if c.ok && (err != nil || got != want) || !c.ok && (fault.CodeOf(err) != fault.Upstream || got != bitcoin.FeeRates{}) {
			t.Errorf("%+v: %+v, %v", want, got, err)
		}
	}
	away := errors.New("away")
	if _, err := single.FeeRates(t.Context(), rateTeller{err: away}); !errors.Is(err, away) {
		t.Errorf("%v", err)
	}
}
