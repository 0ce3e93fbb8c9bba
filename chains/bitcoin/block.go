package bitcoin

import (
	"errors"
	"fmt"
	"time"

	"github.com/btcsuite/btcd/wire"

	"github.com/swapper-go/swapper/internal/btc/rawtx"
)

// ParseBlock reads a serialised block, in memory bounded by a small multiple of len(raw). Its header
// must hash to id and have the work that it claims on network n, and its transactions must be those of
// the header's Merkle root. Witnesses are not covered by that, and signatures are not checked.
func ParseBlock(raw []byte, id Hash, n Network) (*wire.MsgBlock, error) {
	if len(raw) < rawtx.HeaderSize || len(raw) > rawtx.MaxSize {
		return nil, fmt.Errorf("block %s cannot have %d bytes", id, len(raw))
	}
	h, err := ParseHeader(raw[:rawtx.HeaderSize], 0)
	if err != nil {
		return nil, err
	}
	if got := h.Hash(); got != id {
		return nil, fmt.Errorf("requested block %s, got %s", id, got)
	}
	if err := h.checkWork(n, id); err != nil {
		return nil, err
	}
	txs, err := rawtx.DecodeList(raw[rawtx.HeaderSize:])
	if err != nil {
		return nil, fmt.Errorf("block %s: %w", id, err)
	}
	ids := make([]Hash, len(txs))
	for i, tx := range txs {
		ids[i] = tx.TxHash()
	}
	if root, err := treeRoot(ids); err != nil || root != h.MerkleRoot {
		return nil, fmt.Errorf("block %s: its transactions are not those of its header", id)
	}
	b := &wire.MsgBlock{Transactions: txs}
	b.Header = *wire.NewBlockHeader(h.Version, &h.PrevBlock, &h.MerkleRoot, h.Bits, h.Nonce)
	b.Header.Timestamp = time.Unix(int64(h.Time), 0)
	return b, nil
}

// treeRoot returns the root of a block's transactions. A list in which a whole branch is repeated
// where the tree repeats it by itself is refused: it has the root of the shorter list.
func treeRoot(ids []Hash) (Hash, error) {
	if len(ids) == 0 {
		return Hash{}, errors.New("no transactions")
	}
	level := append([]Hash(nil), ids...)
	for len(level) > 1 {
		for i := 0; i+1 < len(level); i += 2 {
			if level[i] == level[i+1] {
				return Hash{}, errors.New("transactions are repeated")
			}
		}
		if len(level)%2 == 1 {
			level = append(level, level[len(level)-1])
		}
		level = merkleParents(level)
	}
	return level[0], nil
}
