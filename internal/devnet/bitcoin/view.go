package bitcoin

import (
	"bytes"
	"sort"

	"github.com/btcsuite/btcd/mempool"
	"github.com/btcsuite/btcd/wire"

	"github.com/swapper-go/swapper/chains/bitcoin"
)

// view is the network as somebody sees it who knows the chain up to a height
// only: blocks above it do not exist, and what they hold is still waiting. The
// caller holds Net.mu.
type view struct {
	net   *Net
	limit uint32
}

func (v view) sees(b *block) bool { return b != nil && b.height <= v.limit }

// block returns a block of the best chain by height.
func (v view) block(height uint64) (*block, bool) {
	if height > uint64(v.limit) || height >= uint64(len(v.net.ledger.best)) {
		return nil, false
	}
	return v.net.ledger.best[height], true
}

// spender returns who spends an output, confirmed or not.
func (v view) spender(op wire.OutPoint) (spender, bool) {
	if s, ok := v.net.ledger.spends[op]; ok {
		return s, true
	}
	tx := v.net.pool.CheckSpend(op)
	if tx == nil {
		return spender{}, false
	}
	for vin, in := range tx.MsgTx().TxIn {
		if in.PreviousOutPoint == op {
			return spender{&entry{id: *tx.Hash(), tx: tx.MsgTx()}, vin}, true
		}
	}
	return spender{}, false
}

// history returns what touches a script: waiting transactions first, the newest
// leading, then confirmed ones by falling height.
func (v view) history(script []byte) []*entry {
	var waiting []*mempool.TxDesc
	for _, d := range v.net.pool.TxDescs() {
		if v.touches(d.Tx.MsgTx(), script) {
			waiting = append(waiting, d)
		}
	}
	sort.Slice(waiting, func(i, j int) bool {
		if !waiting[i].Added.Equal(waiting[j].Added) {
			return waiting[i].Added.After(waiting[j].Added)
		}
		return bytes.Compare(waiting[i].Tx.Hash()[:], waiting[j].Tx.Hash()[:]) < 0
	})
	var all []*entry
	for _, d := range waiting {
		all = append(all, &entry{id: *d.Tx.Hash(), tx: d.Tx.MsgTx()})
	}
	confirmed := v.net.ledger.scripts[string(script)]
	for i := len(confirmed) - 1; i >= 0; i-- {
		all = append(all, confirmed[i])
	}
	return all
}

func (v view) touches(tx *wire.MsgTx, script []byte) bool {
	for _, out := range tx.TxOut {
		if bytes.Equal(out.PkScript, script) {
			return true
		}
	}
	for _, in := range tx.TxIn {
		if out, ok := v.net.output(in.PreviousOutPoint); ok && bytes.Equal(out.PkScript, script) {
			return true
		}
	}
	return false
}

// unspent returns the outputs of a script that nothing spends.
func (v view) unspent(script []byte) []bitcoin.UTXO {
	utxos := []bitcoin.UTXO{}
	for _, e := range v.history(script) {
		for i, out := range e.tx.TxOut {
			op := wire.OutPoint{Hash: e.id, Index: uint32(i)}
			if !bytes.Equal(out.PkScript, script) {
				continue
			}
			if _, spent := v.spender(op); spent {
				continue
			}
			u := bitcoin.UTXO{OutPoint: op, Value: out.Value}
			if v.sees(e.block) {
				u.Height = e.block.height
			}
			utxos = append(utxos, u)
		}
	}
	return utxos
}

// waiting is an unconfirmed transaction with its fees.
type waiting struct {
	id    bitcoin.Hash
	tx    *wire.MsgTx
	fee   int64
	vsize int64
}

func (v view) waiting() []waiting {
	var all []waiting
	for _, d := range v.net.pool.TxDescs() {
		all = append(all, waiting{*d.Tx.Hash(), d.Tx.MsgTx(), d.Fee, mempool.GetTxVirtualSize(d.Tx)})
	}
	return all
}

// withAncestors sums fee and size of a waiting transaction and its unconfirmed
// ancestors, and lists the latter.
func (v view) withAncestors(id bitcoin.Hash) (own waiting, ancestors []waiting, ok bool) {
	pool := make(map[bitcoin.Hash]waiting)
	for _, w := range v.waiting() {
		pool[w.id] = w
	}
	if own, ok = pool[id]; !ok {
		return own, nil, false
	}
	seen := map[bitcoin.Hash]bool{id: true}
	for queue := []*wire.MsgTx{own.tx}; len(queue) > 0; queue = queue[1:] {
		for _, in := range queue[0].TxIn {
			parent, waits := pool[in.PreviousOutPoint.Hash]
			if waits && !seen[parent.id] {
				seen[parent.id] = true
				ancestors = append(ancestors, parent)
				queue = append(queue, parent.tx)
			}
		}
	}
	return own, ancestors, true
}
