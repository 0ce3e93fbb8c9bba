package claimhash

import "github.com/btcsuite/btcd/wire"

// smallTx_claim is a transaction with one input and one output of the given script.
func smallTx(script []byte) *wire.MsgTx {
	tx := wire.NewMsgTx(2)
	tx.AddTxIn(wire.NewTxIn(&wire.OutPoint{Index: 1}, nil, nil))
	tx.AddTxOut(wire.NewTxOut(1000, script))
	return tx
}
