package bitcoin

import (
	"fmt"

	"github.com/btcsuite/btcd/blockchain"
	"github.com/btcsuite/btcd/btcutil"
	"github.com/btcsuite/btcd/mempool"
	"github.com/btcsuite/btcd/wire"

	"github.com/swapper-go/swapper/chains/bitcoin"
)

// Tip returns height and hash of the best block.
func (n *Net) Tip() (uint32, bitcoin.Hash) {
	n.mu.RLock()
	defer n.mu.RUnlock()
	tip := n.ledger.tip()
	return tip.height, *tip.Hash()
}

// Header returns the header of a block of the best chain.
func (n *Net) Header(height uint32) (bitcoin.Header, error) {
	n.mu.RLock()
	defer n.mu.RUnlock()
	if int(height) >= len(n.ledger.best) {
		return bitcoin.Header{}, fmt.Errorf("no block %d", height)
	}
	h := n.ledger.best[height].MsgBlock().Header
	return bitcoin.Header{Height: height, Version: h.Version, PrevBlock: h.PrevBlock, MerkleRoot: h.MerkleRoot,
		Time: uint32(h.Timestamp.Unix()), Bits: h.Bits, Nonce: h.Nonce}, nil
}

// Mine mines count blocks that take what the mempool holds, and returns their hashes.
func (n *Net) Mine(count int) ([]bitcoin.Hash, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	var hashes []bitcoin.Hash
	for range count {
		b, err := n.miner.next()
		if err != nil {
			return hashes, err
		}
		if err := n.process(b); err != nil {
			return hashes, err
		}
		hashes = append(hashes, *b.Hash())
	}
	return hashes, nil
}

// Reorg replaces the last depth blocks by a longer branch of depth+1 blocks. Its
// first block holds txs, the others nothing. The transactions of the replaced
// blocks return to the mempool unless they conflict with txs; rewards of
// replaced blocks are gone, and what spends them too.
func (n *Net) Reorg(depth int, txs ...*wire.MsgTx) error { return n.Branch(depth, depth+1, txs...) }

// Branch is [Net.Reorg] to a branch of any length. No node changes by itself to
// a branch that is as long as the old blocks or shorter: this is what a client sees when it asks
// another node, which has not received them.
func (n *Net) Branch(depth, length int, txs ...*wire.MsgTx) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	fork := len(n.ledger.best) - 1 - depth
	if depth < 1 || fork < 0 || length < 1 {
		return fmt.Errorf("cannot replace the last %d of %d blocks by %d", depth, len(n.ledger.best), length)
	}
	prev := n.ledger.best[fork]
	if length <= depth {
		if err := n.forget(prev); err != nil {
			return err
		}
	}
	for i := range length {
		if i > 0 {
			txs = nil
		}
		b, err := n.miner.on(prev, txs)
		if err != nil {
			return err
		}
		if err := n.process(b); err != nil {
			return err
		}
		prev = n.ledger.know(b, prev.height+1)
	}
	if n.ledger.tip() != prev {
		return fmt.Errorf("the branch of %d blocks did not become the best chain", length)
	}
	return nil
}

// forget makes a block of the best chain its newest one. What stands on it, or as
// high beside it, in branches that were replaced before, does not count any more.
func (n *Net) forget(newest *block) error {
	for _, b := range n.ledger.blocks {
		if b.height >= newest.height && !n.ledger.inBest(b) {
			if err := n.chain.InvalidateBlock(b.Hash()); err != nil {
				return fmt.Errorf("forget block %s: %w", b.Hash(), err)
			}
		}
	}
	if newest == n.ledger.tip() {
		return nil
	}
	return n.chain.InvalidateBlock(n.ledger.best[newest.height+1].Hash())
}

// process hands a block to the chain, which calls notified.
func (n *Net) process(b *btcutil.Block) error {
	_, orphan, err := n.chain.ProcessBlock(b, blockchain.BFNone)
	if err != nil {
		return fmt.Errorf("block refused: %w", err)
	}
	if orphan {
		return fmt.Errorf("block %s has no parent", b.Hash())
	}
	return nil
}

// notified keeps ledger and mempool in step with the chain. The chain calls it
// inside of process, so that Net.mu is held.
func (n *Net) notified(e *blockchain.Notification) {
	b, ok := e.Data.(*btcutil.Block)
	if !ok {
		return
	}
	switch e.Type {
	case blockchain.NTBlockConnected:
		n.ledger.connect(b, uint32(b.Height()))
		close(n.moved)
		n.moved = make(chan struct{})
		for _, tx := range b.Transactions()[1:] {
			n.pool.RemoveTransaction(tx, false)
			n.pool.RemoveDoubleSpends(tx)
		}
	case blockchain.NTBlockDisconnected:
		n.ledger.disconnect(b)
		n.dropSpenders(b.Transactions()[0])
		for _, tx := range b.Transactions()[1:] {
			if _, _, err := n.pool.MaybeAcceptTransaction(tx, false, false); err != nil {
				n.pool.RemoveTransaction(tx, true)
			}
		}
	}
}

