package psbt

import (
	"errors"
	"math"
	"testing"

	"github.com/btcsuite/btcd/wire"

	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/internal/btc/rawtx"
	"github.com/swapper-go/swapper/internal/trial"
)

// paysOut is a draft of one payment from a p2wpkh wallet.
func paysOut(sats int64, rate float64) Draft {
	return Draft{Outputs: []wire.TxOut{{Value: sats, PkScript: make([]byte, bitcoin.P2WPKH.ScriptLen())}}, Change: bitcoin.P2WPKH, FeeRate: rate}
}

// Without a fee the limits are whole numbers that can be met exactly.
func TestSelectCoinsAtItsLimits(t *testing.T) {
	dust := bitcoin.P2WPKH.DustLimit()
	alone := paysOut(10_000, 0)
	alone.MaxInputs = 1
	for name, c := range map[string]struct {
		draft Draft
		coins []Coin
		want  int64 // sats of the only input
	}{
		"no change at all":              {paysOut(10_000, 0), []Coin{coinOf(1, 100_000, nil), coinOf(2, 10_000, nil)}, 10_000},
		"as much over as dust":          {paysOut(10_000, 0), []Coin{coinOf(1, 100_000, nil), coinOf(2, 10_000+dust, nil)}, 10_000 + dust},
		"a sat more over":               {paysOut(10_000, 0), []Coin{coinOf(1, 100_000, nil), coinOf(2, 10_001+dust, nil)}, 100_000},
		"two that fit, and one allowed": {alone, []Coin{coinOf(1, 100_000, nil), coinOf(2, 5000, nil), coinOf(3, 5000, nil)}, 100_000},
		"all the money there is":        {paysOut(rawtx.MaxMoney, 0), []Coin{coinOf(1, rawtx.MaxMoney, nil)}, rawtx.MaxMoney},
	} {
		s, err := selectCoins(c.draft, c.coins)
		if err != nil || len(s.Inputs) != 1 || s.Inputs[0].Value != c.want {
			t.Errorf("%s: %+v, %v; want the coin of %d", name, s, err, c.want)
		}
	}
	p := trial.Must(newPurse(paysOut(10_000, 0), []Coin{coinOf(1, 10_000, nil)}))(t)
	if s, err := p.accumulate(); err != nil || s.Fee != 0 {
		t.Errorf("just enough: %+v, %v", s, err)
	}
	many := []Coin{coinOf(1, 6000, nil), coinOf(2, 6000, nil)}
	if s, err := selectCoins(alone, many); err == nil {
		t.Errorf("two inputs where one is allowed: %+v", s)
	}
	required := Draft{Required: []Coin{{Value: -1, Type: bitcoin.P2WPKH}}}
	var short *notEnoughError
	if s, err := selectCoins(required, many); err == nil || errors.As(err, &short) {
		t.Errorf("a required input of less than nothing: %+v, %v", s, err)
	}
	if s, err := MaxSpendable(required, bitcoin.P2WPKH, many); err == nil {
		t.Errorf("a required input of less than nothing: %+v", s)
	}
	for sats, want := range map[int64]int64{dust - 1: 0, dust: dust} {
		if s, err := MaxSpendable(Draft{}, bitcoin.P2WPKH, []Coin{coinOf(1, sats, nil)}); err != nil || s.Balance() != want {
			t.Errorf("a coin of %d sats: %+v, %v", sats, s, err)
		}
	}
}

// The choice that spares parents keeps to the number of inputs too, and replaces the
// first choice only if it costs less.
func TestSelectCheapestKeepsToItsLimits(t *testing.T) {
	parents := &bitcoin.CPFP{AdjustedVSize: 1000}
	dear := coinOf(1, 100_000, parents)
	d := paysOut(40_000, 10)
	d.MaxInputs = 1
	two := []Coin{dear, coinOf(2, 30_000, nil), coinOf(3, 30_000, nil)}
	if s, err := Cheapest(d, two); err != nil || len(s.Inputs) != 1 || s.Inputs[0] != dear {
		t.Errorf("one input allowed: %+v, %v", s, err)
	}
	d.MaxInputs = 2
	if s, err := Cheapest(d, two); err != nil || len(s.Inputs) != 2 {
		t.Errorf("two inputs allowed: %+v, %v", s, err)
	}
	// two small ones would do without change, but are one too many; the one of 60,000 is found all the same
	d = paysOut(38_000, 10)
	d.MaxInputs = 1
	if s, err := Cheapest(d, []Coin{dear, coinOf(2, 60_000, nil), coinOf(3, 20_000, nil), coinOf(4, 20_000, nil)}); err != nil || len(s.Inputs) != 1 || s.Inputs[0].Value != 60_000 {
		t.Errorf("a coin without parents: %+v, %v", s, err)
	}
	// without change both cost the same
	d = paysOut(10_000, 1)
	d.Change = 0
	light := Coin{OutPoint: bitcoin.OutPoint{Hash: bitcoin.Hash{1}}, Value: 10_290, Type: bitcoin.P2TR, CPFP: &bitcoin.CPFP{AdjustedVSize: 10}}
	heavy := Coin{OutPoint: bitcoin.OutPoint{Hash: bitcoin.Hash{2}}, Value: 10_290, Type: bitcoin.P2PKH}
	if s, err := Cheapest(d, []Coin{heavy, light}); err != nil || len(s.Inputs) != 1 || s.Inputs[0].Type != bitcoin.P2TR {
		t.Errorf("equal fees: %+v, %v", s, err)
	}
}

// What is said of the rate reckons with the parents that were paid for: once for
// each coin by SelectCoins, once for each parent by SelectCheapest.
func TestSelectedRateWithSharedParents(t *testing.T) {
	parents := &bitcoin.CPFP{AdjustedVSize: 500, EffectiveFeeRate: 2}
	shared := []Coin{coinOf(1, 30_000, parents), coinOf(1, 30_000, parents)}
	shared[1].OutPoint.Index = 1
	d := paysOut(40_000, 10)
	each := trial.Must(selectCoins(d, shared))(t)
	once := trial.Must(Cheapest(d, shared))(t)
	if each.Fee-once.Fee != 500*(10-2) {
		t.Errorf("fees %d and %d", each.Fee, once.Fee)
	}
	for name, s := range map[string]Selection{"SelectCoins": each, "SelectCheapest": once} {
		if math.Abs(s.FeeRate-10) > 0.1 {
			t.Errorf("%s: %v sat/vB, asked for 10", name, s.FeeRate)
		}
	}
}
