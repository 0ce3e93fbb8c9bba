package bitcoin

import (
	"errors"
	"fmt"

	"github.com/btcsuite/btcd/chaincfg/chainhash"
)

// MerkleProof shows that a transaction is in a block. It proves nothing until
// [MerkleProof.Verify] has checked it against the block's header.
type MerkleProof struct {
	TxID   Hash
	Pos    uint32 // index of the transaction in its block
	Hashes []Hash // siblings, leaf level first
	Height uint32 // of the block
}

// maxMerkleDepth is as deep as a block's tree can be: 2^15 transactions of the
// smallest size (60 bytes, 240 weight units) exceed a block's 4,000,000 units.
const maxMerkleDepth = 15

// BuildMerkleProof returns the proof for the transaction txid in a block at the
// given height whose transactions are txids, in the order of the block. It
// reports false if txid is not among them. It takes time and memory linear in
// the number of transactions and does not modify txids.
//
// On an odd level the last hash is paired with itself (protocol: bitcoin.md §15).
func BuildMerkleProof(txids []Hash, txid Hash, height uint32) (MerkleProof, bool) {
	pos := -1
	for i := range txids {
		if txids[i] == txid {
			pos = i
			break
		}
	}
	if pos < 0 {
		return MerkleProof{}, false
	}
	proof := MerkleProof{TxID: txid, Pos: uint32(pos), Height: height}
	level := append([]Hash(nil), txids...)
	for len(level) > 1 {
		if len(level)%2 == 1 {
			level = append(level, level[len(level)-1])
		}
		proof.Hashes = append(proof.Hashes, level[pos^1])
		level = merkleParents(level)
		pos /= 2
	}
	return proof, true
}

// merkleParents hashes pairs in place; len(level) is even.
func merkleParents(level []Hash) []Hash {
	for i := 0; i < len(level); i += 2 {
		level[i/2] = hashPair(level[i], level[i+1])
	}
	return level[:len(level)/2]
}

func hashPair(left, right Hash) Hash {
	var b [64]byte
	copy(b[:32], left[:])
	copy(b[32:], right[:])
	return chainhash.DoubleHashH(b[:])
}

// Root returns the merkle root computed from the proof.
func (p MerkleProof) Root() Hash {
	root, _ := p.fold()
	return root
}

// Verify returns an error unless the proof leads to the merkle root of header
// and has the shape of a proof in a real block. The caller must check that
// header is in the best chain.
//
// A transaction whose witness-stripped form has 64 bytes could pass for an
// inner node; [rawtx.Strip] refuses those.
func (p MerkleProof) Verify(header Header) error {
	if len(p.Hashes) > maxMerkleDepth {
		return fmt.Errorf("merkle proof with %d levels is deeper than any block", len(p.Hashes))
	}
	if uint64(p.Pos) >= 1<<len(p.Hashes) {
		return fmt.Errorf("merkle proof with %d levels cannot have position %d", len(p.Hashes), p.Pos)
	}
	if p.Height != header.Height {
		return fmt.Errorf("merkle proof is for height %d, but the header has height %d", p.Height, header.Height)
	}
	root, doubled := p.fold()
	if doubled {
		return errors.New("merkle proof is for a position that duplicates another one")
	}
	if root != header.MerkleRoot {
		return fmt.Errorf("merkle proof of %s yields root %s instead of %s, that of block %d", p.TxID, root, header.MerkleRoot, header.Height)
	}
	return nil
}

// fold hashes upwards. doubled reports that a right node equals its left
// sibling: the tree doubles the last node of an odd level to the right, so such
// a position lies behind the block's last transaction.
func (p MerkleProof) fold() (root Hash, doubled bool) {
	root, pos := p.TxID, p.Pos
	for _, m := range p.Hashes {
		if pos&1 == 1 {
			doubled = doubled || m == root
			root = hashPair(m, root)
		} else {
			root = hashPair(root, m)
		}
		pos >>= 1
	}
	return root, doubled
}
