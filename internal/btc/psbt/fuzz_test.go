package psbt

import (
	"bytes"
	"testing"

	"github.com/btcsuite/btcd/txscript"

	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/internal/trial"
	"github.com/swapper-go/swapper/internal/vectors"
)

// agreeable is the agreement that a transaction meets as far as one can: a payment of
// its first output, or a vault swap over its first input.
func agreeable(u *Unchecked, vault bool) Agreement {
	var a Agreement
	t := &a.Template
	if w := u.inputs[0].WitnessUtxo; vault && w != nil && txscript.IsWitnessProgram(w.PkScript) && len(u.tx.TxIn) > 1 {
		in := u.tx.TxIn[0]
		t.Inputs = []TemplateInput{{OutPoint: in.PreviousOutPoint, Output: *u.inputs[0].WitnessUtxo, Sequence: in.Sequence}}
		t.Sequence, t.LockTime = u.tx.TxIn[1].Sequence, u.tx.LockTime
	}
	for _, out := range u.tx.TxOut[:1] {
		t.Outputs = append(t.Outputs, *out)
	}
	return a
}

func fuzzSigned(t *testing.T, u *Unchecked) {
	before := u.tx.TxHash()
	id, known := u.TxID(nil)
	for _, vault := range []bool{false, true} {
		s, err := u.Check(agreeable(u, vault))
		if err != nil {
			continue
		}
		if known && id != s.ID {
			t.Errorf("id %s before the check, %s after it", id, s.ID)
		}
		if s.Fee < 0 || s.VSize <= 0 || len(s.Spent) != len(s.Tx.TxIn) {
			t.Errorf("%+v", s)
		}
		for i := range s.Tx.TxOut {
			if !sameOutput(s.Tx.TxOut[i], u.tx.TxOut[i]) {
				t.Errorf("output %d changed", i)
			}
		}
		if s.PSBT != nil {
			again, err := decodePSBT(s.PSBT)
			if err != nil {
				t.Fatalf("posted PSBT: %v", err)
			}
			if posted, err := again.Check(agreeable(again, true)); err != nil || posted.ID != s.ID || !bytes.Equal(posted.PSBT, s.PSBT) {
				t.Errorf("posted PSBT is read as %+v, error %v", posted, err)
			}
		}
	}
	if u.tx.TxHash() != before {
		t.Error("the check changed what it checked")
	}
}

func FuzzParsePSBT(f *testing.F) {
	for _, text := range vectors.Inputs(f, "bitcoin", "signed_psbt", "psbt") {
		f.Add(text)
	}
	f.Add("cHNidP8=")
	f.Add("70736274ff")
	f.Fuzz(func(t *testing.T, text string) {
		u, err := Parse(text)
		if err == nil {
			fuzzSigned(t, u)
		}
	})
}

// Bytes change more of a PSBT than characters do. The seeds are those of all
// wallet types in both versions, and those of wallets with scripts.
func FuzzDecodePSBT(f *testing.F) {
	eachWallet(func(typ bitcoin.AddressType, vault bool) {
		p, a := handedOut(f, typ, vault)
		f.Add([]byte(closePSBT(f, p)))
		signWith(f, p, len(a.Template.Inputs), testKey(), txscript.SigHashAll)
		f.Add([]byte(closePSBT(f, p)))
		f.Add(toV2(f, p, false))
		f.Add(toV2(f, p, true))
		finishWith(f, p, len(a.Template.Inputs))
		f.Add([]byte(closePSBT(f, p)))
	})
	for _, text := range vectors.Inputs(f, "bitcoin", "signed_psbt", "psbt") {
		if raw, err := decodePSBTText(text); err == nil {
			f.Add(raw)
		}
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		u, err := decodePSBT(raw)
		if err == nil {
			fuzzSigned(t, u)
		}
	})
}

func BenchmarkFundedPSBT(b *testing.B) {
	w := testWallet(b, bitcoin.P2WPKH)
	template := testTemplate(b, testAddress(b, bitcoin.P2TR), testAddress(b, bitcoin.P2WPKH))
	template.Outputs[2].Value = 300_000
	for _, n := range []int{10, 1000} {
		list := benchCoins(n)
		b.Run(itoa(int64(n)), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				f := trial.Must(Fund(template, w, list, 3.25, Cheapest))(b)
				if _, err := f.PSBT(nil); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkCheckSigned(b *testing.B) {
	for _, typ := range []bitcoin.AddressType{bitcoin.P2PKH, bitcoin.P2SH, bitcoin.P2WPKH, bitcoin.P2TR} {
		b.Run(typ.String(), func(b *testing.B) {
			p, a := handedOut(b, typ, false)
			signWith(b, p, 0, testKey(), txscript.SigHashAll)
			text := closePSBT(b, p).Hex()
			b.ReportAllocs()
			for b.Loop() {
				u := trial.Must(Parse(text))(b)
				if _, err := u.Check(a); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
	b.Run("100 inputs", func(b *testing.B) {
		template := PaymentTemplate(testAddress(b, bitcoin.P2WPKH).Script(), 900_000)
		var list []Coin
		for i := range 100 {
			list = append(list, Coin{OutPoint: bitcoin.OutPoint{Index: uint32(i)}, Value: 10_000})
		}
		f := trial.Must(Fund(template, testWallet(b, bitcoin.P2WPKH), list, 2, Cheapest))(b)
		funded := trial.Must(f.PSBT(nil))(b)
		p := openPSBT(b, funded.PSBT)
		signWith(b, p, 0, testKey(), txscript.SigHashAll)
		text := closePSBT(b, p).Hex()
		for b.Loop() {
			u := trial.Must(Parse(text))(b)
			if _, err := u.Check(Agreement{Template: template}); err != nil {
				b.Fatal(err)
			}
		}
	})
}
