package verify

import (
	"math/big"
	"testing"

	"pgregory.net/rapid"
)

func TestGuards(t *testing.T) {
	n := big.NewInt
	good := PriceQuote{Sats: n(1000), Units: n(1000), Decimals: 8, Price: n(1e14)}
	if r, err := sendPrice(good); err != nil || !r.Within(0) || r.DifferencePPM.Sign() != 0 {
		t.Fatalf("%+v, %v", r, err)
	}
	for name, spoil := range map[string]func(*PriceQuote){
		"no bitcoin":                  func(q *PriceQuote) { q.Sats = nil },
		"zero bitcoin":                func(q *PriceQuote) { q.Sats = n(0) },
		"negative bitcoin":            func(q *PriceQuote) { q.Sats = n(-1) },
		"no tokens":                   func(q *PriceQuote) { q.Units = nil },
		"zero tokens":                 func(q *PriceQuote) { q.Units = n(0) },
		"negative tokens":             func(q *PriceQuote) { q.Units = n(-1) },
		"negative fee":                func(q *PriceQuote) { q.FeeSats = n(-1) },
		"negative announced base":     func(q *PriceQuote) { q.BaseFee = n(-1) },
		"negative announced ppm":      func(q *PriceQuote) { q.FeePPM = n(-1) },
		"no price":                    func(q *PriceQuote) { q.Price = nil },
		"zero price":                  func(q *PriceQuote) { q.Price = n(0) },
		"negative price":              func(q *PriceQuote) { q.Price = n(-1) },
		"worth less than a base unit": func(q *PriceQuote) { q.Decimals, q.Price = 0, n(1e14) },
		"decimals unknown":            func(q *PriceQuote) { q.Decimals = -2 },
		"absurd decimals":             func(q *PriceQuote) { q.Decimals = 1 << 30 },
	} {
		q := good
		spoil(&q)
		for side, check := range map[string]func(PriceQuote) (PriceResult, error){"send": sendPrice, "receive": ReceivePrice} {
			if r, err := check(q); err == nil {
				t.Errorf("%s, %s: %+v", name, side, r)
			}
		}
	}
	for name, spoil := range map[string]func(*PriceQuote){
		"fee as large as the amount": func(q *PriceQuote) { q.FeeSats = n(1000) },
		"announced fee eats all":     func(q *PriceQuote) { q.BaseFee = n(1000) },
		"announced rate eats all":    func(q *PriceQuote) { q.FeePPM = n(1_000_000) },
	} {
		q := good
		spoil(&q)
		if r, err := ReceivePrice(q); err == nil {
			t.Errorf("%s: %+v", name, r)
		}
	}
}

// Whoever buys or sells at 1 % less than the market passes a limit of 1 %, and no
// further (the reference lets 10 % pass when tokens are bought).
func TestToleranceIsTheSameBothWays(t *testing.T) {
	n := big.NewInt
	q := PriceQuote{Sats: n(1e8), FeeSats: n(0), Decimals: 8, Price: n(1e14)}
	for _, c := range []struct {
		units int64
		send  bool
		ok    bool
	}{
		{1.01e8, true, true}, {1.01e8 + 100, true, false}, {0.5e8, true, true},
		{0.99e8, false, true}, {0.99e8 - 100, false, false}, {0.91e8, false, false}, {2e8, false, true},
	} {
		q.Units = n(c.units)
		r, err := comparePrice(q, c.send)
		if err != nil || r.Within(DefaultTolerancePPM) != c.ok {
			t.Errorf("%d, send %v: %v, %v", c.units, c.send, r.DifferencePPM, err)
		}
	}
}

func TestConversions(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		sats := big.NewInt(rapid.Int64Range(0, 21e14).Draw(t, "sats"))
		price := big.NewInt(rapid.Int64Range(1, 1e18).Draw(t, "price"))
		decimals := rapid.IntRange(0, 30).Draw(t, "decimals")
		down, err := FromBitcoin(sats, price, decimals)
		if err != nil {
			t.Fatal(err)
		}
		up, err := FromBitcoinUp(sats, price, decimals)
		if err != nil {
			t.Fatal(err)
		}
		if d := new(big.Int).Sub(up, down); d.Sign() < 0 || d.Cmp(big.NewInt(1)) > 0 {
			t.Fatalf("down %s, up %s", down, up)
		}
		back, err := ToBitcoin(down, price, decimals)
		if err != nil || back.Cmp(sats) > 0 {
			t.Fatalf("%s sats there, %s back, %v", sats, back, err)
		}
	})
	for _, price := range []*big.Int{nil, new(big.Int), big.NewInt(-1)} {
		if v, err := FromBitcoin(big.NewInt(1), price, 8); err == nil {
			t.Errorf("%v: %s", price, v)
		}
		if v, err := ToBitcoin(big.NewInt(1), price, 8); err == nil {
			t.Errorf("%v: %s", price, v)
		}
	}
}

func BenchmarkCheck(b *testing.B) {
	q := PriceQuote{Sats: big.NewInt(74572890), Units: big.NewInt(80626321834), BaseFee: big.NewInt(146), FeePPM: big.NewInt(7645), Decimals: 6, Price: big.NewInt(914657827)}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := ReceivePrice(q); err != nil {
			b.Fatal(err)
		}
	}
}
