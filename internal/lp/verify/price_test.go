package verify

import (
	"errors"
	"math/big"
	"strings"
	"testing"

	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/internal/bigs"
	"github.com/swapper-go/swapper/internal/lp"
)

// How a refusal ends: who has to do something about it.
const (
	accepted = "accepted"
	tooSmall = "too small" // the caller's amount
	liar     = "lie"       // the LP is punished
	spared   = "doubt"     // the LP's answer, without blame
	unknown  = "unknown"   // what we did not find out
)

func outcome(err error) string {
	e, blamed := errors.AsType[*lp.LPError](err)
	switch {
	case err == nil:
		return accepted
	case fault.CodeOf(err) == fault.InvalidInput:
		return tooSmall
	case !blamed:
		return unknown
	case !lp.Punishable(e):
		return spared
	}
	return liar
}

// The price of a quote, at each of its limits and one beyond. A base unit is worth
// a sat where nothing else is said, so 1 % of 1000 sats are 10 units.
func TestPriceLimits(t *testing.T) {
	sat := big.NewInt(1_000_000) // micro-sats
	tests := []struct {
		name             string
		send             bool
		sats, units, fee int64
		unit             *big.Int
		decimals         int
		market           *big.Int
		want             string
	}{
		{"buy: 1 %", false, 1000, 990, 0, nil, 8, whole, accepted},
		{"buy: 1 % of 998 sats, rounded twice", false, 1000, 989, 0, nil, 8, whole, accepted},
		{"buy: the first that rounding explains", false, 1000, 988, 0, nil, 8, whole, tooSmall},
		{"buy: the last that rounding explains", false, 1000, 983, 0, nil, 8, whole, tooSmall},
		{"buy: more than rounding explains", false, 1000, 982, 0, nil, 8, whole, liar},
		{"buy: the last that a vault's unit explains", false, 1000, 978, 0, n(5), 8, whole, tooSmall},
		{"buy: more than a vault's unit explains", false, 1000, 977, 0, n(5), 8, whole, liar},
		{"buy: the fee is taken off", false, 1000, 891, 100, nil, 8, whole, accepted},
		{"buy: the fee is taken off once", false, 1000, 870, 100, nil, 8, whole, liar},
		{"buy: two sats beside the fee", false, 102, 0, 100, nil, 18, whole, tooSmall},
		{"buy: three sats beside the fee", false, 103, 0, 100, nil, 18, whole, liar},
		{"buy: three units for nothing", false, 3, 0, 0, nil, 8, whole, tooSmall},
		{"buy: four units for nothing", false, 4, 0, 0, nil, 8, whole, liar},
		{"buy: nothing at all", false, 1000, 0, 0, nil, 8, whole, liar},
		{"buy: the fee eats all", false, 1000, 5, 1000, nil, 8, whole, tooSmall},
		{"buy: the fee eats more than all", false, 1000, 5, 5000, nil, 8, whole, tooSmall},

		{"sell: 1 %", true, 1000, 1010, 0, nil, 8, whole, accepted},
		{"sell: 1 % of 1002 sats, rounded twice", true, 1000, 1012, 0, nil, 8, whole, accepted},
		{"sell: the first that rounding explains", true, 1000, 1013, 0, nil, 8, whole, tooSmall},
		{"sell: the last that rounding explains", true, 1000, 1018, 0, nil, 8, whole, tooSmall},
		{"sell: more than rounding explains", true, 1000, 1019, 0, nil, 8, whole, liar},
		{"sell: the fee is added", true, 1000, 1111, 100, nil, 8, whole, accepted},
		{"sell: the fee is added once", true, 1000, 1200, 100, nil, 8, whole, liar},
		{"sell: two sats are no excuse", true, 2, 1e12, 0, nil, 18, whole, liar},
		{"sell: less than a unit, three units", true, 500, 3, 0, nil, 0, n(1e9), tooSmall},
		{"sell: less than a unit, four units", true, 500, 4, 0, nil, 0, n(1e9), liar},
		{"sell: less than a unit, which two sats make up for", true, 1, 1, 0, nil, 0, n(3e6), tooSmall},

		{"decimals 0, 1 %", false, 1000, 990, 0, nil, 0, sat, accepted},
		{"decimals 0, beyond", false, 1000, 982, 0, nil, 0, sat, liar},
		{"not priced", false, 1000, 1, 0, nil, -1, nil, accepted},
		{"not priced, two sats", false, 2, 1, 0, nil, -1, nil, accepted},
		{"not priced, nothing for it", false, 1000, 0, 0, nil, -1, nil, tooSmall}, // what a unit is worth is not known
		{"not priced, nothing for it, a price beside", false, 1000, 0, 0, nil, -1, whole, tooSmall},
		{"no price", false, 1000, 1000, 0, nil, 8, nil, unknown},
		{"no price, two sats", false, 2, 1, 0, nil, 8, nil, unknown},
		{"no price, decimals 0", false, 1000, 1000, 0, nil, 0, nil, unknown},
		{"a price of nothing", false, 1000, 1000, 0, nil, 8, n(0), unknown},
		{"a price of nothing, for nothing", false, 1000, 0, 0, nil, 8, n(0), liar},
	}
	for _, x := range tests {
		t.Run(x.name, func(t *testing.T) {
			r, err := Agreed{}.fairButRounded(lp.CheckPrice, x.send, PriceQuote{Sats: n(x.sats), Units: n(x.units), FeeSats: n(x.fee), Decimals: x.decimals, Price: x.market}, x.unit)
			if got := outcome(err); got != x.want {
				t.Errorf("%s: %v; want %s", got, err, x.want)
			}
			if err == nil && (r.DifferencePPM == nil) != (x.decimals < 0) {
				t.Errorf("accepted without having been compared: %+v", r)
			}
			if roundings := strings.Contains(x.name, " explains") && x.want == tooSmall; roundings != (err != nil && strings.Contains(err.Error(), "rounding may explain")) {
				t.Errorf("%v: rounding is named as the reason, or is not, wrongly", err)
			}
			if x.want == unknown && x.market == nil && !strings.Contains(err.Error(), "unknown") {
				t.Errorf("%v does not say what is missing", err)
			}
		})
	}
}

