package psbt

import (
	"bytes"
	"crypto/sha256"
	"maps"
	"strings"
	"testing"

	"github.com/btcsuite/btcd/btcec/v2"
	"github.com/btcsuite/btcd/btcutil/psbt"
	"github.com/btcsuite/btcd/txscript"
	"github.com/btcsuite/btcd/wire"

	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/internal/btc/rawtx"
	"github.com/swapper-go/swapper/internal/trial"
)

// Wallets of other kinds than ours to fund from may fill raw PSBTs.
func scriptWallet(t *testing.T, output, redeem, witness []byte) (*psbt.Packet, Agreement) {
	t.Helper()
	template := PaymentTemplate(testAddress(t, bitcoin.P2WPKH).Script(), 90_000)
	parent := wire.NewMsgTx(2)
	parent.AddTxIn(&wire.TxIn{})
	parent.AddTxOut(wire.NewTxOut(100_000, output))
	p := trial.Must(template.packet())(t)
	p.UnsignedTx.AddTxIn(&wire.TxIn{PreviousOutPoint: bitcoin.OutPoint{Hash: parent.TxHash()}})
	p.Inputs = append(p.Inputs, psbt.PInput{NonWitnessUtxo: parent, RedeemScript: redeem, WitnessScript: witness})
	return p, Agreement{Template: template}
}

func script(t *testing.T, build func(*txscript.ScriptBuilder)) []byte {
	t.Helper()
	b := txscript.NewScriptBuilder()
	build(b)
	return trial.Must(b.Script())(t)
}

func p2wsh(witness []byte) []byte {
	h := sha256.Sum256(witness)
	return append([]byte{0x00, 0x20}, h[:]...)
}

func p2sh(redeem []byte) []byte {
	return append(append([]byte{0xa9, 0x14}, hash160(redeem)...), 0x87)
}

func keys() (a, b *btcec.PrivateKey) {
	h := sha256.Sum256([]byte("second"))
	b, _ = btcec.PrivKeyFromBytes(h[:])
	return testKey(), b
}

func TestSignedMultisig(t *testing.T) {
	k1, k2 := keys()
	two := script(t, func(b *txscript.ScriptBuilder) {
		b.AddInt64(2).AddData(k1.PubKey().SerializeCompressed()).AddData(k2.PubKey().SerializeCompressed()).AddInt64(2).AddOp(txscript.OP_CHECKMULTISIG)
	})
	kinds := map[string]struct{ output, redeem, witness []byte }{
		"p2wsh":      {p2wsh(two), nil, two},
		"p2sh-p2wsh": {p2sh(p2wsh(two)), p2wsh(two), two},
		"p2sh":       {p2sh(two), two, nil},
	}
	for name, k := range kinds {
		for _, c := range []struct {
			name string
			hash [2]txscript.SigHashType
			ok   bool
		}{
			{"all", [2]txscript.SigHashType{1, 1}, true},
			{"none", [2]txscript.SigHashType{2, 2}, false},
			{"single", [2]txscript.SigHashType{3, 3}, false},
			{"anyonecanpay", [2]txscript.SigHashType{0x81, 0x81}, false},
			{"one of them none", [2]txscript.SigHashType{1, 2}, false},
		} {
			t.Run(name+" "+c.name, func(t *testing.T) {
				p, a := scriptWallet(t, k.output, k.redeem, k.witness)
				sign := func(key *btcec.PrivateKey, hash txscript.SigHashType) {
					prev := p.Inputs[0].NonWitnessUtxo.TxOut[0]
					fetcher := txscript.NewCannedPrevOutputFetcher(prev.PkScript, prev.Value)
					var sig []byte
					var err error
					if k.witness != nil {
						sig, err = txscript.RawTxInWitnessSignature(p.UnsignedTx, txscript.NewTxSigHashes(p.UnsignedTx, fetcher), 0, prev.Value, two, hash, key)
					} else {
						sig, err = txscript.RawTxInSignature(p.UnsignedTx, 0, two, hash, key)
					}
					if err != nil {
						t.Fatal(err)
					}
					p.Inputs[0].PartialSigs = append(p.Inputs[0].PartialSigs, &psbt.PartialSig{PubKey: key.PubKey().SerializeCompressed(), Signature: sig})
				}
				sign(k1, c.hash[0])
				if s, err := submit(t, p, a); err == nil {
					t.Fatalf("accepted with one of two signatures: %+v", s)
				}
				sign(k2, c.hash[1])
				s, err := submit(t, p, a)
				if (err == nil) != c.ok {
					t.Fatalf("%+v, error %v", s, err)
				}
				if !c.ok {
					return
				}
				// finished by the wallet: the same
				u := trial.Must(Parse(closePSBT(t, p).Hex()))(t)
				u.inputs[0] = psbt.PInput{NonWitnessUtxo: p.Inputs[0].NonWitnessUtxo, FinalScriptSig: s.Tx.TxIn[0].SignatureScript}
				if w := s.Tx.TxIn[0].Witness; len(w) > 0 {
					u.inputs[0].FinalScriptWitness = trial.Must(encodeWitness(w))(t)
				}
				if again, err := u.Check(a); err != nil || again.ID != s.ID {
					t.Errorf("finished: %+v, error %v", again, err)
				}
			})
		}
	}
}

