package psbt

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/btcsuite/btcd/btcec/v2"
	"github.com/btcsuite/btcd/btcutil/psbt"
	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/txscript"
	"github.com/btcsuite/btcd/wire"

	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/internal/trial"
)

const testRate = 5

// handedOut is a funded PSBT of two wallet inputs, and what it must come back as.
func handedOut(t testing.TB, typ bitcoin.AddressType, vault bool) (*psbt.Packet, Agreement) {
	t.Helper()
	template := PaymentTemplate(testAddress(t, bitcoin.P2WPKH).Script(), 110_000)
	if vault {
		template = testTemplate(t, testAddress(t, bitcoin.P2TR), testAddress(t, bitcoin.P2WPKH))
		template.Outputs[2].Value = 110_000
	}
	w := testWallet(t, typ)
	parent := wire.NewMsgTx(2)
	parent.AddTxIn(&wire.TxIn{})
	parent.AddTxOut(wire.NewTxOut(100_000, w.Address().Script()))
	parent.AddTxOut(wire.NewTxOut(50_000, w.Address().Script()))
	id := parent.TxHash()
	f := trial.Must(Fund(template, w, []Coin{{OutPoint: bitcoin.OutPoint{Hash: id}, Value: 100_000}, {OutPoint: bitcoin.OutPoint{Hash: id, Index: 1}, Value: 50_000}}, testRate, Cheapest))(t)
	p := trial.Must(f.PSBT(map[bitcoin.Hash]*wire.MsgTx{id: parent}))(t)
	if len(p.SignInputs) != 2 || f.Change == 0 {
		t.Fatalf("%d inputs, change %d", len(p.SignInputs), f.Change)
	}
	return openPSBT(t, p.PSBT), Agreement{
		Template: template, MinFeeRate: testRate, MaxFeeRate: QuoteFeeRateCap(testRate),
		Prevouts: map[bitcoin.OutPoint]*wire.TxOut{{Hash: id}: parent.TxOut[0], {Hash: id, Index: 1}: parent.TxOut[1]},
	}
}

// eachWallet does f for a payment and a vault swap of every type of wallet that can fund it.
func eachWallet(f func(typ bitcoin.AddressType, vault bool)) {
	for _, typ := range []bitcoin.AddressType{bitcoin.P2PKH, bitcoin.P2SH, bitcoin.P2WPKH, bitcoin.P2TR} {
		f(typ, false)
		if typ != bitcoin.P2PKH {
			f(typ, true)
		}
	}
}

func submit(t testing.TB, p *psbt.Packet, a Agreement) (*SignedTx, error) {
	t.Helper()
	u, err := Parse(closePSBT(t, p).Base64())
	if err != nil {
		return nil, err
	}
	return u.Check(a)
}

// Every wallet type, for payments and vault swaps, signed, finished by the wallet
// in part or in whole, and in version 2, gives the same transaction.
func TestSignedRoundTrip(t *testing.T) {
	eachWallet(func(typ bitcoin.AddressType, vault bool) {
		name := typ.String() + map[bool]string{true: " vault", false: " payment"}[vault]
		t.Run(name, func(t *testing.T) {
			p, a := handedOut(t, typ, vault)
			own := len(a.Template.Inputs)
			signWith(t, p, own, testKey(), txscript.SigHashAll)
			want := trial.Must(submit(t, p, a))(t)
			if vault != (want.PSBT != nil) {
				t.Errorf("PSBT to post: %v", want.PSBT != nil)
			}
			if got := senderOf(t, want, a.Template, bitcoin.Regtest); got != testAddress(t, typ).String() {
				t.Errorf("sender %s", got)
			}
			same := func(name string, text string) {
				t.Helper()
				u, err := Parse(text)
				if err != nil {
					t.Errorf("%s: %v", name, err)
					return
				}
				if id, ok := u.TxID(nil); !ok || id != want.ID {
					t.Errorf("%s: id %s, %v; want %s", name, id, ok, want.ID)
				}
				got, err := u.Check(a)
				if err != nil {
					t.Errorf("%s: %v", name, err)
					return
				}
				if got.ID != want.ID || !bytes.Equal(got.PSBT, want.PSBT) || got.Fee != want.Fee || got.VSize != want.VSize {
					t.Errorf("%s: got %+v, want %+v", name, got, want)
				}
			}
			same("v2", PSBT(toV2(t, p, false)).Hex())
			same("v2, display order", PSBT(toV2(t, p, true)).Base64())
			trial.Do(t, psbt.Finalize(p, own))
			same("one finished", closePSBT(t, p).Hex())
			finishWith(t, p, own+1)
			same("finished", closePSBT(t, p).Hex())
			same("finished v2", PSBT(toV2(t, p, false)).Hex())
			// what the provider does with it
			if vault {
				out := openPSBT(t, want.PSBT)
				if vaultKey := testKey(); !vaultSigned(t, out, vaultKey) {
					t.Error("not complete after the provider's signature")
				}
			}
		})
	})
}

