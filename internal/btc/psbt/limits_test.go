package psbt

import (
	"bytes"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/btcsuite/btcd/btcutil/psbt"
	"github.com/btcsuite/btcd/txscript"
	"github.com/btcsuite/btcd/wire"

	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/internal/btc/rawtx"
	"github.com/swapper-go/swapper/internal/trial"
)

// The tests of this file trip one guard at a time, at its limit and one beyond.

// weighed is a transaction of one input and one output with a script of n bytes.
func weighed(inValue, outValue int64, n int) *SignedTx {
	tx := wire.NewMsgTx(2)
	tx.AddTxIn(&wire.TxIn{PreviousOutPoint: bitcoin.OutPoint{Hash: bitcoin.Hash{1}}})
	tx.AddTxOut(wire.NewTxOut(outValue, make([]byte, n)))
	return &SignedTx{Tx: tx, Spent: []*wire.TxOut{wire.NewTxOut(inValue, nil)}}
}

// scriptFor is how long the script of [weighed] must be for a weight.
func scriptFor(weight int) int {
	n := weight / 4
	for rawtx.Weight(weighed(0, 0, n).Tx) > weight {
		n--
	}
	return n
}

func TestWeighAmounts(t *testing.T) {
	for name, c := range map[string]struct {
		in  []int64
		out int64
		ok  bool
	}{
		"no fee":                        {[]int64{500}, 500, true},
		"a sat short":                   {[]int64{500}, 501, false},
		"nothing":                       {[]int64{0}, 0, true},
		"a negative input":              {[]int64{-1, 500}, 100, false},
		"all there is":                  {[]int64{rawtx.MaxMoney}, 5, true},
		"more than there is":            {[]int64{rawtx.MaxMoney + 1}, 5, false},
		"all there is as the fee":       {[]int64{rawtx.MaxMoney}, 0, true},
		"more than there is as the fee": {[]int64{rawtx.MaxMoney, 1}, 0, false},
		"all there is twice":            {[]int64{rawtx.MaxMoney, rawtx.MaxMoney}, rawtx.MaxMoney, true},
	} {
		s := weighed(0, c.out, 22)
		s.Tx.TxIn, s.Spent = nil, nil
		for i, v := range c.in {
			s.Tx.AddTxIn(&wire.TxIn{PreviousOutPoint: bitcoin.OutPoint{Index: uint32(i)}})
			s.Spent = append(s.Spent, wire.NewTxOut(v, nil))
		}
		if err := s.weigh(Agreement{}); (err == nil) != c.ok {
			t.Errorf("%s: fee %d, %v", name, s.Fee, err)
		}
	}
}

func TestWeighSizes(t *testing.T) {
	vault := Agreement{Template: Template{Inputs: make([]TemplateInput, 1)}}
	for name, c := range map[string]struct {
		a      Agreement
		weight int // with the template's input signed
		ok     bool
	}{
		"what nodes relay":          {Agreement{}, maxStandardWeight, true},
		"a byte more":               {Agreement{}, maxStandardWeight + 4, false},
		"what providers take":       {vault, 4 * maxPostedVSize, true},
		"a byte more than that":     {vault, 4*maxPostedVSize + 4, false},
		"a payment of a byte more":  {Agreement{}, 4*maxPostedVSize + 4, true},
		"a vault of all nodes take": {vault, maxStandardWeight, false},
	} {
		own := keySpendWeight * len(c.a.Template.Inputs)
		s := weighed(rawtx.MaxMoney, 0, scriptFor(c.weight-own))
		if got := rawtx.Weight(s.Tx) + own; got > c.weight || got <= c.weight-4 {
			t.Fatalf("%s: weight %d, want %d", name, got, c.weight)
		}
		if err := s.weigh(c.a); (err == nil) != c.ok {
			t.Errorf("%s: %d vB, %v", name, s.VSize, err)
		}
	}
}

// A fee rate suffices if it is the least one or rounds up to it, also if the least
// is no whole number; the most is the most to the last sat.
func TestWeighRates(t *testing.T) {
	vault := Template{Inputs: make([]TemplateInput, 1)}
	for name, c := range map[string]struct {
		a    Agreement
		paid float64 // sat/vB
		sats int64   // on top
		ok   bool
	}{
		"the least that is agreed":     {Agreement{MinFeeRate: 4}, 4, 0, true},
		"rounded to it":                {Agreement{MinFeeRate: 4}, 3.5, 0, true},
		"too little to be rounded":     {Agreement{MinFeeRate: 4}, 3.25, 0, false},
		"a fraction that is the least": {Agreement{MinFeeRate: 1.25}, 1.25, 0, true},
		"a fraction above the least":   {Agreement{MinFeeRate: 1.25}, 1.375, 0, true},
		"a fraction below the least":   {Agreement{MinFeeRate: 1.25}, 1.125, 0, false},
		"the most that can be meant":   {Agreement{MaxFeeRate: 4}, 4, 0, true},
		"a sat above":                  {Agreement{MaxFeeRate: 4}, 4, 1, false},
		"no bound":                     {Agreement{}, 4000, 0, true},
		"the least that anybody takes": {Agreement{Template: vault}, minPostedFeeRate, 0, true},
		"a sat below":                  {Agreement{Template: vault}, minPostedFeeRate, -1, false},
		"a payment of a sat below":     {Agreement{}, minPostedFeeRate, -1, true},
	} {
		s := weighed(0, 10_000, 22)
		size := func() int64 { return int64(rawtx.Weight(s.Tx)+keySpendWeight*len(c.a.Template.Inputs)+3) / 4 }
		for size()%8 != 0 { // so that eighths of a sat per byte are whole sats
			s.Tx.TxOut[0].PkScript = append(s.Tx.TxOut[0].PkScript, 0x51)
		}
		fee := int64(c.paid*float64(size())) + c.sats
		s.Spent[0].Value = 10_000 + fee
		if err := s.weigh(c.a); (err == nil) != c.ok {
			t.Errorf("%s: %v sat/vB, %v", name, s.FeeRate, err)
		}
		if want := float64(fee) / float64(size()); s.VSize != size() || s.Fee != fee || s.FeeRate != want {
			t.Errorf("%s: %d sats for %d vB, %v per vB; want %d, %d, %v", name, s.Fee, s.VSize, s.FeeRate, fee, size(), want)
		}
	}
	// a parent weighs once, however many of its outputs are spent
	s := weighed(10_000, 9_000, 22)
	s.Tx.AddTxIn(&wire.TxIn{PreviousOutPoint: bitcoin.OutPoint{Hash: bitcoin.Hash{1}, Index: 1}})
	s.Spent = append(s.Spent, wire.NewTxOut(0, nil))
	trial.Do(t, s.weigh(Agreement{Unconfirmed: map[bitcoin.Hash]bitcoin.CPFP{{1}: {EffectiveFeeRate: 1, AdjustedVSize: 200}}}))
	if want := (1000.0 + 200) / (float64(s.VSize) + 200); math.Abs(s.FeeRate-want) > 1e-9 {
		t.Errorf("%v sat/vB with the parent, want %v", s.FeeRate, want)
	}
}

