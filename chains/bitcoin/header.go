package bitcoin

import (
	"encoding/binary"
	"fmt"
	"math/big"

	"github.com/btcsuite/btcd/chaincfg/chainhash"

	"github.com/swapper-go/swapper/internal/btc/rawtx"
)

// Header is a block header and the height of its block. It is a comparable
// value.
type Header struct {
	Height     uint32
	Version    int32
	PrevBlock  Hash
	MerkleRoot Hash
	Time       uint32 // Unix seconds
	Bits       uint32 // target in compact form, nBits
	Nonce      uint32
}

// ParseHeader reads the 80 bytes of a header whose block has the given height.
func ParseHeader(b []byte, height uint32) (Header, error) {
	if len(b) != rawtx.HeaderSize {
		return Header{}, fmt.Errorf("block header has %d bytes instead of %d", len(b), rawtx.HeaderSize)
	}
	le := binary.LittleEndian
	return Header{
		Height:     height,
		Version:    int32(le.Uint32(b)),
		PrevBlock:  Hash(b[4:36]),
		MerkleRoot: Hash(b[36:68]),
		Time:       le.Uint32(b[68:]),
		Bits:       le.Uint32(b[72:]),
		Nonce:      le.Uint32(b[76:]),
	}, nil
}

// Bytes returns the serialised header, the input of the block hash.
func (h Header) Bytes() [80]byte {
	var b [rawtx.HeaderSize]byte
	le := binary.LittleEndian
	le.PutUint32(b[0:], uint32(h.Version))
	copy(b[4:], h.PrevBlock[:])
	copy(b[36:], h.MerkleRoot[:])
	le.PutUint32(b[68:], h.Time)
	le.PutUint32(b[72:], h.Bits)
	le.PutUint32(b[76:], h.Nonce)
	return b
}

// Hash returns the block hash, computed anew on every call.
func (h Header) Hash() Hash {
	b := h.Bytes()
	return chainhash.DoubleHashH(b[:])
}

// Work returns the expected number of hashes needed to mine the block.
func (h Header) Work() *big.Int { return rawtx.Work(h.Bits) }

// CheckWork returns an error unless the header's hash meets its own target and
// that target is not easier than network n allows. That makes a forged header
// expensive. It does not check that the target is the one required at this
// height; [CheckHeaders] does.
func (h Header) CheckWork(n Network) error { return h.checkWork(n, h.Hash()) }

// checkWork and checkLink take the hash, which costs more than all the rest, from a caller who has it.
func (h Header) checkWork(n Network, hash Hash) error {
	target, err := rawtx.Target(h.Bits)
	if err != nil {
		return fmt.Errorf("header %d: %w", h.Height, err)
	}
	if target.Cmp(powLimit(n)) > 0 {
		return fmt.Errorf("header %d: target %08x is easier than the limit of Bitcoin %s", h.Height, h.Bits, n)
	}
	if hashValue(hash).Cmp(target) > 0 {
		return fmt.Errorf("header %d: hash %s does not meet its target", h.Height, hash)
	}
	return nil
}

// CheckLink returns an error unless next is the header that follows h: one
// height more, and built on h's hash.
func (h Header) CheckLink(next Header) error { return h.checkLink(h.Hash(), next) }

func (h Header) checkLink(hash Hash, next Header) error {
	if next.Height != h.Height+1 || next.Height == 0 {
		return fmt.Errorf("header %d does not follow header %d", next.Height, h.Height)
	}
	if next.PrevBlock != hash {
		return fmt.Errorf("header %d is built on %s, but header %d is %s", next.Height, next.PrevBlock, h.Height, hash)
	}
	return nil
}

// hashValue is the number that proof of work compares with the target.
func hashValue(h Hash) *big.Int {
	for i, j := 0, len(h)-1; i < j; i, j = i+1, j-1 {
		h[i], h[j] = h[j], h[i]
	}
	return new(big.Int).SetBytes(h[:])
}