func TestSignedAttacks(t *testing.T) {
	evil := []byte{0x00, 0x14, 19: 1, 21: 2}
	otherKey := func() *btcec.PrivateKey {
		k, _ := btcec.PrivKeyFromBytes(chainhash.HashB([]byte("other")))
		return k
	}()
	type attack struct {
		vault   bool
		typ     bitcoin.AddressType
		before  func(*psbt.Packet, *Agreement) // the wallet signs what is changed here
		hash    txscript.SigHashType           // 0: ALL
		key     *btcec.PrivateKey
		finish  bool
		after   func(*psbt.Packet, *Agreement)
		because string // part of the message
	}
	for name, c := range map[string]attack{
		"unsigned": {typ: bitcoin.P2WPKH, after: func(p *psbt.Packet, _ *Agreement) { p.Inputs[1].PartialSigs = nil }, because: "not signed"},
		"payment of less": {typ: bitcoin.P2WPKH, before: func(p *psbt.Packet, _ *Agreement) {
			p.UnsignedTx.TxOut[0].Value--
		}, because: "output 0"},
		"payment to somebody else": {typ: bitcoin.P2WPKH, before: func(p *psbt.Packet, _ *Agreement) {
			p.UnsignedTx.TxOut[0].PkScript = evil
		}, because: "output 0"},
		"payment behind the change": {typ: bitcoin.P2WPKH, before: func(p *psbt.Packet, _ *Agreement) {
			slices.Reverse(p.UnsignedTx.TxOut)
		}, because: "output 0"},
		"no outputs but the change": {typ: bitcoin.P2WPKH, before: func(p *psbt.Packet, _ *Agreement) {
			p.UnsignedTx.TxOut, p.Outputs = p.UnsignedTx.TxOut[1:], p.Outputs[1:]
		}, because: "output 0"},
		"changed after signing": {typ: bitcoin.P2WPKH, after: func(p *psbt.Packet, _ *Agreement) {
			p.UnsignedTx.TxOut[1].PkScript = evil
		}, because: "invalid signature"},
		"changed after finishing": {typ: bitcoin.P2TR, finish: true, after: func(p *psbt.Packet, _ *Agreement) {
			p.UnsignedTx.TxOut[1].PkScript = evil
		}, because: "invalid signature"},
		"signed by somebody else":         {typ: bitcoin.P2WPKH, key: otherKey, because: "invalid signature"},
		"taproot signed by somebody else": {typ: bitcoin.P2TR, key: otherKey, because: "invalid signature"},
		"fee takes the change": {typ: bitcoin.P2WPKH, before: func(p *psbt.Packet, _ *Agreement) {
			p.UnsignedTx.TxOut[1].Value = 300
		}, because: "above the allowed"},
		"fee too low": {typ: bitcoin.P2WPKH, before: func(p *psbt.Packet, _ *Agreement) {
			p.UnsignedTx.TxOut[1].Value += 600
		}, because: "required"},
		"outputs above inputs": {typ: bitcoin.P2WPKH, before: func(p *psbt.Packet, _ *Agreement) {
			p.UnsignedTx.TxOut[1].Value = 1_000_000
		}, because: "leave a fee"},
		"low fee of unconfirmed parents": {typ: bitcoin.P2WPKH, after: func(p *psbt.Packet, a *Agreement) {
			a.Unconfirmed = map[bitcoin.Hash]bitcoin.CPFP{p.UnsignedTx.TxIn[0].PreviousOutPoint.Hash: {EffectiveFeeRate: 1, AdjustedVSize: 1000}}
		}, because: "required"},
		"amount misstated to hide a fee": {typ: bitcoin.P2WPKH, before: func(p *psbt.Packet, _ *Agreement) {
			p.Inputs[0].WitnessUtxo.Value -= 10_000
		}, because: "misstates"},
		"backend knows better": {typ: bitcoin.P2TR, after: func(p *psbt.Packet, a *Agreement) {
			a.Prevouts[p.UnsignedTx.TxIn[0].PreviousOutPoint] = wire.NewTxOut(100_001, testAddress(t, bitcoin.P2TR).Script())
		}, because: "misstates"},
		"other parent transaction": {typ: bitcoin.P2PKH, after: func(p *psbt.Packet, _ *Agreement) {
			tx := p.Inputs[0].NonWitnessUtxo.Copy()
			tx.TxOut[0].Value++
			p.Inputs[0].NonWitnessUtxo = tx
		}, because: "a transaction other than"},
		"parent without that output": {typ: bitcoin.P2PKH, before: func(p *psbt.Packet, a *Agreement) {
			p.UnsignedTx.TxIn = p.UnsignedTx.TxIn[:1]
			p.Inputs = p.Inputs[:1]
		}, after: func(p *psbt.Packet, _ *Agreement) { p.UnsignedTx.TxIn[0].PreviousOutPoint.Index = 7 }, because: "a transaction other than"},
		"legacy amount on the wallet's word": {typ: bitcoin.P2PKH, after: func(p *psbt.Packet, a *Agreement) {
			a.Prevouts = nil
			for i := range p.Inputs {
				p.Inputs[i].WitnessUtxo = p.Inputs[i].NonWitnessUtxo.TxOut[i]
				p.Inputs[i].NonWitnessUtxo = nil
			}
		}, because: "without the transaction"},
		"nothing says what is spent": {typ: bitcoin.P2WPKH, after: func(p *psbt.Packet, a *Agreement) {
			a.Prevouts, p.Inputs[0].WitnessUtxo = nil, nil
		}, because: "does not state"},
		"input twice": {typ: bitcoin.P2WPKH, before: func(p *psbt.Packet, _ *Agreement) {
			p.UnsignedTx.TxIn[1].PreviousOutPoint = p.UnsignedTx.TxIn[0].PreviousOutPoint
		}, because: "second time"},

		"hash type NONE":              {typ: bitcoin.P2WPKH, hash: txscript.SigHashNone, because: "whole transaction"},
		"hash type SINGLE":            {typ: bitcoin.P2SH, hash: txscript.SigHashSingle, because: "whole transaction"},
		"hash type ANYONECANPAY":      {typ: bitcoin.P2PKH, hash: txscript.SigHashAll | txscript.SigHashAnyOneCanPay, because: "whole transaction"},
		"finished NONE":               {typ: bitcoin.P2SH, hash: txscript.SigHashNone, finish: true, because: "whole transaction"},
		"finished ANYONECANPAY":       {typ: bitcoin.P2PKH, hash: txscript.SigHashAll | txscript.SigHashAnyOneCanPay, finish: true, because: "whole transaction"},
		"taproot NONE":                {typ: bitcoin.P2TR, hash: txscript.SigHashNone, because: "whole transaction"},
		"taproot SINGLE|ANYONECANPAY": {vault: true, typ: bitcoin.P2TR, hash: txscript.SigHashSingle | txscript.SigHashAnyOneCanPay, because: "whole transaction"},
		"vault SINGLE|ANYONECANPAY":   {vault: true, typ: bitcoin.P2WPKH, hash: txscript.SigHashSingle | txscript.SigHashAnyOneCanPay, because: "whole transaction"},
		"vault finished SINGLE":       {vault: true, typ: bitcoin.P2WPKH, hash: txscript.SigHashSingle, finish: true, because: "whole transaction"},
		"vault: legacy inputs": {vault: true, typ: bitcoin.P2WPKH, before: func(p *psbt.Packet, a *Agreement) {
			legacy, la := handedOut(t, bitcoin.P2PKH, false)
			a.Prevouts = la.Prevouts
			for i := range legacy.Inputs {
				p.UnsignedTx.TxIn[1+i].PreviousOutPoint = legacy.UnsignedTx.TxIn[i].PreviousOutPoint
				p.Inputs[1+i] = legacy.Inputs[i]
			}
		}, because: "legacy"},
		"vault: other vault output": {vault: true, typ: bitcoin.P2WPKH, before: func(p *psbt.Packet, _ *Agreement) {
			p.UnsignedTx.TxIn[0].PreviousOutPoint.Index++
		}, because: "input 0"},
		"vault: shares": {vault: true, typ: bitcoin.P2WPKH, before: func(p *psbt.Packet, _ *Agreement) {
			p.UnsignedTx.TxIn[0].Sequence++
		}, because: "input 0"},
		"vault: second sequence not set": {vault: true, typ: bitcoin.P2WPKH, before: func(p *psbt.Packet, _ *Agreement) {
			p.UnsignedTx.TxIn[1].Sequence = wire.MaxTxInSequenceNum
		}, because: "sequence"},
		"vault: lock time": {vault: true, typ: bitcoin.P2WPKH, before: func(p *psbt.Packet, _ *Agreement) {
			p.UnsignedTx.LockTime++
		}, because: "lock time"},
		"vault: lock time that is no salt": {vault: true, typ: bitcoin.P2WPKH, before: func(p *psbt.Packet, a *Agreement) {
			p.UnsignedTx.LockTime, a.AnySalt = 3_400_000_000, true
		}, because: "lock time"},
		"vault: version": {vault: true, typ: bitcoin.P2WPKH, before: func(p *psbt.Packet, _ *Agreement) {
			p.UnsignedTx.Version = 3
		}, because: "version"},
		"vault: recipient": {vault: true, typ: bitcoin.P2WPKH, before: func(p *psbt.Packet, _ *Agreement) {
			p.UnsignedTx.TxOut[1].PkScript[5] ^= 1
		}, because: "output 1"},
		"vault: money in the data output": {vault: true, typ: bitcoin.P2WPKH, before: func(p *psbt.Packet, _ *Agreement) {
			p.UnsignedTx.TxOut[1].Value = 1
		}, because: "output 1"},
		"vault: provider's payment": {vault: true, typ: bitcoin.P2WPKH, before: func(p *psbt.Packet, _ *Agreement) {
			p.UnsignedTx.TxOut[2].Value--
		}, because: "output 2"},
		"vault: below what anybody takes": {vault: true, typ: bitcoin.P2WPKH, before: func(p *psbt.Packet, a *Agreement) {
			p.UnsignedTx.TxOut[3].Value += 1400
			a.MinFeeRate = 0
		}, because: "required 1 sat"},
		"vault: no wallet input": {vault: true, typ: bitcoin.P2WPKH, before: func(p *psbt.Packet, _ *Agreement) {
			p.UnsignedTx.TxIn, p.Inputs = p.UnsignedTx.TxIn[:1], p.Inputs[:1]
		}, because: "no input of the wallet"},
		"vault: outputs missing": {vault: true, typ: bitcoin.P2WPKH, before: func(p *psbt.Packet, _ *Agreement) {
			p.UnsignedTx.TxOut, p.Outputs = p.UnsignedTx.TxOut[:2], p.Outputs[:2]
		}, because: "agreed outputs"},
		"vault: input of the vault misstated": {vault: true, typ: bitcoin.P2TR, before: func(p *psbt.Packet, _ *Agreement) {
			p.Inputs[0].WitnessUtxo.Value = 700 // a taproot signature covers what all inputs spend
		}, because: "invalid signature"},
		"vault: does not fit into a request": {vault: true, typ: bitcoin.P2WPKH, before: func(p *psbt.Packet, _ *Agreement) {
			for range 40 {
				p.UnsignedTx.AddTxOut(wire.NewTxOut(300, bytes.Repeat([]byte{0x51}, 80)))
				p.Outputs = append(p.Outputs, psbt.POutput{})
			}
			p.UnsignedTx.TxOut[3].Value = 1000
		}, after: func(_ *psbt.Packet, a *Agreement) { a.MinFeeRate = 0 }, because: "use fewer inputs"},
	} {
		t.Run(name, func(t *testing.T) {
			p, a := handedOut(t, c.typ, c.vault)
			if c.before != nil {
				c.before(p, &a)
			}
			if c.key == nil {
				c.key = testKey()
			}
			if c.hash == 0 {
				c.hash = txscript.SigHashAll
			}
			signWith(t, p, len(a.Template.Inputs), c.key, c.hash)
			if c.finish {
				finishWith(t, p, len(a.Template.Inputs))
			}
			if c.after != nil {
				c.after(p, &a)
			}
			s, err := submit(t, p, a)
			if err == nil {
				t.Fatalf("accepted: %+v", s)
			}
			if fault.CodeOf(err) != fault.InvalidInput || !strings.Contains(err.Error(), c.because) {
				t.Errorf("refused with code %s: %v; want a word about %q", fault.CodeOf(err), err, c.because)
			}
		})
	}
}