// A script that needs no signature lets everybody change the transaction.
func TestSignedByNobody(t *testing.T) {
	anyone := []byte{txscript.OP_TRUE}
	p, a := scriptWallet(t, p2wsh(anyone), nil, nil)
	p.Inputs[0].FinalScriptWitness = []byte{1, 1, txscript.OP_TRUE}
	if s, err := submit(t, p, a); err == nil || !strings.Contains(err.Error(), "whole transaction") {
		t.Errorf("p2wsh of OP_TRUE: %+v, error %v", s, err)
	}
	p, a = scriptWallet(t, anyone, nil, nil)
	p.Inputs[0].FinalScriptSig = []byte{}
	if s, err := submit(t, p, a); err == nil {
		t.Errorf("bare OP_TRUE: %+v", s)
	}
	// finished NONE by a wallet with a script of its own
	key := testKey()
	own := script(t, func(b *txscript.ScriptBuilder) {
		b.AddData(key.PubKey().SerializeCompressed()).AddOp(txscript.OP_CHECKSIG)
	})
	for hash, ok := range map[txscript.SigHashType]bool{txscript.SigHashAll: true, txscript.SigHashNone: false, txscript.SigHashSingle: false, 0x81: false} {
		p, a = scriptWallet(t, p2wsh(own), nil, nil)
		fetcher := txscript.NewCannedPrevOutputFetcher(p2wsh(own), 100_000)
		sig := trial.Must(txscript.RawTxInWitnessSignature(p.UnsignedTx, txscript.NewTxSigHashes(p.UnsignedTx, fetcher), 0, 100_000, own, hash, key))(t)
		p.Inputs[0].FinalScriptWitness = trial.Must(encodeWitness(wire.TxWitness{sig, own}))(t)
		if s, err := submit(t, p, a); (err == nil) != ok {
			t.Errorf("hash type %d: %+v, error %v", hash, s, err)
		}
	}
}

