package psbt

import (
	"bytes"
	"testing"

	"github.com/btcsuite/btcd/btcec/v2"
	"github.com/btcsuite/btcd/btcutil/psbt"
	"github.com/btcsuite/btcd/txscript"
	"github.com/btcsuite/btcd/wire"

	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/internal/btc/rawtx"
	"github.com/swapper-go/swapper/internal/trial"
)

// The wallet of the tests: it signs what it is told to, as badly as it is told to.

func openPSBT(t testing.TB, raw PSBT) *psbt.Packet {
	t.Helper()
	return trial.Must(psbt.NewFromRawBytes(bytes.NewReader(raw), false))(t)
}

func closePSBT(t testing.TB, p *psbt.Packet) PSBT {
	t.Helper()
	return trial.Must(encodePSBT(p))(t)
}

// spentBy returns what the inputs of a PSBT spend, by its own word.
func spentBy(t testing.TB, p *psbt.Packet) (list []*wire.TxOut, f txscript.PrevOutputFetcher) {
	t.Helper()
	known := map[bitcoin.OutPoint]*wire.TxOut{}
	for i, in := range p.Inputs {
		op, out := p.UnsignedTx.TxIn[i].PreviousOutPoint, in.WitnessUtxo
		if in.NonWitnessUtxo != nil {
			out = in.NonWitnessUtxo.TxOut[op.Index]
		}
		list, known[op] = append(list, out), out
	}
	return list, txscript.NewMultiPrevOutFetcher(known)
}

// signWith signs the inputs from first on with a hash type.
func signWith(t testing.TB, p *psbt.Packet, first int, key *btcec.PrivateKey, hashType txscript.SigHashType) {
	t.Helper()
	spent, fetcher := spentBy(t, p)
	hashes := txscript.NewTxSigHashes(p.UnsignedTx, fetcher)
	pub := key.PubKey().SerializeCompressed()
	for i := first; i < len(p.Inputs); i++ {
		in, out := &p.Inputs[i], spent[i]
		var sig []byte
		var err error
		typ, _ := scriptType(out.PkScript)
		switch typ {
		case bitcoin.P2TR:
			kind := hashType
			if kind == txscript.SigHashAll {
				kind = txscript.SigHashDefault
			}
			in.TaprootKeySpendSig = trial.Must(txscript.RawTxInTaprootSignature(p.UnsignedTx, hashes, i, out.Value, out.PkScript, nil, kind, key))(t)
			continue
		case bitcoin.P2WPKH:
			sig, err = txscript.RawTxInWitnessSignature(p.UnsignedTx, hashes, i, out.Value, out.PkScript, hashType, key)
		case bitcoin.P2SH:
			sig, err = txscript.RawTxInWitnessSignature(p.UnsignedTx, hashes, i, out.Value, in.RedeemScript, hashType, key)
		case bitcoin.P2WSH:
			sig, err = txscript.RawTxInWitnessSignature(p.UnsignedTx, hashes, i, out.Value, in.WitnessScript, hashType, key)
		case bitcoin.P2PKH:
			sig, err = txscript.RawTxInSignature(p.UnsignedTx, i, out.PkScript, hashType, key)
		default:
			t.Fatalf("input %d: script %x", i, out.PkScript)
		}
		if err != nil {
			t.Fatal(err)
		}
		if in.SighashType != 0 {
			in.SighashType = hashType
		}
		in.PartialSigs = append(in.PartialSigs, &psbt.PartialSig{PubKey: pub, Signature: sig})
	}
}

// finishWith makes final fields of signatures, as wallets do that finish by default.
func finishWith(t testing.TB, p *psbt.Packet, first int) {
	t.Helper()
	for i := first; i < len(p.Inputs); i++ {
		trial.Do(t, psbt.Finalize(p, i))
	}
}

// toV2 rewrites a PSBT as version 2, with ids in display order if asked to.
func toV2(t testing.TB, p *psbt.Packet, display bool) []byte {
	t.Helper()
	var b bytes.Buffer
	put := func(key, value []byte) {
		for _, part := range [][]byte{key, value} {
			trial.Do(t, wire.WriteVarBytes(&b, 0, part))
		}
	}
	le := func(n uint64, size int) []byte {
		out := make([]byte, size)
		for i := range out {
			out[i] = byte(n >> (8 * i))
		}
		return out
	}
	tx := p.UnsignedTx
	b.Write(psbtMagic)
	put([]byte{psbt2TxVersion}, le(uint64(tx.Version), 4))
	put([]byte{psbt2FallbackLockTime}, le(uint64(tx.LockTime), 4))
	put([]byte{psbt2InputCount}, []byte{byte(len(tx.TxIn))})
	put([]byte{psbt2OutputCount}, []byte{byte(len(tx.TxOut))})
	put([]byte{psbtGlobalVersion}, le(2, 4))
	b.WriteByte(0)
	s := rawtx.Scanner{Rest: closePSBT(t, p)[len(psbtMagic):]}
	if _, err := scanMap(&s); err != nil {
		t.Fatal(err)
	}
	for _, in := range tx.TxIn {
		m := trial.Must(scanMap(&s))(t)
		for k, v := range m {
			put([]byte(k), v)
		}
		id := in.PreviousOutPoint.Hash
		if display {
			for i := range id {
				id[i] = in.PreviousOutPoint.Hash[len(id)-1-i]
			}
		}
		put([]byte{psbt2InTxID}, id[:])
		put([]byte{psbt2InIndex}, le(uint64(in.PreviousOutPoint.Index), 4))
		put([]byte{psbt2InSequence}, le(uint64(in.Sequence), 4))
		b.WriteByte(0)
	}
	for _, out := range tx.TxOut {
		put([]byte{psbt2OutAmount}, le(uint64(out.Value), 8))
		put([]byte{psbt2OutScript}, out.PkScript)
		b.WriteByte(0)
	}
	return b.Bytes()
}