// Sats that are charged for native tokens, at each limit and one beyond: a sat is
// 10^10 base units.
func TestGasPriceLimits(t *testing.T) {
	a := Agreed{Native: gasCoin, NativePrice: whole}
	tests := []struct {
		name        string
		sats, units int64
		fee         int64
		market      *big.Int
		want        string
	}{
		{"a present", 0, 1, 0, whole, accepted},
		{"nothing for nothing, and no price", 0, 0, 0, nil, accepted},
		{"a fee for nothing", 0, 0, 5, whole, liar},
		{"only a fee", 0, 1, 5, whole, liar},
		{"two sats for nothing", 2, 0, 0, whole, liar},
		{"without a fee for nothing", 100, 0, 0, whole, liar},
		{"1 % of 998 sats", 1000, 9_880_190_020_001, 0, whole, accepted},
		{"a unit less", 1000, 9_880_190_020_000, 0, whole, liar},
		{"no more than two sats beside the fee", 7, 1, 5, whole, accepted},
		{"three sats beside the fee", 8, 1, 5, whole, liar},
		{"no price", 100, 1e12, 0, nil, unknown},
		{"no price, two sats", 2, 1, 0, nil, unknown},
	}
	for _, x := range tests {
		t.Run(x.name, func(t *testing.T) {
			a.NativePrice = x.market
			_, err := a.fairGas(n(x.sats), n(x.units), n(x.fee))
			if got := outcome(err); got != x.want {
				t.Errorf("%s: %v; want %s", got, err, x.want)
			}
		})
	}
}

// A fee at the announced limit, of 3 sats of rounding, the base, the share and two
// units of the token, and at the policy's.
func TestFeeLimits(t *testing.T) {
	unpriced, coarse := coin, coin
	unpriced.Decimals, coarse.Decimals = -1, 0
	tests := []struct {
		name   string
		change func(a *Agreed)
		base   *big.Int
		gross  int64
		market *big.Int
		most   int64
		check  lp.Check
	}{
		{"announced", nil, n(10), 100_000, whole, 3 + 10 + 300 + 2, lp.CheckFee},
		{"no base", nil, nil, 100_000, whole, 3 + 300 + 2, lp.CheckFee},
		{"no share", func(a *Agreed) { a.FeePPM = nil }, n(10), 100_000, whole, 3 + 10 + 2, lp.CheckFee},
		{"no price", nil, n(10), 100_000, nil, 3 + 10 + 300, lp.CheckFee},
		{"not priced", func(a *Agreed) { a.Token = unpriced }, n(10), 100_000, whole, 3 + 10 + 300, lp.CheckFee},
		{"a unit of 40 sats", func(a *Agreed) { a.Token = coarse }, n(10), 100_000, n(40e6), 3 + 10 + 300 + 80, lp.CheckFee},
		{"5 %", func(a *Agreed) { a.Policy.AnyFee = true }, n(10), 100_000, whole, 5000, lp.CheckFeeLimit},
		{"5 %, announced to be more", func(a *Agreed) { a.FeePPM = n(990_000) }, n(10), 100_000, whole, 5000, lp.CheckFeeLimit},
		{"1000 sats", func(a *Agreed) { a.Policy.AnyFee = true }, n(10), 19_999, whole, 1000, lp.CheckFeeLimit},
		{"20 %", func(a *Agreed) { a.Policy = Policy{AnyFee: true, MaxFeePPM: 200_000} }, n(10), 100_000, whole, 20_000, lp.CheckFeeLimit},
		{"a limit below zero is the usual one", func(a *Agreed) { a.Policy = Policy{AnyFee: true, MaxFeePPM: -1} }, n(10), 100_000, whole, 5000, lp.CheckFeeLimit},
	}
	for _, x := range tests {
		t.Run(x.name, func(t *testing.T) {
			a := agreed(n(1), true)
			if x.change != nil {
				x.change(&a)
			}
			if err := a.acceptedFee(lp.CheckFee, n(x.most), n(x.gross), x.base, a.Token, x.market); err != nil {
				t.Error(err)
			}
			lied(t, spares(x.check), a.acceptedFee(lp.CheckFee, n(x.most+1), n(x.gross), x.base, a.Token, x.market))
		})
	}
	a := agreed(n(1), true)
	if err := a.acceptedFee(lp.CheckFee, n(1), n(1), nil, coin, n(0)); outcome(err) != unknown {
		t.Errorf("at a price of nothing: %v", err)
	}
}