// protocol: bitcoin.md §11, the trap: package psbt puts the signature of a segwit
// input that names only its parent transaction into the wrong place.
func TestSignedSegwitWithParentOnly(t *testing.T) {
	for _, typ := range []bitcoin.AddressType{bitcoin.P2WPKH, bitcoin.P2SH, bitcoin.P2TR} {
		p, a := handedOut(t, typ, true)
		signWith(t, p, 1, testKey(), txscript.SigHashAll)
		want := trial.Must(submit(t, p, a))(t)
		parent := wire.NewMsgTx(2)
		parent.AddTxIn(&wire.TxIn{})
		parent.AddTxOut(wire.NewTxOut(100_000, testAddress(t, typ).Script()))
		parent.AddTxOut(wire.NewTxOut(50_000, testAddress(t, typ).Script()))
		for i := 1; i < len(p.Inputs); i++ {
			p.Inputs[i].WitnessUtxo, p.Inputs[i].NonWitnessUtxo = nil, parent
			p.Inputs[i].RedeemScript = nil // can be told from the signature's key
		}
		a.Prevouts = nil
		got, err := submit(t, p, a)
		if err != nil || got.ID != want.ID || !bytes.Equal(got.PSBT, want.PSBT) {
			t.Errorf("%s: %+v, error %v", typ, got, err)
		}
	}
}

// A taproot signature whose input asks for ALL may lack its last byte, or be whole with
// the 64 bytes of DEFAULT.
func TestSignedTaprootAll(t *testing.T) {
	for _, c := range []struct {
		hash       txscript.SigHashType
		size, want int
	}{{txscript.SigHashAll, 65, 65}, {txscript.SigHashAll, 64, 65}, {txscript.SigHashDefault, 64, 64}} {
		p, a := handedOut(t, bitcoin.P2TR, false)
		spent, fetcher := spentBy(t, p)
		hashes := txscript.NewTxSigHashes(p.UnsignedTx, fetcher)
		for i := range p.Inputs {
			sig := trial.Must(txscript.RawTxInTaprootSignature(p.UnsignedTx, hashes, i, spent[i].Value, spent[i].PkScript, nil, c.hash, testKey()))(t)
			p.Inputs[i].SighashType, p.Inputs[i].TaprootKeySpendSig = txscript.SigHashAll, sig[:c.size]
		}
		if s, err := submit(t, p, a); err != nil || len(s.Tx.TxIn[0].Witness[0]) != c.want {
			t.Errorf("type %x, %d bytes: %+v, error %v", c.hash, c.size, s, err)
		}
	}
}

// Many expensive scripts must not keep us busy.
func TestSignedSigOpsAreBounded(t *testing.T) {
	checks := script(t, func(b *txscript.ScriptBuilder) {
		for range 190 {
			b.AddOp(txscript.OP_CHECKSIG)
		}
	})
	template := PaymentTemplate(testAddress(t, bitcoin.P2WPKH).Script(), 90_000)
	p := trial.Must(template.packet())(t)
	witness := trial.Must(encodeWitness(wire.TxWitness{{}, {}, checks}))(t)
	for i := range 100 {
		p.UnsignedTx.AddTxIn(&wire.TxIn{PreviousOutPoint: bitcoin.OutPoint{Index: uint32(i)}})
		p.Inputs = append(p.Inputs, psbt.PInput{WitnessUtxo: wire.NewTxOut(100_000, p2wsh(checks)), FinalScriptWitness: witness})
	}
	if s, err := submit(t, p, Agreement{Template: template}); err == nil {
		t.Errorf("accepted: %+v", s)
	}
}

func witnessOutputs(p *psbt.Packet) []*wire.TxOut {
	var list []*wire.TxOut
	for i := range p.Inputs {
		list = append(list, p.Inputs[i].WitnessUtxo)
	}
	return list
}

