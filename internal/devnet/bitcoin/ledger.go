package bitcoin

import (
	"github.com/btcsuite/btcd/btcutil"
	"github.com/btcsuite/btcd/wire"

	"github.com/swapper-go/swapper/chains/bitcoin"
)

// ledger is the index of the best chain: what stands where, who spent what, and
// which transactions touch a script. Net.mu guards it.
type ledger struct {
	best    []*block                  // by height
	blocks  map[bitcoin.Hash]*block   // stale ones too
	txs     map[bitcoin.Hash]*entry   // of the best chain
	spends  map[wire.OutPoint]spender // by transactions of the best chain
	scripts map[string][]*entry       // transactions that pay to or spend from a script, in chain order
}

type block struct {
	*btcutil.Block
	height uint32
	txids  []bitcoin.Hash
}

type entry struct {
	id    bitcoin.Hash
	tx    *wire.MsgTx
	block *block // nil in the mempool
	pos   int
}

type spender struct {
	by  *entry
	vin int
}

func newLedger() *ledger {
	return &ledger{
		blocks:  make(map[bitcoin.Hash]*block),
		txs:     make(map[bitcoin.Hash]*entry),
		spends:  make(map[wire.OutPoint]spender),
		scripts: make(map[string][]*entry),
	}
}

// know remembers a block that need not be in the best chain.
func (l *ledger) know(b *btcutil.Block, height uint32) *block {
	if known, ok := l.blocks[*b.Hash()]; ok {
		return known
	}
	k := &block{Block: b, height: height}
	for _, tx := range b.Transactions() {
		k.txids = append(k.txids, *tx.Hash())
	}
	l.blocks[*b.Hash()] = k
	return k
}

func (l *ledger) connect(b *btcutil.Block, height uint32) {
	k := l.know(b, height)
	l.best = append(l.best[:height], k)
	for pos, tx := range b.Transactions() {
		e := &entry{id: *tx.Hash(), tx: tx.MsgTx(), block: k, pos: pos}
		l.txs[e.id] = e
		for script := range l.touched(e.tx) {
			l.scripts[script] = append(l.scripts[script], e)
		}
		for vin, in := range e.tx.TxIn {
			l.spends[in.PreviousOutPoint] = spender{e, vin}
		}
	}
}

func (l *ledger) disconnect(b *btcutil.Block) {
	k := l.blocks[*b.Hash()]
	l.best = l.best[:k.height]
	for i := len(k.txids) - 1; i >= 0; i-- {
		e := l.txs[k.txids[i]]
		for script := range l.touched(e.tx) {
			list := l.scripts[script]
			l.scripts[script] = list[:len(list)-1]
		}
		for _, in := range e.tx.TxIn {
			delete(l.spends, in.PreviousOutPoint)
		}
		delete(l.txs, e.id)
	}
}

// touched returns the scripts that a transaction pays to or spends from, as far
// as what it spends is confirmed.
func (l *ledger) touched(tx *wire.MsgTx) map[string]bool {
	scripts := make(map[string]bool)
	for _, out := range tx.TxOut {
		scripts[string(out.PkScript)] = true
	}
	for _, in := range tx.TxIn {
		if parent, ok := l.txs[in.PreviousOutPoint.Hash]; ok {
			scripts[string(parent.tx.TxOut[in.PreviousOutPoint.Index].PkScript)] = true
		}
	}
	return scripts
}

func (l *ledger) tip() *block { return l.best[len(l.best)-1] }

func (l *ledger) inBest(b *block) bool {
	return int(b.height) < len(l.best) && l.best[b.height] == b
}
