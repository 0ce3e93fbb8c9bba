package psbt

import (
	"encoding/binary"
	"testing"

	"github.com/btcsuite/btcd/btcec/v2"
	"github.com/btcsuite/btcd/txscript"
	"github.com/btcsuite/btcd/wire"

	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/internal/trial"
)

// A signature that signs no output is found however the script around it is written,
// also where the byte behind its apparent length is the one of SIGHASH_ALL.
func TestWeakSignatureInAnUnusualScript(t *testing.T) {
	for name, before := range map[string][]byte{
		"as usual":                nil,
		"something that is taken": {txscript.OP_1, txscript.OP_DROP},
		"a branch not taken":      {txscript.OP_0, txscript.OP_IF, txscript.OP_ENDIF},
		"nothing":                 {txscript.OP_NOP},
	} {
		t.Run(name, func(t *testing.T) {
			for kind, want := range map[txscript.SigHashType]bool{txscript.SigHashNone: false, txscript.SigHashAll: before == nil} {
				found := false
				for try := range uint32(3000) {
					var seed [32]byte
					binary.BigEndian.PutUint32(seed[28:], try+1)
					key, _ := btcec.PrivKeyFromBytes(seed[:])
					pub := key.PubKey().SerializeCompressed()
					out := append(append([]byte{txscript.OP_DUP, txscript.OP_HASH160, 20}, hash160(pub)...), txscript.OP_EQUALVERIFY, txscript.OP_CHECKSIG)
					p, a := scriptWallet(t, out, nil, nil)
					sig := trial.Must(txscript.RawTxInSignature(p.UnsignedTx, 0, out, kind, key))(t)
					script := append(append(append([]byte(nil), before...), pushOf(sig)...), pushOf(pub)...)
					end := int(script[0])
					if before != nil && (end >= len(script) || end > 0 && script[end] != byte(txscript.SigHashAll)) {
						continue // the key is of no use
					}
					found = true
					p.Inputs[0].FinalScriptSig = script
					tx, err := submit(t, p, a)
					if (err == nil) != want {
						t.Errorf("signed with type %d: %v, %v", kind, tx != nil, err)
					}
					break
				}
				if !found {
					t.Error("no key puts the byte where it would be mistaken")
				}
			}
		})
	}
}

// Whatever a wallet finished a legacy input with is refused or accepted, and ends
// nothing.
func FuzzLegacyScripts(f *testing.F) {
	key := testKey()
	pub := key.PubKey().SerializeCompressed()
	out := append(append([]byte{txscript.OP_DUP, txscript.OP_HASH160, 20}, hash160(pub)...), txscript.OP_EQUALVERIFY, txscript.OP_CHECKSIG)
	parent := wire.NewMsgTx(2)
	parent.AddTxIn(&wire.TxIn{})
	parent.AddTxOut(wire.NewTxOut(100_000, out))
	tx := wire.NewMsgTx(2)
	tx.AddTxIn(&wire.TxIn{PreviousOutPoint: bitcoin.OutPoint{Hash: parent.TxHash()}})
	tx.AddTxOut(wire.NewTxOut(90_000, out))
	sig := trial.Must(txscript.RawTxInSignature(tx, 0, out, txscript.SigHashAll, key))(f)
	good := append(pushOf(sig), pushOf(pub)...)
	f.Add(good, []byte(nil))
	f.Add(append([]byte{txscript.OP_1, txscript.OP_DROP}, good...), []byte(nil))
	f.Add(append([]byte{txscript.OP_PUSHDATA1}, good...), []byte(nil))
	f.Add([]byte{75}, sig)
	f.Add([]byte{}, []byte{1})
	f.Fuzz(func(t *testing.T, script, item []byte) {
		for _, typ := range [][]byte{out, p2sh(script), testAddress(t, bitcoin.P2WPKH).Script(), testAddress(t, bitcoin.P2TR).Script()} {
			v := newVerifier(tx.Copy(), []*wire.TxOut{wire.NewTxOut(100_000, typ)})
			for _, l := range []unlock{{script: script}, {script: script, witness: wire.TxWitness{item}}, {script: script, witness: wire.TxWitness{item, item}}, {witness: wire.TxWitness{item, script}}} {
				_ = v.signsAll(0, l)
				_ = l.segwit(typ)
				if v.sign(0, l) == nil && string(typ) == string(out) && string(script) != string(good) {
					t.Errorf("another script than that of the signature is accepted: %x", script)
				}
			}
		}
	})
}
