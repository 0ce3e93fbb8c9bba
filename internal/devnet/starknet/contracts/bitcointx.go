package contracts

import (
	"crypto/sha256"
	"encoding/binary"
	"math"

	"github.com/btcsuite/btcd/chaincfg/chainhash"

	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/internal/starknet/wire"
)

// bitcoinTx is a Bitcoin transaction without witnesses as the contracts read it. They
// check less than a client: counts need not be in their shortest form, amounts may be
// any.
type bitcoinTx struct {
	id       bitcoin.Hash
	lockTime uint32
	ins      []bitcoinIn
	outs     []bitcoinOut
}

type bitcoinIn struct {
	utxo     bitcoin.OutPoint
	sequence uint32
}

type bitcoinOut struct {
	value  uint64
	script []byte
}

// felts are what a condition commits to of an output.
func (o bitcoinOut) felts() felts {
	return felts(nil).uint(o.value).add(wire.Poseidon(wire.Chunks(o.script)...))
}

// cursor reads a transaction from a place on. A place may lie beyond the end: only what
// is looked at must be there.
type cursor struct {
	data []byte
	at   uint32
}

func (c *cursor) skip(n uint64) uint32 {
	assert(n <= math.MaxUint32, "Option::unwrap failed.")
	assert(n <= math.MaxUint32-uint64(c.at), "u32_add Overflow")
	was := c.at
	c.at += uint32(n)
	return was
}

// look returns n bytes at a place.
func (c *cursor) look(at uint32, n int) []byte {
	assert(uint64(at)+uint64(n) <= uint64(len(c.data)), "Array index out of bounds")
	return c.data[at : int(at)+n]
}

func (c *cursor) u32(at uint32) uint32 { return binary.LittleEndian.Uint32(c.look(at, 4)) }
func (c *cursor) u64(at uint32) uint64 { return binary.LittleEndian.Uint64(c.look(at, 8)) }

// count reads a number of variable length.
func (c *cursor) count() uint64 {
	switch first := c.look(c.at, 1)[0]; first {
	case 0xfd:
		return uint64(binary.LittleEndian.Uint16(c.look(c.skip(3)+1, 2)))
	case 0xfe:
		return uint64(c.u32(c.skip(5) + 1))
	case 0xff:
		return c.u64(c.skip(9) + 1)
	default:
		c.skip(1)
		return uint64(first)
	}
}

// readTx reads a transaction and charges for it.
func (x *call) readTx(raw []byte) bitcoinTx {
	x.Charge(txByteGas * uint64(len(raw)))
	x.hashing(len(raw), 1)
	x.hashing(sha256.Size, 1)
	return parseTx(raw)
}

// parseTx reads a transaction. One of 64 bytes could be an inner node of a merkle tree;
// one with witnesses has another hash than its id.
func parseTx(raw []byte) (tx bitcoinTx) {
	assert(len(raw) != 64, "bitcointx: length 64")
	c := &cursor{data: raw, at: 4}
	ins := c.count()
	if ins == 0 && c.at == 5 {
		assert(c.look(5, 1)[0] != 1, "bitcointx: witness not stripped")
	}
	type script struct{ start, head, length uint32 }
	scripts := func(n uint64, head, tail uint64) (all []script) {
		for range n { // each reads a byte at least, so that it ends
			s := script{start: c.at}
			c.skip(head)
			length := c.count()
			s.head = c.skip(length)
			s.length = uint32(length)
			c.skip(tail)
			all = append(all, s)
		}
		return all
	}
	inputs := scripts(ins, 36, 4)
	outputs := scripts(c.count(), 8, 0)
	c.skip(4)
	assert(c.at == uint32(len(raw)), "bitcointx: more data")
	for _, s := range inputs {
		p := c.look(s.start, 36)
		tx.ins = append(tx.ins, bitcoinIn{bitcoin.OutPoint{Hash: bitcoin.Hash(p[:32]), Index: binary.LittleEndian.Uint32(p[32:])}, c.u32(s.head + s.length)})
	}
	for _, s := range outputs {
		tx.outs = append(tx.outs, bitcoinOut{c.u64(s.start), c.look(s.head, int(s.length))})
	}
	tx.lockTime = c.u32(uint32(len(raw) - 4))
	tx.id = bitcoin.Hash(chainhash.DoubleHashH(raw))
	return tx
}

// inBlock demands that a merkle path leads from a transaction to the root of a block.
func (x *call) inBlock(root, id bitcoin.Hash, path []bitcoin.Hash, position uint32) {
	x.hashing(2*sha256.Size, len(path))
	x.hashing(sha256.Size, len(path))
	proof := bitcoin.MerkleProof{TxID: id, Pos: position, Hashes: path}
	assert(proof.Root() == root, "merkle_tree: verify failed")
}

func readPath(r *reader) []bitcoin.Hash { return readList(r, readHash) }