// dropSpenders removes from the mempool what spends a transaction that is gone.
func (n *Net) dropSpenders(tx *btcutil.Tx) {
	for i := range tx.MsgTx().TxOut {
		if by := n.pool.CheckSpend(wire.OutPoint{Hash: *tx.Hash(), Index: uint32(i)}); by != nil {
			n.pool.RemoveTransaction(by, true)
		}
	}
}

// Send puts a transaction into the mempool under the usual rules (standard,
// signed, paid for; a replacement must signal and pay more, BIP-125). A
// transaction that is already there is no error. Refused: *bitcoin.RejectedError.
func (n *Net) Send(tx *wire.MsgTx) (bitcoin.Hash, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.send(tx)
}

func (n *Net) send(tx *wire.MsgTx) (bitcoin.Hash, error) {
	t := btcutil.NewTx(tx.Copy())
	id := *t.Hash()
	if _, ok := n.ledger.txs[id]; ok {
		return id, &bitcoin.RejectedError{Code: -27, Reason: "Transaction already in block chain"}
	}
	if n.pool.IsTransactionInPool(&id) {
		return id, nil
	}
	_, err := n.pool.ProcessTransaction(t, false, true, 0)
	if err == nil {
		return id, nil
	}
	rejected := &bitcoin.RejectedError{Code: -26, Reason: err.Error()}
	if code, _ := mempool.ErrToRejectErr(err); code == wire.RejectDuplicate && n.missingInputs(tx) {
		rejected.Code, rejected.Reason = -25, "bad-txns-inputs-missingorspent"
	}
	return id, rejected
}

// missingInputs reports whether tx spends an output that does not exist or is
// spent in the chain: the mempool calls that an orphan.
func (n *Net) missingInputs(tx *wire.MsgTx) bool {
	for _, in := range tx.TxIn {
		if _, ok := n.output(in.PreviousOutPoint); !ok {
			return true
		}
		if _, ok := n.ledger.spends[in.PreviousOutPoint]; ok {
			return true
		}
	}
	return false
}

// Evict drops a transaction and what spends it from the mempool, as a node does
// under pressure or after a fortnight. It reports whether it was there.
func (n *Net) Evict(id bitcoin.Hash) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	tx, err := n.pool.FetchTransaction(&id)
	if err != nil {
		return false
	}
	n.pool.RemoveTransaction(tx, true)
	return true
}

// Waiting returns the transactions of the mempool, parents before their children.
func (n *Net) Waiting() []*wire.MsgTx {
	n.mu.RLock()
	defer n.mu.RUnlock()
	rest := view{net: n}.waiting()
	placed := make(map[bitcoin.Hash]bool)
	var order []*wire.MsgTx
	for len(rest) > 0 {
		var later []waiting
		for _, w := range rest {
			if n.parentsPlaced(w.tx, placed) {
				placed[w.id] = true
				order = append(order, w.tx)
			} else {
				later = append(later, w)
			}
		}
		rest = later
	}
	return order
}

// parentsPlaced reports whether no parent of tx waits that is not placed.
func (n *Net) parentsPlaced(tx *wire.MsgTx, placed map[bitcoin.Hash]bool) bool {
	for _, in := range tx.TxIn {
		if parent := in.PreviousOutPoint.Hash; n.pool.IsTransactionInPool(&parent) && !placed[parent] {
			return false
		}
	}
	return true
}

// Block returns a block, also one that was replaced, and its height.
func (n *Net) Block(hash bitcoin.Hash) (*wire.MsgBlock, uint32, bool) {
	n.mu.RLock()
	defer n.mu.RUnlock()
	b, ok := n.ledger.blocks[hash]
	if !ok {
		return nil, 0, false
	}
	return b.MsgBlock(), b.height, true
}

// InMempool reports whether a transaction waits for a block.
func (n *Net) InMempool(id bitcoin.Hash) bool {
	n.mu.RLock()
	defer n.mu.RUnlock()
	return n.pool.IsTransactionInPool(&id)
}

// Tx returns a transaction of the best chain or the mempool; shared, not to be
// changed.
func (n *Net) Tx(id bitcoin.Hash) (*wire.MsgTx, bool) {
	n.mu.RLock()
	defer n.mu.RUnlock()
	e, ok := n.find(id)
	if !ok {
		return nil, false
	}
	return e.tx, true
}

// find returns a transaction of the best chain or the mempool.
func (n *Net) find(id bitcoin.Hash) (*entry, bool) {
	if e, ok := n.ledger.txs[id]; ok {
		return e, true
	}
	if tx, err := n.pool.FetchTransaction(&id); err == nil {
		return &entry{id: id, tx: tx.MsgTx()}, true
	}
	return nil, false
}

// output returns an output of the best chain or the mempool, spent or not.
func (n *Net) output(op wire.OutPoint) (*wire.TxOut, bool) {
	e, ok := n.find(op.Hash)
	if !ok || uint64(op.Index) >= uint64(len(e.tx.TxOut)) {
		return nil, false
	}
	return e.tx.TxOut[op.Index], true
}
