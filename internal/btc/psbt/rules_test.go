package psbt

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/btcsuite/btcd/wire"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/internal/btc/rawtx"
	"github.com/swapper-go/swapper/internal/trial"
)

func TestSelectCoinsRefusesWhatIsNoMoney(t *testing.T) {
	good := Coin{Value: 50_000, Type: bitcoin.P2WPKH}
	for name, c := range map[string]struct {
		draft Draft
		coins []Coin
	}{
		"negative rate":      {Draft{FeeRate: -1}, []Coin{good}},
		"rate not a number":  {Draft{FeeRate: math.NaN()}, []Coin{good}},
		"infinite rate":      {Draft{FeeRate: math.Inf(1)}, []Coin{good}},
		"negative coin":      {Draft{}, []Coin{{Value: -1, Type: bitcoin.P2WPKH}}},
		"coin above supply":  {Draft{}, []Coin{{Value: rawtx.MaxMoney + 1, Type: bitcoin.P2WPKH}}},
		"coins above supply": {Draft{}, []Coin{{Value: rawtx.MaxMoney, Type: bitcoin.P2WPKH}, good}},
		"required and coins": {Draft{Required: []Coin{{Value: rawtx.MaxMoney, Type: bitcoin.P2TR}}}, []Coin{good}},
		"coin without type":  {Draft{}, []Coin{{Value: 1}}},
		"negative output":    {Draft{Outputs: []wire.TxOut{{Value: -1}}}, []Coin{good}},
		"output overflow":    {Draft{Outputs: []wire.TxOut{{Value: rawtx.MaxMoney}, {Value: rawtx.MaxMoney}}}, []Coin{good}},
		"parents: NaN":       {Draft{}, []Coin{{Value: 1, Type: bitcoin.P2TR, CPFP: &bitcoin.CPFP{EffectiveFeeRate: math.NaN(), AdjustedVSize: 1}}}},
		"parents: infinite":  {Draft{}, []Coin{{Value: 1, Type: bitcoin.P2TR, CPFP: &bitcoin.CPFP{AdjustedVSize: math.Inf(1)}}}},
		"parents: negative":  {Draft{}, []Coin{{Value: 1, Type: bitcoin.P2TR, CPFP: &bitcoin.CPFP{AdjustedVSize: -1}}}},
	} {
		t.Run(name, func(t *testing.T) {
			var short *notEnoughError
			if sel, err := selectCoins(c.draft, c.coins); err == nil || errors.As(err, &short) {
				t.Errorf("selected %+v, error %v; want a refusal of the input", sel, err)
			}
			if max, err := MaxSpendable(c.draft, bitcoin.P2WPKH, c.coins); err == nil {
				t.Errorf("spendable %+v; want an error", max)
			}
		})
	}
	if _, err := MaxSpendable(Draft{}, 0, nil); err == nil {
		t.Error("no target type: no error")
	}
}

func genCoins(t *rapid.T, label string, n int) []Coin {
	return rapid.SliceOfN(rapid.Custom(func(t *rapid.T) Coin {
		c := Coin{
			OutPoint: bitcoin.OutPoint{Index: rapid.Uint32().Draw(t, "vout")},
			Value:    rapid.Int64Range(0, 1_000_000).Draw(t, "value"),
			Type:     bitcoin.AddressType(rapid.IntRange(int(bitcoin.P2PKH), int(bitcoin.P2TR)).Draw(t, "type")),
		}
		if rapid.IntRange(0, 3).Draw(t, "unconfirmed") == 0 {
			c.CPFP = &bitcoin.CPFP{
				AdjustedVSize:    float64(rapid.IntRange(60, 20_000).Draw(t, "vsize")) / 4,
				EffectiveFeeRate: float64(rapid.IntRange(0, 4000).Draw(t, "rate")) / 40,
			}
		}
		return c
	}), 0, n).Draw(t, label)
}