func TestParsePSBTRefusals(t *testing.T) {
	p, _ := handedOut(t, bitcoin.P2WPKH, false)
	good := closePSBT(t, p)
	v2 := toV2(t, p, false)
	if _, err := Parse(good.Hex()); err != nil {
		t.Fatal(err)
	}
	insert := func(b []byte, at int, what ...byte) string {
		return PSBT(append(append(append([]byte{}, b[:at]...), what...), b[at:]...)).Hex()
	}
	raw := trial.Must(rawtx.Encode(p.UnsignedTx))(t)
	afterGlobal := 5 + 2 + 1 + len(raw) // magic, key, length below 0xfd, transaction
	for name, text := range map[string]string{
		"empty":                      "",
		"odd hex":                    good.Hex()[1:],
		"space":                      " " + good.Hex(),
		"line end in base64":         good.Base64()[:8] + "\n" + good.Base64()[8:],
		"base64 without padding":     strings.TrimRight(good.Base64(), "=") + "A",
		"raw transaction":            PSBT(raw).Hex(),
		"magic only":                 PSBT(psbtMagic).Hex(),
		"byte after the end":         good.Hex() + "00",
		"truncated":                  good.Hex()[:len(good.Hex())-2],
		"truncated v2":               PSBT(v2).Hex()[:2*len(v2)-2],
		"byte after the end of v2":   PSBT(v2).Hex() + "00",
		"transaction twice":          insert(good, 5, good[5:afterGlobal]...),
		"version 1":                  insert(good, afterGlobal, 1, 0xfb, 4, 1, 0, 0, 0),
		"version 2 with transaction": insert(good, afterGlobal, 1, 0xfb, 4, 2, 0, 0, 0),
		"version of three bytes":     insert(good, afterGlobal, 1, 0xfb, 3, 0, 0, 0),
		"loose length":               insert(good, afterGlobal, 0xfd, 1, 0),
		"v2 without counts":          "70736274ff01fb040200000000",
		"v2 with huge counts":        "70736274ff01fb0402000000010403fdffff010503fdffff00",
		"far too long":               strings.Repeat("00", maxSize+1),
	} {
		t.Run(name, func(t *testing.T) {
			if u, err := Parse(text); err == nil {
				t.Errorf("read: %+v", u)
			}
		})
	}
	if u, err := Parse(insert(good, afterGlobal, 1, 0xfb, 4, 0, 0, 0, 0)); err != nil || u.tx.TxHash() != p.UnsignedTx.TxHash() {
		t.Errorf("explicit version 0: %v", err)
	}
	// lower-case and upper-case hex that is base64 too is hex
	if _, err := Parse(strings.ToUpper(good.Hex())); err != nil {
		t.Error(err)
	}
}

func TestPSBT2LockTime(t *testing.T) {
	field := func(key byte, n uint32) psbtMap {
		return psbtMap{string([]byte{key}): {byte(n), byte(n >> 8), byte(n >> 16), byte(n >> 24)}}
	}
	both := field(psbt2InLockTime, 600_000_000)
	maps.Copy(both, field(psbt2InLockHeight, 20))
	for name, c := range map[string]struct {
		inputs []psbtMap
		want   uint32
		ok     bool
	}{
		"nobody asks":      {[]psbtMap{{}}, 7, true},
		"height":           {[]psbtMap{field(psbt2InLockHeight, 10), {}, field(psbt2InLockHeight, 9)}, 10, true},
		"time":             {[]psbtMap{field(psbt2InLockTime, 500_000_001)}, 500_000_001, true},
		"either":           {[]psbtMap{both}, 20, true},
		"either and time":  {[]psbtMap{both, field(psbt2InLockTime, 500_000_000)}, 600_000_000, true},
		"height and time":  {[]psbtMap{field(psbt2InLockHeight, 10), field(psbt2InLockTime, 500_000_000)}, 0, false},
		"time as height":   {[]psbtMap{field(psbt2InLockHeight, 500_000_000)}, 0, false},
		"height as time":   {[]psbtMap{field(psbt2InLockTime, 499_999_999)}, 0, false},
		"field of 3 bytes": {[]psbtMap{{string([]byte{psbt2InLockTime}): {1, 2, 3}}}, 0, false},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := psbt2LockTime(field(psbt2FallbackLockTime, 7), c.inputs)
			if (err == nil) != c.ok || err == nil && got != c.want {
				t.Errorf("%d, error %v; want %d", got, err, c.want)
			}
		})
	}
}
