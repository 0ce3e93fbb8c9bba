package psbt

import (
	"errors"
	"testing"

	"github.com/btcsuite/btcd/wire"

	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/internal/trial"
)

func unconfirmed(n byte, index uint32, sats int64, vbytes, rate float64) Coin {
	c := coinOf(n, sats, &bitcoin.CPFP{AdjustedVSize: vbytes, EffectiveFeeRate: rate})
	c.OutPoint.Index = index
	return c
}

// What parents weigh more than nodes relay is not paid for, in one coin, in several, and
// in what a wallet can spend; a parent of many coins weighs once.
func TestParentsWeighWhatNodesRelay(t *testing.T) {
	var siblings []Coin
	for i := range uint32(30) {
		siblings = append(siblings, unconfirmed(9, i, 10_000_000, 5000, 1))
	}
	for name, c := range map[string]struct {
		coins  []Coin
		pay    int64
		inputs int // 0: not enough
	}{
		"the largest":                    {[]Coin{unconfirmed(1, 0, 10_000_000, maxParentsVBytes, 0)}, 1_000_000, 1},
		"a larger one":                   {[]Coin{unconfirmed(1, 0, 10_000_000, maxParentsVBytes+1, 0)}, 1_000_000, 0},
		"a larger one that pays enough":  {[]Coin{unconfirmed(1, 0, 10_000_000, maxParentsVBytes+1, 2)}, 1_000_000, 1},
		"two, together as large":         {[]Coin{unconfirmed(1, 0, 10_000_000, 50_000, 0), unconfirmed(2, 0, 10_000_000, 51_000, 0)}, 15_000_000, 2},
		"two, together larger":           {[]Coin{unconfirmed(1, 0, 10_000_000, 50_000, 0), unconfirmed(2, 0, 10_000_000, 51_001, 0)}, 15_000_000, 0},
		"the third is small enough":      {[]Coin{unconfirmed(1, 0, 10_000_000, 50_000, 0), unconfirmed(2, 0, 10_000_000, 51_001, 0), unconfirmed(3, 0, 9_000_000, 500, 0)}, 15_000_000, 2},
		"many coins of one parent":       {siblings, 290_000_000, 30},
		"many, and the parent is larger": {append(siblings[:29:29], unconfirmed(8, 0, 10_000_000, 96_001, 0)), 289_000_000, 29},
	} {
		d := Draft{Outputs: []wire.TxOut{{Value: c.pay, PkScript: make([]byte, 22)}}, Change: bitcoin.P2WPKH, FeeRate: 2}
		for way, choose := range map[string]func(Draft, []Coin) (Selection, error){"Select": selectCoins, "Cheapest": Cheapest} {
			s, err := choose(d, c.coins)
			if _, short := errors.AsType[*notEnoughError](err); short != (c.inputs == 0) || len(s.Inputs) != c.inputs {
				t.Errorf("%s, %s: %d inputs, %v; want %d", name, way, len(s.Inputs), err, c.inputs)
			}
		}
		most := trial.Must(MaxSpendable(Draft{FeeRate: 2}, bitcoin.P2WPKH, c.coins))(t)
		if enough := most.Value >= float64(c.pay); enough != (c.inputs > 0) {
			t.Errorf("%s: spendable are %.0f sats of a payment of %d", name, most.Value, c.pay)
		}
	}
}

// A size that a backend makes up does not make a fee look small.
func TestPackageRateCountsNoMoreThanNodesRelay(t *testing.T) {
	for name, parents := range map[string][]bitcoin.CPFP{
		"as large": {{AdjustedVSize: maxParentsVBytes}},
		"larger":   {{AdjustedVSize: 4_000_000}},
		"many":     {{AdjustedVSize: 100_000}, {AdjustedVSize: 100_000}, {AdjustedVSize: 1e300}},
	} {
		if got, want := packageRate(101_141*20, 141, parents), 20.0; got != want {
			t.Errorf("%s: %v sat/vB, want %v", name, got, want)
		}
	}
	if got, want := packageRate(1000, 100, []bitcoin.CPFP{{AdjustedVSize: 100_900, EffectiveFeeRate: 5}, {AdjustedVSize: 300, EffectiveFeeRate: 1}}), (1000.0+504_500+100)/(100+101_000); got != want {
		t.Errorf("the dearer parents count first: %v sat/vB, want %v", got, want)
	}
}

func TestMaxMinerFee(t *testing.T) {
	for name, c := range map[string]struct{ sats, ppm, want int64 }{
		"nothing":                      {0, 0, SmallMinerFee},
		"little":                       {1_999_999, 0, SmallMinerFee},
		"5 % is as much":               {2_000_000, 0, SmallMinerFee},
		"5 % is more":                  {2_000_020, 0, SmallMinerFee + 1},
		"a bitcoin":                    {100_000_000, 0, 5_000_000},
		"a bitcoin, 1 %":               {100_000_000, 10_000, 1_000_000},
		"little, more than the amount": {100_000, 2_000_000, 200_000},
		"all there is":                 {2_100_000_000_000_000, 1 << 62, 2_100_000_000_000_000},
	} {
		if got := maxMinerFee(c.sats, c.ppm); got != c.want {
			t.Errorf("%s: %d sats, want %d", name, got, c.want)
		}
	}
}

// What is said to fit into the sum that always passes does.
func TestOneCoinFee(t *testing.T) {
	payment := Draft{Outputs: []wire.TxOut{{Value: 1, PkScript: make([]byte, 22)}}, Change: bitcoin.P2WPKH}
	vault := Draft{Required: []Coin{{Type: bitcoin.P2TR}}, Change: bitcoin.P2WPKH,
		Outputs: []wire.TxOut{{PkScript: make([]byte, 34)}, {PkScript: make([]byte, 2+48)}, {PkScript: make([]byte, 22)}}}
	for name, c := range map[string]struct {
		d            Draft
		size, fitsAt int64
	}{"payment": {payment, 141, 709}, "vault, the longest data": {vault, 301, 332}} {
		c.d.FeeRate = 1
		if got := c.d.oneCoinFee(); got != c.size {
			t.Errorf("%s: %d vB, want %d", name, got, c.size)
		}
		for rate, fits := range map[int64]bool{c.fitsAt: true, c.fitsAt + 1: false} {
			c.d.FeeRate = float64(rate)
			if got := c.d.oneCoinFee(); (got <= SmallMinerFee) != fits {
				t.Errorf("%s at %d sat/vB: %d sats", name, rate, got)
			}
		}
	}
}
