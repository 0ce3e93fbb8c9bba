package verify

import (
	"errors"
	"math/big"
	"testing"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/tokens"
)

// What we ask for: caps on routing, the watchtower's share, gas.
func TestLimitsOfRequests(t *testing.T) {
	if units, err := MaxRoutingUnits(n(10_000), 5, 3000, whole, 8); err != nil || units.Int64() != 35 {
		t.Errorf("%v, %v", units, err)
	}
	if _, err := MaxRoutingUnits(n(10_000), 5, 3000, n(0), 8); err == nil {
		t.Error("a cap at a price of nothing")
	}

	sats := Payout{ExactIn: true, NativeDecimals: 8, NativePrice: whole} // a base unit of gas is a sat
	bought := Payout{Decimals: 8, Price: whole, NativeDecimals: 8, NativePrice: whole}
	native := Payout{TokenIsNative: true}
	with := func(p Payout, amount int64) Payout { p.Amount = n(amount); return p }
	for name, x := range map[string]struct {
		fee   int64
		of    Payout
		share int64 // -1: too little, -2: another error
	}{
		"nothing":                   {5, with(sats, 0), 0},
		"free":                      {0, with(sats, 100), 0},
		"free, and nothing":         {0, with(bought, 0), 0},
		"free, no price":            {0, with(Payout{Decimals: 8}, 100), 0},
		"half":                      {50, with(sats, 100), 100_000},
		"rounded up":                {1, with(bought, 300_000), 1},
		"exactly one":               {3, with(bought, 300_000), 1},
		"more than one":             {4, with(bought, 300_000), 2},
		"of the native token":       {1, with(native, 100), 1000},
		"all but one":               {99, with(sats, 100), maxShare},
		"all":                       {100, with(sats, 100), -1},
		"more than all":             {101, with(sats, 100), -1},
		"the most that fits":        {1_048_575, with(bought, 100_000), maxShare},
		"more than fits":            {1_048_577, with(bought, 100_000), maxShare},
		"worth less than a unit":    {1, with(Payout{NativePrice: n(1e12), Decimals: 8, Price: whole}, 1), -1},
		"no price":                  {1, with(Payout{Decimals: 8, NativeDecimals: 8, NativePrice: whole}, 100), -2},
		"no price of native tokens": {1, with(Payout{ExactIn: true}, 100), -2},
	} {
		share, err := CallerShare(n(x.fee), x.of)
		switch {
		case x.share >= 0 && (err != nil || int64(share) != x.share),
			x.share == -1 && (!errors.Is(err, ErrTooLittle) || share != 0), // settled by its owner
			x.share == -2 && (err == nil || errors.Is(err, ErrTooLittle)):
			t.Errorf("%s: %d, %v", name, share, err)
		}
	}

	info := chains.Info{Native: gasCoin}
	for name, x := range map[string]struct {
		dropNative bool
		bought     tokens.Token
		gas        *big.Int
		ok         bool
	}{
		"none": {false, gasCoin, nil, true}, "zero": {false, gasCoin, n(0), true}, "negative": {false, coin, n(-1), false},
		"of another token": {false, coin, n(1), true}, "of itself": {false, gasCoin, n(1), false}, "of itself, possible": {true, gasCoin, n(1), true},
	} {
		info.GasDropNative = x.dropNative
		err := CheckGasDrop(info, x.bought, x.gas)
		if e, _ := errors.AsType[*fault.Error](err); (err == nil) != x.ok || err != nil && (e == nil || e.Field != "gasAmount" || e.Code != fault.InvalidInput) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
