package psbt

import (
	"slices"

	"github.com/btcsuite/btcd/txscript"
	"github.com/btcsuite/btcd/wire"
)

// settleOrder decides in which order a version 2 PSBT writes the ids of the
// transactions it spends from. BIP-370 means that of the unsigned transaction,
// and wallets follow it; the JavaScript library that clients of this network use
// writes and reads display order. Parent transactions and signatures tell which
// it is; where there is neither, BIP-370 counts.
func (u *Unchecked) settleOrder() {
	if u.proves() {
		return
	}
	other := *u
	other.tx = u.tx.Copy()
	for _, in := range other.tx.TxIn {
		slices.Reverse(in.PreviousOutPoint.Hash[:])
	}
	if other.proves() {
		u.tx = other.tx
	}
}

// proves reports whether the first input that has a parent transaction or a
// signature agrees with the ids that are spent from.
func (u *Unchecked) proves() bool {
	if 4*u.tx.SerializeSizeStripped() > maxStandardWeight {
		return false
	}
	prevouts := make([]*wire.TxOut, len(u.inputs))
	for i := range u.inputs {
		if parent := u.inputs[i].NonWitnessUtxo; parent != nil {
			return parent.TxHash() == u.tx.TxIn[i].PreviousOutPoint.Hash
		}
		prevouts[i] = u.inputs[i].WitnessUtxo
		if prevouts[i] == nil {
			prevouts[i] = &wire.TxOut{PkScript: []byte{txscript.OP_TRUE}}
		}
	}
	v := newVerifier(u.tx.Copy(), prevouts)
	for i, prev := range prevouts {
		unlocks, err := u.finish(i, prev)
		if err != nil {
			continue
		}
		return slices.ContainsFunc(unlocks, func(l unlock) bool { return v.sign(i, l) == nil })
	}
	return false
}