// A provider's input whose id depends on the signature would let the provider
// change the id that the swap goes by.
func TestSignedVaultMustBeSegwit(t *testing.T) {
	p, a := handedOut(t, bitcoin.P2WPKH, true)
	signWith(t, p, 1, testKey(), txscript.SigHashAll)
	a.Template.Inputs[0].Output.PkScript = testAddress(t, bitcoin.P2PKH).Script()
	if s, err := submit(t, p, a); err == nil || !strings.Contains(err.Error(), "legacy") {
		t.Errorf("%+v, %v", s, err)
	}
}

// The posted PSBT may fill a request to the last byte, and no more.
func TestPostedLimit(t *testing.T) {
	length := func(script int, change int64) (int, error) {
		p, a := handedOut(t, bitcoin.P2WPKH, true)
		for range 20 {
			p.UnsignedTx.AddTxOut(wire.NewTxOut(300, make([]byte, 100)))
			p.Outputs = append(p.Outputs, psbt.POutput{})
		}
		p.UnsignedTx.AddTxOut(wire.NewTxOut(300, make([]byte, script)))
		p.Outputs = append(p.Outputs, psbt.POutput{})
		p.UnsignedTx.TxOut[3].Value = change
		a.MinFeeRate, a.MaxFeeRate = 0, 0
		signWith(t, p, 1, testKey(), txscript.SigHashAll)
		u := trial.Must(Parse(closePSBT(t, p).Hex()))(t)
		got, err := u.Check(a)
		if err != nil {
			return 0, err
		}
		return len(got.PSBT), nil
	}
	short := trial.Must(length(300, 1000))(t)
	// signatures differ by a byte or two, so it takes some tries
	var last, beyond bool
	for try := 0; try < 100 && !(last && beyond); try++ {
		n, err := length(300+MaxPosted-short+try%5-2, int64(1000+try))
		last = last || n == MaxPosted
		beyond = beyond || err != nil && strings.Contains(err.Error(), fmt.Sprintf("PSBT has %d bytes", MaxPosted+1))
		if n > MaxPosted || err != nil && !strings.Contains(err.Error(), "use fewer inputs") {
			t.Errorf("%d bytes, %v", n, err)
		}
	}
	if !last || !beyond {
		t.Errorf("%d bytes accepted: %v; one more refused: %v", MaxPosted, last, beyond)
	}
}

// Wallets that finish a segwit input may leave an empty legacy field behind.
func TestPostedWithoutEmptyFields(t *testing.T) {
	p, a := handedOut(t, bitcoin.P2WPKH, true)
	signWith(t, p, 1, testKey(), txscript.SigHashAll)
	want := trial.Must(submit(t, p, a))(t)
	u := trial.Must(Parse(closePSBT(t, p).Hex()))(t)
	for i, in := range want.Tx.TxIn[1:] {
		witness := trial.Must(encodeWitness(in.Witness))(t)
		u.inputs[1+i].FinalScriptSig, u.inputs[1+i].FinalScriptWitness = []byte{}, witness
	}
	if got, err := u.Check(a); err != nil || !bytes.Equal(got.PSBT, want.PSBT) {
		t.Errorf("%+v, %v", got, err)
	}
}

// An id is known before the signatures only where they cannot change it.
func TestTxIDBeforeSigning(t *testing.T) {
	for typ, known := range map[bitcoin.AddressType]bool{bitcoin.P2PKH: false, bitcoin.P2SH: true, bitcoin.P2WPKH: true, bitcoin.P2TR: true} {
		p, a := handedOut(t, typ, false)
		u := trial.Must(Parse(closePSBT(t, p).Hex()))(t)
		id, ok := u.TxID(nil)
		signWith(t, p, 0, testKey(), txscript.SigHashAll)
		s := trial.Must(submit(t, p, a))(t)
		if ok != known || known && id != s.ID {
			t.Errorf("%s: %s, %v; signed it is %s", typ, id, ok, s.ID)
		}
		if typ == bitcoin.P2SH {
			u.inputs[0].RedeemScript = nil
			if id, ok := u.TxID(nil); ok {
				t.Errorf("nested without its script: %s", id)
			}
		}
		u.inputs[0].WitnessUtxo, u.inputs[0].NonWitnessUtxo = nil, nil
		if id, ok := u.TxID(nil); ok {
			t.Errorf("%s that spends something unknown: %s", typ, id)
		}
	}
}
