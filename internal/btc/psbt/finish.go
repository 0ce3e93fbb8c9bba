package psbt

import (
	"bytes"
	"errors"
	"fmt"
	"slices"

	"github.com/btcsuite/btcd/btcec/v2/schnorr"
	"github.com/btcsuite/btcd/btcutil"
	"github.com/btcsuite/btcd/btcutil/psbt"
	"github.com/btcsuite/btcd/txscript"
	"github.com/btcsuite/btcd/wire"

	"github.com/swapper-go/swapper/chains/bitcoin"
)

// unlock is what an input proves its right to spend with.
type unlock struct {
	script  []byte
	witness wire.TxWitness
}

// errUnsigned: the input has no signature, or none that can be made into an unlock.
var errUnsigned = errors.New("is not signed, or only its wallet can finalize the signature")

// finish returns the unlock of an input that spends prev: the wallet's own, or
// one made of its signatures. There are two for a taproot signature that may or
// may not lack its last byte. Nothing is verified.
//
// The psbt package of btcutil finishes the kinds that are not wallets of one key. It cannot do
// so for all: an input with the parent transaction only is finished as legacy
// even if it is segwit (protocol: bitcoin.md §11).
func (u *Unchecked) finish(i int, prev *wire.TxOut) ([]unlock, error) {
	in := &u.inputs[i]
	if in.FinalScriptSig != nil || in.FinalScriptWitness != nil {
		l, err := finished(in)
		return []unlock{l}, err
	}
	typ, _ := scriptType(prev.PkScript)
	if typ == bitcoin.P2TR {
		return finishTaproot(in)
	}
	for _, sig := range in.PartialSigs {
		if l, ok := keyUnlock(typ, prev.PkScript, sig); ok {
			return []unlock{l}, nil
		}
	}
	return u.finishMultisig(i, prev)
}

// finished reads the final fields of an input.
func finished(in *psbt.PInput) (unlock, error) {
	l := unlock{script: in.FinalScriptSig}
	if in.FinalScriptWitness != nil {
		w, err := decodeWitness(in.FinalScriptWitness)
		if err != nil {
			return unlock{}, err
		}
		l.witness = w
	}
	return l, nil
}

func finishTaproot(in *psbt.PInput) ([]unlock, error) {
	sig := in.TaprootKeySpendSig
	if len(sig) == 0 {
		return nil, errUnsigned
	}
	unlocks := []unlock{{witness: wire.TxWitness{sig}}}
	if len(sig) == schnorr.SignatureSize && in.SighashType == txscript.SigHashAll {
		whole := append(slices.Clone(sig), byte(txscript.SigHashAll))
		unlocks = append(unlocks, unlock{witness: wire.TxWitness{whole}})
	}
	return unlocks, nil
}

// keyUnlock makes an unlock of one signature, if it is by the key of the script.
func keyUnlock(typ bitcoin.AddressType, script []byte, sig *psbt.PartialSig) (unlock, bool) {
	program := programOf(typ, script)
	pair := wire.TxWitness{sig.Signature, sig.PubKey}
	switch typ {
	case bitcoin.P2WPKH:
		return unlock{witness: pair}, bytes.Equal(btcutil.Hash160(sig.PubKey), program)
	case bitcoin.P2SH:
		redeem := witnessKeyHash(sig.PubKey)
		return unlock{script: pushOf(redeem), witness: pair}, bytes.Equal(btcutil.Hash160(redeem), program)
	case bitcoin.P2PKH:
		return unlock{script: append(pushOf(sig.Signature), pushOf(sig.PubKey)...)}, bytes.Equal(btcutil.Hash160(sig.PubKey), program)
	}
	return unlock{}, false
}

// programOf is the hash that a script of one of the three types pays to.
func programOf(typ bitcoin.AddressType, script []byte) []byte {
	switch typ {
	case bitcoin.P2WPKH, bitcoin.P2SH:
		return script[2 : 2+20]
	case bitcoin.P2PKH:
		return script[3 : 3+20]
	}
	return nil
}

// pushOf is the script that pushes up to 75 bytes. Longer data, which no
// signature or key is, is cut, and will not verify.
func pushOf(data []byte) []byte {
	n := min(len(data), txscript.OP_DATA_75)
	return append([]byte{byte(n)}, data[:n]...)
}

// finishMultisig finishes the multisignature scripts that package psbt knows.
func (u *Unchecked) finishMultisig(i int, prev *wire.TxOut) ([]unlock, error) {
	in := u.inputs[i]
	if len(in.PartialSigs) == 0 {
		return nil, errUnsigned
	}
	if txscript.IsWitnessProgram(prev.PkScript) || txscript.IsWitnessProgram(in.RedeemScript) {
		in.WitnessUtxo = prev
	} else {
		in.WitnessUtxo = nil // or package psbt takes the input for segwit
	}
	alone := wire.MsgTx{TxIn: []*wire.TxIn{u.tx.TxIn[i]}} // so that many inputs do not take the square of the time
	p := psbt.Packet{UnsignedTx: &alone, Inputs: []psbt.PInput{in}}
	if ok, err := psbt.MaybeFinalize(&p, 0); err != nil || !ok {
		return nil, errUnsigned
	}
	l, err := finished(&p.Inputs[0])
	return []unlock{l}, err
}

// prevout returns the output that input i spends: as known has it, which is
// believed, or else as the PSBT says. All that say something must agree. A
// claim is proven unless it is the wallet's word alone.
func (u *Unchecked) prevout(i int, known map[bitcoin.OutPoint]*wire.TxOut) (out *wire.TxOut, proven bool, err error) {
	op, in := u.tx.TxIn[i].PreviousOutPoint, &u.inputs[i]
	sources := []*wire.TxOut{known[op]}
	if parent := in.NonWitnessUtxo; parent != nil {
		if parent.TxHash() != op.Hash || uint64(op.Index) >= uint64(len(parent.TxOut)) {
			return nil, false, fmt.Errorf("comes with a transaction other than that of %s", op)
		}
		sources = append(sources, parent.TxOut[op.Index])
	}
	for _, s := range append(sources, in.WitnessUtxo) {
		switch {
		case s == nil:
		case out == nil:
			out = s
		case !sameOutput(out, s):
			return nil, false, fmt.Errorf("misstates the amount or script of %s", op)
		}
	}
	if out == nil {
		return nil, false, fmt.Errorf("does not state the amount and script of %s", op)
	}
	return out, known[op] != nil || in.NonWitnessUtxo != nil, nil
}

// segwit reports whether an input that spends script with l is segwit: its id
// is independent of signatures, and they cover the amount that it spends.
func (l unlock) segwit(script []byte) bool {
	if txscript.IsPayToScriptHash(script) {
		n := len(l.script)
		return n > 1 && int(l.script[0]) == n-1 && txscript.IsWitnessProgram(l.script[1:])
	}
	return txscript.IsWitnessProgram(script) && len(l.script) == 0
}

// scriptType returns the type of an output script, and false if it pays to no address.
func scriptType(script []byte) (bitcoin.AddressType, bool) {
	a, err := bitcoin.AddressFromScript(script, bitcoin.Mainnet) // scripts are the same on every network
	return a.Type(), err == nil
}
