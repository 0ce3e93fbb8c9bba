package bitcoin

import (
	"context"
	"fmt"
	"time"

	"github.com/btcsuite/btcd/wire"
)

// Payment is a transaction output that pays an address.
type Payment struct {
	Tx   *Tx
	Vout uint32
}

// FindPayment searches the transactions of an address for an output that match
// accepts, and returns the best one: confirmed before unconfirmed, then the
// lowest block, then the first output of the transaction. ok is false if none
// matches. Blocks older than since are not searched, which limits the number of
// pages fetched for an address with a long history (protocol: bitcoin.md §12 and
// §20 row 9).
func FindPayment(ctx context.Context, b Backend, a Address, since time.Time, match func(*wire.TxOut) bool) (best Payment, ok bool, err error) {
	for tx, err := range b.AddressTxs(ctx, a) {
		if err != nil {
			return Payment{}, false, err
		}
		if tx.Confirmed() && tx.BlockTime.Before(since) {
			break
		}
		if ok && !earlier(tx, best.Tx) {
			continue
		}
		for i, out := range tx.Msg.TxOut {
			if match(out) {
				best, ok = Payment{Tx: tx, Vout: uint32(i)}, true
				break
			}
		}
	}
	return best, ok, nil
}

func earlier(a, b *Tx) bool {
	if !a.Confirmed() || !b.Confirmed() {
		return a.Confirmed()
	}
	return a.Height < b.Height
}

// FillPrevouts returns tx with every spent output read from its parent
// transaction, which is verified against its id, rather than from the backend's
// summary. It requests all parents in one batch.
func FillPrevouts(ctx context.Context, b Backend, tx *Tx) (*Tx, error) {
	var ids []Hash
	at := make(map[Hash]int)
	for _, in := range tx.Msg.TxIn {
		id := in.PreviousOutPoint.Hash
		if _, ok := at[id]; !ok && id != (Hash{}) {
			at[id] = len(ids)
			ids = append(ids, id)
		}
	}
	parents := b.Txs(ctx, ids)
	filled := *tx
	filled.Prevouts = make([]*wire.TxOut, len(tx.Msg.TxIn))
	for i, in := range tx.Msg.TxIn {
		op := in.PreviousOutPoint
		if op.Hash == (Hash{}) {
			continue
		}
		parent := parents[at[op.Hash]]
		if parent.Err != nil {
			return nil, fmt.Errorf("parent %s: %w", op.Hash, parent.Err)
		}
		outs := parent.Value.Msg.TxOut
		if uint64(op.Index) >= uint64(len(outs)) {
			return nil, fmt.Errorf("input %d spends output %s, which does not exist", i, op)
		}
		filled.Prevouts[i] = outs[op.Index]
	}
	return &filled, nil
}