// Whatever the coins: money is conserved, no coin is used twice or invented, no
// change is dust, and the fee is what the rate asks for, with the slack that
// rounding and avoided change allow.
func TestSelectCoinsInvariants(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		list := genCoins(t, "coins", 40)
		for i := range list { // two of each transaction
			list[i].OutPoint = bitcoin.OutPoint{Hash: bitcoin.Hash{byte(i/2 + 1)}, Index: uint32(i)}
			list[i].CPFP = list[i&^1].CPFP
		}
		d := Draft{
			Change:  bitcoin.AddressType(rapid.IntRange(int(bitcoin.P2PKH), int(bitcoin.P2TR)).Draw(t, "change")),
			FeeRate: float64(rapid.IntRange(0, 40_000).Draw(t, "rate")) / 400,
		}
		if rapid.Bool().Draw(t, "vault") {
			d.Required = []Coin{{OutPoint: bitcoin.OutPoint{Index: 7}, Value: 600, Type: bitcoin.P2TR}}
		}
		for range rapid.IntRange(0, 4).Draw(t, "outputs") {
			d.Outputs = append(d.Outputs, wire.TxOut{
				Value:    rapid.Int64Range(0, 500_000).Draw(t, "pay"),
				PkScript: make([]byte, rapid.IntRange(0, 80).Draw(t, "script")),
			})
		}
		usual, usualErr := selectCoins(d, list)
		checkSelection(t, d, list, usual, usualErr, false)
		cheapest, err := Cheapest(d, list)
		checkSelection(t, d, list, cheapest, err, true)
		if (err == nil) != (usualErr == nil) || cheapest.Fee > usual.Fee {
			t.Fatalf("cheapest: fee %d, %v; usual: %d, %v", cheapest.Fee, err, usual.Fee, usualErr)
		}
		if cheapest.Fee == usual.Fee {
			if diff := cmp.Diff(usual, cheapest); diff != "" {
				t.Fatalf("another choice for the same fee:\n%s", diff)
			}
		}
	})
}

// checkSelection holds a selection against what was asked for; once says that a
// parent need be paid for by one of its coins only.
func checkSelection(t *rapid.T, d Draft, list []Coin, sel Selection, err error, once bool) {
	var short *notEnoughError
	if errors.As(err, &short) {
		if short.Fee < 0 || math.IsNaN(short.Fee) {
			t.Fatalf("estimated fee %v", short.Fee)
		}
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	known := map[bitcoin.OutPoint]int64{}
	for _, c := range append(append([]Coin{}, d.Required...), list...) {
		known[c.OutPoint] = c.Value
	}
	var in, out int64
	var parents float64
	paid := map[bitcoin.Hash]bool{}
	var z size
	for i, c := range sel.Inputs {
		v, ok := known[c.OutPoint]
		if !ok || v != c.Value {
			t.Fatalf("input %s of %d sats is none of the coins, or used twice", c.OutPoint, c.Value)
		}
		delete(known, c.OutPoint)
		if i < len(d.Required) && c.OutPoint != d.Required[i].OutPoint {
			t.Fatal("required inputs do not come first")
		}
		in += v
		if !once || !paid[c.OutPoint.Hash] {
			parents += parentFee(c.CPFP, d.FeeRate)
		}
		paid[c.OutPoint.Hash] = true
		z.addInput(c.Type)
	}
	for _, o := range d.Outputs {
		out += o.Value
		z.addOutput(len(o.PkScript))
	}
	if in != out+sel.Change+sel.Fee || sel.Fee < 0 {
		t.Fatalf("in %d != out %d + change %d + fee %d", in, out, sel.Change, sel.Fee)
	}
	if len(sel.Inputs) <= len(d.Required) {
		t.Fatal("no coin was added")
	}
	if sel.Change > 0 {
		if sel.Change < d.Change.DustLimit() {
			t.Fatalf("change of %d sats is dust", sel.Change)
		}
		z.addOutput(d.Change.ScriptLen())
	}
	asked := d.FeeRate*z.total() + parents
	// below: the loops add fractions of bytes to a rounded start, finish rounds once
	if float64(sel.Fee) < asked-2*d.FeeRate-1 {
		t.Fatalf("fee %d is below the %v asked for", sel.Fee, asked)
	}
	most := asked + 2*d.FeeRate + 2
	if sel.Change == 0 { // what would have been change, and its output
		most += float64(d.Change.DustLimit()) + d.FeeRate*outputVBytes(d.Change.ScriptLen())
	}
	if float64(sel.Fee) > most {
		t.Fatalf("fee %d is above %v", sel.Fee, most)
	}
}

// What MaxSpendable promises can be paid at the same rate, but for the rounding
// of sizes and fees.
func TestMaxSpendableCanBeSpent(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		typ := bitcoin.AddressType(rapid.IntRange(int(bitcoin.P2PKH), int(bitcoin.P2TR)).Draw(t, "type"))
		list := genCoins(t, "coins", 20)
		for i := range list {
			list[i].Type = typ
		}
		d := Draft{FeeRate: float64(rapid.IntRange(0, 4000).Draw(t, "rate")) / 40}
		best, err := MaxSpendable(d, bitcoin.P2TR, list)
		if err != nil {
			t.Fatal(err)
		}
		slack := int64(math.Ceil(2*d.FeeRate)) + 2
		pay := best.Balance() - slack
		if pay < bitcoin.P2TR.DustLimit() {
			return
		}
		d.Outputs = []wire.TxOut{{Value: pay, PkScript: make([]byte, bitcoin.P2TR.ScriptLen())}}
		d.Change = typ
		sel, err := selectCoins(d, list)
		if err != nil {
			// The last coin in order being detrimental is not the end of the others: they were all taken by then.
			t.Fatalf("%d sats of %v cannot be paid: %v", pay, best, err)
		}
		if float64(sel.Fee) > best.Fee+float64(slack)+float64(typ.DustLimit())+d.FeeRate*43 {
			t.Fatalf("fee %d, promised %v", sel.Fee, best.Fee)
		}
	})
}

