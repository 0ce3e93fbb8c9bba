package verify

import (
	"errors"
	"math/big"
	"testing"
)

// A quote that is worse for a seller is better for a buyer.
func TestEachSideHasItsOwnDirection(t *testing.T) {
	n := big.NewInt
	q := PriceQuote{Sats: n(1e8), Units: n(1.1e8), FeeSats: n(0), Decimals: 8, Price: n(1e14)}
	if r, err := sendPrice(q); err != nil || r.DifferencePPM.Int64() != 100_000 {
		t.Errorf("sold: %v, %v, want 100000", r.DifferencePPM, err)
	}
	if r, err := ReceivePrice(q); err != nil || r.DifferencePPM.Int64() != -100_000 {
		t.Errorf("bought: %v, %v, want -100000", r.DifferencePPM, err)
	}
}

// No fee makes up for an amount that is missing, and no fee may take all of it,
// even if the token has no price to compare with.
func TestAmountsAreCheckedWithoutAPrice(t *testing.T) {
	n := big.NewInt
	for name, q := range map[string]PriceQuote{
		"zero bitcoin with a fee":        {Sats: n(0), Units: n(1000), FeeSats: n(10), Decimals: 8, Price: n(1e14)},
		"negative bitcoin with a fee":    {Sats: n(-5), Units: n(1000), FeeSats: n(10), Decimals: 8, Price: n(1e14)},
		"zero bitcoin, unpriced":         {Sats: n(0), Units: n(1000), FeeSats: n(10), Decimals: unpriced},
		"zero tokens, unpriced":          {Sats: n(1000), Units: n(0), FeeSats: n(10), Decimals: unpriced},
		"negative tokens, unpriced":      {Sats: n(1000), Units: n(-1), FeeSats: n(10), Decimals: unpriced},
		"negative fee, unpriced":         {Sats: n(1000), Units: n(1000), FeeSats: n(-1), Decimals: unpriced},
		"negative base fee, unpriced":    {Sats: n(1000), Units: n(1000), BaseFee: n(-1), Decimals: unpriced},
		"negative fee per part unpriced": {Sats: n(1000), Units: n(1000), FeePPM: n(-1), Decimals: unpriced},
	} {
		if r, err := sendPrice(q); !errors.Is(err, errQuote) {
			t.Errorf("%s: %+v, %v", name, r, err)
		}
	}
	all := PriceQuote{Sats: n(1000), Units: n(1000), FeeSats: n(1000), Decimals: unpriced}
	if r, err := ReceivePrice(all); !errors.Is(err, errQuote) {
		t.Errorf("a fee of everything: %+v, %v", r, err)
	}
	most := all
	most.FeeSats = n(999)
	if r, err := ReceivePrice(most); err != nil || r.DifferencePPM != nil || !r.Within(0) {
		t.Errorf("a token without a price: %+v, %v", r, err)
	}
}

func TestConversionLimits(t *testing.T) {
	n := big.NewInt
	for name, convert := range map[string]func(v, price *big.Int, decimals int) (*big.Int, error){
		"from bitcoin": FromBitcoin, "from bitcoin, up": FromBitcoinUp, "to bitcoin": ToBitcoin,
	} {
		for _, decimals := range []int{-2, -1, maxDecimals + 1} {
			if v, err := convert(n(1), n(1), decimals); err == nil {
				t.Errorf("%s: %s at %d decimals", name, v, decimals)
			}
		}
		if v, err := convert(nil, n(1), 8); err == nil {
			t.Errorf("%s: %s of nothing", name, v)
		}
		if _, err := convert(n(1), n(1), maxDecimals); err != nil {
			t.Errorf("%s, the most decimals: %v", name, err)
		}
	}
	for _, c := range []struct{ sats, price, down, up int64 }{
		{0, 3, 0, 0},
		{3, 3_000_000, 1, 1}, // exact: nothing is added
		{4, 3_000_000, 1, 2},
		{1, 3_000_000, 0, 1},
	} {
		down, err := FromBitcoin(n(c.sats), n(c.price), 0)
		if err != nil || down.Int64() != c.down {
			t.Errorf("%d sats at %d: %v, %v, want %d", c.sats, c.price, down, err, c.down)
		}
		up, err := FromBitcoinUp(n(c.sats), n(c.price), 0)
		if err != nil || up.Int64() != c.up {
			t.Errorf("%d sats at %d, rounded up: %v, %v, want %d", c.sats, c.price, up, err, c.up)
		}
	}
}
