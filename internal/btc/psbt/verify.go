package psbt

import (
	"errors"
	"fmt"

	"github.com/btcsuite/btcd/btcec/v2/schnorr"
	"github.com/btcsuite/btcd/txscript"
	"github.com/btcsuite/btcd/wire"

	"github.com/swapper-go/swapper/chains/bitcoin"
)

// verifier runs the scripts of one transaction. Its signatures can be set while
// it is in use; the rest of the transaction cannot.
type verifier struct {
	tx       *wire.MsgTx
	prevouts []*wire.TxOut
	hashes   *txscript.TxSigHashes
	outputs  txscript.PrevOutputFetcher
	sigOps   int // cost so far

	more []*verifier // the transaction with one thing added, made when first needed
}

func newVerifier(tx *wire.MsgTx, prevouts []*wire.TxOut) *verifier {
	known := make(map[bitcoin.OutPoint]*wire.TxOut, len(prevouts))
	for i, in := range tx.TxIn {
		known[in.PreviousOutPoint] = prevouts[i]
	}
	outputs := txscript.NewMultiPrevOutFetcher(known)
	return &verifier{tx: tx, prevouts: prevouts, hashes: txscript.NewTxSigHashes(tx, outputs), outputs: outputs}
}

// run executes the script of input i with the rules that nodes relay by.
func (v *verifier) run(i int) error {
	prev := v.prevouts[i]
	e, err := txscript.NewEngine(prev.PkScript, v.tx, i, txscript.StandardVerifyFlags, nil, v.hashes, prev.Value, v.outputs)
	if err != nil {
		return err
	}
	return e.Execute()
}

// maxSigOps is the cost of signature checks in one transaction that nodes relay,
// in units of a quarter of a legacy check. Scripts that make more would keep us busy.
const maxSigOps = 16_000

// sign sets what input i proves its right with, and verifies it. A signature script
// that does more than push is relayed by no node, and could hide which bytes of it
// are the signature.
func (v *verifier) sign(i int, l unlock) error {
	if !txscript.IsPushOnlyScript(l.script) {
		return errors.New("has a signature script that does more than push data")
	}
	v.tx.TxIn[i].SignatureScript, v.tx.TxIn[i].Witness = l.script, l.witness
	script := v.prevouts[i].PkScript
	v.sigOps += 4*txscript.GetPreciseSigOpCount(l.script, script, true) + txscript.GetWitnessSigOpCount(l.script, script, l.witness)
	if v.sigOps > maxSigOps {
		return errors.New("requires too many signature checks")
	}
	if err := v.run(i); err != nil {
		return fmt.Errorf("has an invalid signature: %w", err)
	}
	return v.signsAll(i, l)
}

var errWeakSignature = errors.New("does not sign the whole transaction; use SIGHASH_ALL, or SIGHASH_DEFAULT for taproot")

// signsAll checks that the verified unlock of input i is void as soon as somebody
// adds an input or an output. Signatures of weaker types would let the next one
// who holds the transaction pay himself.
func (v *verifier) signsAll(i int, l unlock) error {
	typ, _ := scriptType(v.prevouts[i].PkScript)
	switch {
	case typ == bitcoin.P2WPKH && len(l.witness) == 2, typ == bitcoin.P2SH && len(l.witness) == 2 && len(l.script) == 23:
		return endsWithAll(l.witness[0])
	case typ == bitcoin.P2PKH && len(l.script) > 0 && int(l.script[0]) < len(l.script):
		return endsWithAll(l.script[1 : 1+int(l.script[0])]) // the push of the signature, then that of the key
	case typ == bitcoin.P2TR && len(l.witness) == 1:
		if sig := l.witness[0]; len(sig) != schnorr.SignatureSize {
			return endsWithAll(sig) // the type stands at the same place
		}
		return nil
	}
	// Any other script: try it.
	for _, m := range v.mutants() {
		m.tx.TxIn[i].SignatureScript, m.tx.TxIn[i].Witness = l.script, l.witness
		if m.run(i) == nil {
			return errWeakSignature
		}
	}
	return nil
}

func endsWithAll(sig []byte) error {
	if len(sig) == 0 || sig[len(sig)-1] != byte(txscript.SigHashAll) {
		return errWeakSignature
	}
	return nil
}

// mutants returns the transaction with one more output and with one more input.
func (v *verifier) mutants() []*verifier {
	if v.more == nil {
		nothing := &wire.TxOut{PkScript: []byte{txscript.OP_TRUE}}
		output, input := v.tx.Copy(), v.tx.Copy()
		output.AddTxOut(nothing)
		input.AddTxIn(&wire.TxIn{PreviousOutPoint: bitcoin.OutPoint{Index: wire.MaxPrevOutIndex - 1}})
		v.more = []*verifier{
			newVerifier(output, v.prevouts),
			newVerifier(input, append(v.prevouts[:len(v.prevouts):len(v.prevouts)], nothing)),
		}
	}
	return v.more
}