// The page's example: 17,000 sats of the usual choice go to the parents of one coin.
func TestSelectCheapestSparesParents(t *testing.T) {
	const rate = 10
	at := func(id byte, index uint32) bitcoin.OutPoint {
		return bitcoin.OutPoint{Hash: bitcoin.Hash{id}, Index: index}
	}
	confirmed := Coin{OutPoint: at(1, 0), Value: 40_000, Type: bitcoin.P2WPKH}
	heavy := Coin{OutPoint: at(2, 0), Value: 50_000, Type: bitcoin.P2WPKH, CPFP: &bitcoin.CPFP{AdjustedVSize: 2000, EffectiveFeeRate: 2}}
	light := Coin{OutPoint: at(3, 0), Value: 30_000, Type: bitcoin.P2WPKH, CPFP: &bitcoin.CPFP{AdjustedVSize: 150, EffectiveFeeRate: 9.5}}
	dear := Coin{OutPoint: at(4, 0), Value: 30_000, Type: bitcoin.P2WPKH, CPFP: &bitcoin.CPFP{AdjustedVSize: 150, EffectiveFeeRate: 30}}
	sibling := heavy
	sibling.OutPoint.Index = 1
	d := Draft{Change: bitcoin.P2WPKH, FeeRate: rate, Outputs: []wire.TxOut{{Value: 60_000, PkScript: make([]byte, bitcoin.P2WPKH.ScriptLen())}}}
	large := d
	large.Outputs = []wire.TxOut{{Value: 71_000, PkScript: make([]byte, bitcoin.P2WPKH.ScriptLen())}}
	few := d
	few.MaxInputs = 2
	for name, c := range map[string]struct {
		draft          Draft
		coins          []Coin
		usual, cheaper int64
		inputs         []bitcoin.OutPoint
	}{
		"costly parents are spared": {d, []Coin{confirmed, heavy, light}, 18_090, 2165, []bitcoin.OutPoint{confirmed.OutPoint, light.OutPoint}},
		"but not at any price":      {few, []Coin{confirmed, heavy}, 18_090, 18_090, []bitcoin.OutPoint{confirmed.OutPoint, heavy.OutPoint}},
		"a parent is paid for once": {d, []Coin{heavy, sibling}, 34_090, 18_090, []bitcoin.OutPoint{heavy.OutPoint, sibling.OutPoint}},
		"dear parents cost nothing": {d, []Coin{confirmed, dear}, 2090, 2090, []bitcoin.OutPoint{confirmed.OutPoint, dear.OutPoint}},
		"all are needed":            {large, []Coin{confirmed, heavy}, 18_090, 18_090, []bitcoin.OutPoint{confirmed.OutPoint, heavy.OutPoint}},
	} {
		t.Run(name, func(t *testing.T) {
			before := slices.Clone(c.coins)
			if usual, err := selectCoins(c.draft, c.coins); err == nil && usual.Fee != c.usual {
				t.Errorf("usual fee %d, want %d", usual.Fee, c.usual)
			}
			got := trial.Must(Cheapest(c.draft, c.coins))(t)
			var inputs []bitcoin.OutPoint
			for _, in := range got.Inputs {
				inputs = append(inputs, in.OutPoint)
			}
			if got.Fee != c.cheaper || !slices.Equal(inputs, c.inputs) || got.FeeRate < rate-0.1 {
				t.Errorf("fee %d at %v for %v", got.Fee, got.FeeRate, inputs)
			}
			if diff := cmp.Diff(before, c.coins); diff != "" {
				t.Errorf("the caller's coins were changed:\n%s", diff)
			}
		})
	}
}

func BenchmarkSelectCoins(b *testing.B) {
	for _, n := range []int{10, 100, 1000, 10_000} {
		list := benchCoins(n)
		var sum int64
		for _, c := range list {
			sum += c.Value
		}
		for name, share := range map[string]int64{"few": 20, "most": 2} {
			d := Draft{Change: bitcoin.P2WPKH, FeeRate: 3.25, Outputs: []wire.TxOut{{Value: sum / share, PkScript: make([]byte, 34)}}}
			for of, choose := range map[string]func(Draft, []Coin) (Selection, error){"usual": selectCoins, "cheapest": Cheapest} {
				b.Run(fmt.Sprintf("%d/%s/%s", n, name, of), func(b *testing.B) {
					b.ReportAllocs()
					for b.Loop() {
						if _, err := choose(d, list); err != nil {
							b.Fatal(err)
						}
					}
				})
			}
		}
	}
}