// vaultSigned does what the provider does with a posted PSBT: it signs input 0
// and takes the transaction, whose scripts must all verify.
func vaultSigned(t *testing.T, p *psbt.Packet, key *btcec.PrivateKey) bool {
	t.Helper()
	spent, fetcher := spentBy(t, p)
	hashes := txscript.NewTxSigHashes(p.UnsignedTx, fetcher)
	sig := trial.Must(txscript.RawTxInTaprootSignature(p.UnsignedTx, hashes, 0, spent[0].Value, spent[0].PkScript, nil, txscript.SigHashDefault, key))(t)
	p.Inputs[0].TaprootKeySpendSig = sig
	trial.Do(t, psbt.Finalize(p, 0))
	tx := trial.Must(psbt.Extract(p))(t)
	for i, out := range spent {
		e, err := txscript.NewEngine(out.PkScript, tx, i, txscript.StandardVerifyFlags, nil, hashes, out.Value, fetcher)
		if err != nil || e.Execute() != nil {
			return false
		}
	}
	return true
}

// What a wallet writes to the input of somebody else, the vault's, changes neither the
// transaction nor the id by which it is known as one that was submitted before.
func TestScriptOnTheVaultsInputChangesNoID(t *testing.T) {
	p, a := handedOut(t, bitcoin.P2SH, true)
	signWith(t, p, len(a.Template.Inputs), testKey(), txscript.SigHashAll)
	finishWith(t, p, len(a.Template.Inputs))
	for _, script := range [][]byte{nil, p.Inputs[1].FinalScriptSig} {
		p.Inputs[0].FinalScriptSig = script
		u := trial.Must(decodePSBT(closePSBT(t, p)))(t)
		s := trial.Must(u.Check(a))(t)
		if id, known := u.TxID(nil); !known || id != s.ID {
			t.Errorf("script of %d bytes: id %s before the check, %v, and %s after it", len(script), id, known, s.ID)
		}
	}
}
