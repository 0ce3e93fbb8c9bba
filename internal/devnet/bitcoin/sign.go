package bitcoin

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/btcsuite/btcd/btcutil"
	"github.com/btcsuite/btcd/btcutil/psbt"
	"github.com/btcsuite/btcd/txscript"
	"github.com/btcsuite/btcd/wire"

	"github.com/swapper-go/swapper/chains/bitcoin"
)

func (w *Wallet) redeemScript() []byte {
	return append([]byte{txscript.OP_0, 20}, btcutil.Hash160(w.key.PubKey().SerializeCompressed())...)
}

// reward is the wallet's address in btcd's form.
func (w *Wallet) reward() btcutil.Address {
	a, err := btcutil.NewAddressWitnessPubKeyHash(w.Address.Program(), w.net.params)
	if err != nil {
		return nil // the program of a P2WPKH address has the right length
	}
	return a
}

// Sign signs the inputs of tx that spend the wallet's outputs; the others stay
// as they are. All outputs that tx spends must be known to the network.
func (w *Wallet) Sign(tx *wire.MsgTx) error {
	w.net.mu.RLock()
	defer w.net.mu.RUnlock()
	return w.sign(tx)
}

func (w *Wallet) sign(tx *wire.MsgTx) error {
	prevouts := make(map[wire.OutPoint]*wire.TxOut)
	for _, in := range tx.TxIn {
		out, ok := w.net.output(in.PreviousOutPoint)
		if !ok {
			return fmt.Errorf("no output %s", in.PreviousOutPoint)
		}
		prevouts[in.PreviousOutPoint] = out
	}
	s := w.signer(tx, prevouts)
	for i, in := range tx.TxIn {
		if !bytes.Equal(prevouts[in.PreviousOutPoint].PkScript, w.Address.Script()) {
			continue
		}
		sig, err := s.signature(i, txscript.SigHashAll)
		if err != nil {
			return err
		}
		pub := w.key.PubKey().SerializeCompressed()
		switch w.Address.Type() {
		case bitcoin.P2TR:
			in.Witness = wire.TxWitness{sig}
			continue
		case bitcoin.P2PKH:
			if in.SignatureScript, err = txscript.NewScriptBuilder().AddData(sig).AddData(pub).Script(); err != nil {
				return err
			}
			continue
		case bitcoin.P2SH:
			if in.SignatureScript, err = txscript.NewScriptBuilder().AddData(w.redeemScript()).Script(); err != nil {
				return err
			}
		}
		in.Witness = wire.TxWitness{sig, pub}
	}
	return nil
}

// SignPSBT signs the given inputs as a wallet does that was asked to: it adds
// signatures and finalises nothing. Inputs must say what they spend.
func (w *Wallet) SignPSBT(p *psbt.Packet, inputs ...int) error {
	prevouts := make(map[wire.OutPoint]*wire.TxOut)
	for i, in := range p.Inputs {
		op := p.UnsignedTx.TxIn[i].PreviousOutPoint
		switch {
		case in.WitnessUtxo != nil:
			prevouts[op] = in.WitnessUtxo
		case in.NonWitnessUtxo != nil && in.NonWitnessUtxo.TxHash() == op.Hash && uint64(op.Index) < uint64(len(in.NonWitnessUtxo.TxOut)):
			prevouts[op] = in.NonWitnessUtxo.TxOut[op.Index]
		default:
			return fmt.Errorf("input %d does not say what it spends", i)
		}
	}
	s := w.signer(p.UnsignedTx, prevouts)
	for _, i := range inputs {
		if i < 0 || i >= len(p.Inputs) {
			return fmt.Errorf("no input %d", i)
		}
		in := &p.Inputs[i]
		if !bytes.Equal(prevouts[p.UnsignedTx.TxIn[i].PreviousOutPoint].PkScript, w.Address.Script()) {
			return fmt.Errorf("input %d is not the wallet's", i)
		}
		hashType := in.SighashType
		if hashType == 0 {
			hashType = txscript.SigHashAll
		}
		sig, err := s.signature(i, hashType)
		if err != nil {
			return fmt.Errorf("input %d: %w", i, err)
		}
		if w.Address.Type() == bitcoin.P2TR {
			in.TaprootKeySpendSig = sig
		} else {
			in.PartialSigs = append(in.PartialSigs, &psbt.PartialSig{PubKey: w.key.PubKey().SerializeCompressed(), Signature: sig})
		}
	}
	return nil
}

type signer struct {
	w        *Wallet
	tx       *wire.MsgTx
	prevouts map[wire.OutPoint]*wire.TxOut
	hashes   *txscript.TxSigHashes
}

func (w *Wallet) signer(tx *wire.MsgTx, prevouts map[wire.OutPoint]*wire.TxOut) signer {
	return signer{w, tx, prevouts, txscript.NewTxSigHashes(tx, txscript.NewMultiPrevOutFetcher(prevouts))}
}

// signature signs input i. For taproot SigHashAll becomes the default type, as
// wallets do, and the signature has 64 bytes.
func (s signer) signature(i int, hashType txscript.SigHashType) ([]byte, error) {
	out := s.prevouts[s.tx.TxIn[i].PreviousOutPoint]
	switch s.w.Address.Type() {
	case bitcoin.P2TR:
		if hashType == txscript.SigHashAll {
			hashType = txscript.SigHashDefault
		}
		return txscript.RawTxInTaprootSignature(s.tx, s.hashes, i, out.Value, out.PkScript, nil, hashType, s.w.key)
	case bitcoin.P2WPKH:
		return txscript.RawTxInWitnessSignature(s.tx, s.hashes, i, out.Value, out.PkScript, hashType, s.w.key)
	case bitcoin.P2SH:
		return txscript.RawTxInWitnessSignature(s.tx, s.hashes, i, out.Value, s.w.redeemScript(), hashType, s.w.key)
	case bitcoin.P2PKH:
		return txscript.RawTxInSignature(s.tx, i, out.PkScript, hashType, s.w.key)
	}
	return nil, errors.New("cannot sign for this type")
}
