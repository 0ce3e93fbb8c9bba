package bitcoin

import (
	"fmt"

	"github.com/btcsuite/btcd/wire"

	"github.com/swapper-go/swapper/chains/bitcoin"
)

// Proof returns a transaction of the best chain and the merkle proof of it.
func (n *Net) Proof(id bitcoin.Hash) (*wire.MsgTx, bitcoin.MerkleProof, error) {
	n.mu.RLock()
	defer n.mu.RUnlock()
	e, ok := n.ledger.txs[id]
	if !ok {
		return nil, bitcoin.MerkleProof{}, fmt.Errorf("no mined transaction %s", id)
	}
	proof, ok := bitcoin.BuildMerkleProof(e.block.txids, id, e.block.height)
	if !ok {
		return nil, proof, fmt.Errorf("transaction %s is not in its block", id)
	}
	return e.tx.Copy(), proof, nil
}