// What is valued in the native token: deposit, bounty, and what a watchtower's
// share leaves.
func TestNativeLimits(t *testing.T) {
	a := agreed(n(1), true)
	poor := a
	poor.NativePrice = nil
	lied(t, lp.CheckDeposit, a.deposit(wei(7001), n(100_000)))
	tenth := a
	tenth.Policy.MaxDepositPPM = 100_000
	lied(t, lp.CheckDeposit, tenth.deposit(wei(12_001), n(100_000)))
	for name, x := range map[string]struct {
		err  error
		want string
	}{
		"deposit":                          {a.deposit(wei(7000), n(100_000)), accepted},
		"deposit by policy":                {tenth.deposit(wei(12_000), n(100_000)), accepted},
		"no deposit, no price":             {poor.deposit(n(0), n(100_000)), accepted},
		"deposit, no price":                {poor.deposit(n(1), n(100_000)), unknown},
		"bounty":                           {a.proportionate(wei(5000), n(100_000)), accepted},
		"bounty, beyond":                   {a.proportionate(wei(5001), n(100_000)), tooSmall},
		"bounty of a small swap":           {a.proportionate(wei(1000), n(20_000)), accepted},
		"bounty of a small swap, beyond":   {a.proportionate(wei(1001), n(20_000)), tooSmall},
		"no bounty, no price":              {poor.proportionate(nil, n(100_000)), accepted},
		"bounty of nothing, no price":      {poor.proportionate(n(0), n(100_000)), accepted},
		"bounty, no price":                 {poor.proportionate(n(1), n(100_000)), unknown},
		"funds":                            {covers(n(5), n(5)), accepted},
		"funds, beyond":                    {covers(n(4), n(5)), spared},
		"funds that were not asked for":    {covers(nil, n(5)), unknown},
		"after the watchtower":             {a.fairAfterWatchtower(n(100_000), n(93_691), n(310), n(100_000)), accepted}, // 99 690 less 996, 5000 and 3
		"after the watchtower, beyond":     {a.fairAfterWatchtower(n(100_000), n(93_690), n(310), n(100_000)), spared},
		"after the watchtower, not priced": {pricedAt(-1, nil).fairAfterWatchtower(n(100_000), n(1), n(310), n(100_000)), accepted},
		"after the watchtower, decimals 0": {pricedAt(0, n(1e6)).fairAfterWatchtower(n(100_000), n(93_690), n(310), n(100_000)), spared},
		"after the watchtower, no price":   {pricedAt(8, nil).fairAfterWatchtower(n(100_000), n(93_690), n(310), n(100_000)), unknown},
	} {
		if got := outcome(x.err); got != x.want {
			t.Errorf("%s: %s: %v; want %s", name, got, x.err, x.want)
		}
	}
}

func pricedAt(decimals int, market *big.Int) Agreed {
	a := agreed(n(1), true)
	a.Token.Decimals, a.Price = decimals, market
	return a
}

// Numbers of an answer: there, not negative, and of 256 bits at most.
func TestSaneNumbers(t *testing.T) {
	most := bigs.Sub(new(big.Int).Lsh(n(1), 256), n(1))
	for _, v := range []*big.Int{n(0), n(1), most} {
		if err := sane(figure{"x", v}); err != nil {
			t.Error(err)
		}
	}
	for _, v := range []*big.Int{nil, n(-1), bigs.Add(most, n(1))} {
		lied(t, lp.CheckNumbers, sane(figure{"good", n(1)}, figure{"x", v}))
	}
	for _, x := range []struct {
		a, b *big.Int
		same bool
	}{{n(0), new(big.Int), true}, {n(1), n(2), false}, {nil, n(0), false}, {n(0), nil, false}, {nil, nil, false}} {
		if got := same(x.a, x.b); got != x.same {
			t.Errorf("%v and %v: %v", x.a, x.b, got)
		}
	}
}
