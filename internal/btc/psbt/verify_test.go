package psbt

import (
	"bytes"
	"strings"
	"testing"

	"github.com/btcsuite/btcd/txscript"
	"github.com/btcsuite/btcd/wire"

	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/internal/trial"
)

// Scripts that need no signature, dressed up as what is checked by the last byte of
// a signature: all of them let everybody change the transaction.
func TestSignedByNobodyInDisguise(t *testing.T) {
	like := append(bytes.Repeat([]byte{7}, 63), byte(txscript.SigHashAll)) // what a signature may look like
	drop := []byte{txscript.OP_DROP, txscript.OP_TRUE}
	nested := p2wsh(drop)
	push := []byte{txscript.OP_DATA_2, 5, byte(txscript.SigHashAll)} // a script that ends as a signature does
	whole := append(bytes.Repeat([]byte{txscript.OP_NOP}, 63), txscript.OP_TRUE)
	redeem := append(bytes.Repeat([]byte{txscript.OP_NOP}, 21), txscript.OP_TRUE)
	leaf := txscript.NewBaseTapLeaf(drop)
	tree := txscript.AssembleTaprootScriptTree(leaf)
	root := tree.RootNode.TapHash()
	taproot := trial.Must(txscript.PayToTaprootScript(txscript.ComputeTaprootOutputKey(testKey().PubKey(), root[:])))(t)
	block := tree.LeafMerkleProofs[0].ToControlBlock(testKey().PubKey())
	control := trial.Must(block.ToBytes())(t)
	for name, c := range map[string]struct {
		output, script []byte
		witness        wire.TxWitness
	}{
		"p2wsh of two items":                {p2wsh(drop), nil, wire.TxWitness{like, drop}},
		"nested p2wsh of two items":         {p2sh(nested), pushOf(nested), wire.TxWitness{like, drop}},
		"p2wsh of one item":                 {p2wsh(push), nil, wire.TxWitness{push}},
		"p2wsh as long as a signature":      {p2wsh(whole), nil, wire.TxWitness{whole}},
		"p2sh as long as a nested key hash": {p2sh(redeem), pushOf(redeem), nil},
		"taproot by a script":               {taproot, nil, wire.TxWitness{like, drop, control}},
	} {
		p, a := scriptWallet(t, c.output, nil, nil)
		p.Inputs[0].FinalScriptSig = c.script
		if c.witness != nil {
			p.Inputs[0].FinalScriptWitness = trial.Must(encodeWitness(c.witness))(t)
		}
		if s, err := submit(t, p, a); err == nil || !strings.Contains(err.Error(), "whole transaction") {
			t.Errorf("%s: %+v, error %v", name, s, err)
		}
	}
}

// Outputs that no wallet makes are refused even if their signature is sound: they
// have no address to pay back to.
func TestSignedOddOutputs(t *testing.T) {
	key := testKey()
	bare := script(t, func(b *txscript.ScriptBuilder) {
		b.AddData(key.PubKey().SerializeCompressed()).AddOp(txscript.OP_CHECKSIG)
	})
	p, a := scriptWallet(t, bare, nil, nil)
	sig := trial.Must(txscript.RawTxInSignature(p.UnsignedTx, 0, bare, txscript.SigHashAll, key))(t)
	p.Inputs[0].FinalScriptSig = pushOf(sig)
	if s, err := submit(t, p, a); err == nil || !strings.Contains(err.Error(), "unsupported type") {
		t.Errorf("a bare key: %+v, error %v", s, err)
	}
	// a segwit input with something in the legacy place is none that nodes relay
	p, a = handedOut(t, bitcoin.P2WPKH, false)
	signWith(t, p, 0, key, txscript.SigHashAll)
	finishWith(t, p, 0)
	p.Inputs[0].FinalScriptSig = []byte{txscript.OP_TRUE}
	if s, err := submit(t, p, a); err == nil {
		t.Errorf("segwit with a legacy script: %+v", s)
	}
}

func TestSigOpsLimit(t *testing.T) {
	for spare, ok := range map[int]bool{1: true, 0: false} {
		p, _ := handedOut(t, bitcoin.P2WPKH, false)
		signWith(t, p, 0, testKey(), txscript.SigHashAll)
		v := newVerifier(p.UnsignedTx, witnessOutputs(p))
		v.sigOps = maxSigOps - spare // the input's one check costs 1
		pair := wire.TxWitness{p.Inputs[0].PartialSigs[0].Signature, p.Inputs[0].PartialSigs[0].PubKey}
		if err := v.sign(0, unlock{witness: pair}); (err == nil) != ok || err != nil && !strings.Contains(err.Error(), "too many") {
			t.Errorf("%d to spare: %v", spare, err)
		}
	}
}
