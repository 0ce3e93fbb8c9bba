package wire

import (
	"encoding/binary"
	"fmt"
	"math/big"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/crypto"

	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/internal/btc/rawtx"
)

// CompactHeader is a Bitcoin block header without the hash of the block before,
// 48 bytes, as the relay takes it (protocol: chain-evm.md §10.1).
type CompactHeader [48]byte

// Compact leaves the hash of the block before out.
func Compact(h bitcoin.Header) (c CompactHeader) {
	full := h.Bytes()
	copy(c[:4], full[:4])
	copy(c[4:], full[36:])
	return c
}

// On returns the header that follows the block with the given hash, at a height.
func (c CompactHeader) On(previous bitcoin.Hash, height uint32) (bitcoin.Header, error) {
	var full [rawtx.HeaderSize]byte
	copy(full[:4], c[:4])
	copy(full[4:36], previous[:])
	copy(full[36:], c[4:])
	return bitcoin.ParseHeader(full[:], height)
}

// targetSign is the bit of a compact target that Bitcoin forbids and the relay
// does not look at.
const targetSign = 0x800000

// StoredHeader is a header with what the relay knows of the chain up to it, 160
// bytes: the header, the chain's work, the height, the time of the last
// difficulty adjustment, and the times of the ten blocks before, oldest first.
// The chain stores only its hash.
type StoredHeader [160]byte

// Header returns the block header.
func (s StoredHeader) Header() bitcoin.Header {
	h, _ := bitcoin.ParseHeader(s[:rawtx.HeaderSize], s.Height()) // fails for another length only
	return h
}

// ChainWork is the work of the chain up to and with this header.
func (s StoredHeader) ChainWork() *big.Int { return new(big.Int).SetBytes(s[80:112]) }

// Height is the block's height.
func (s StoredHeader) Height() uint32 { return binary.BigEndian.Uint32(s[112:]) }

// LastAdjustment is the time of the block with which the difficulty last changed.
func (s StoredHeader) LastAdjustment() uint32 { return binary.BigEndian.Uint32(s[116:]) }

// CommitHash is what the relay stores of the header.
func (s StoredHeader) CommitHash() common.Hash { return crypto.Keccak256Hash(s[:]) }

// words returns the header as the contracts' tuple of five words.
func (s StoredHeader) words() (w [5][32]byte) {
	for i := range w {
		copy(w[i][:], s[32*i:])
	}
	return w
}

// Next returns the stored header of the block that follows, as the relay
// computes it. It checks no proof of work: the relay does.
func (s StoredHeader) Next(c CompactHeader) (StoredHeader, error) {
	last := s.Header()
	header, err := c.On(last.Hash(), s.Height()+1)
	if err != nil {
		return StoredHeader{}, err
	}
	bits := header.Bits &^ targetSign
	if _, err := rawtx.Target(bits); err != nil {
		return StoredHeader{}, err
	}
	work := rawtx.Work(bits)
	work.Add(work, s.ChainWork())
	if work.BitLen() > 256 || s.Height() == 1<<32-1 {
		return StoredHeader{}, fmt.Errorf("stored header at height %d: chain work or height overflows", s.Height())
	}
	var next StoredHeader
	full := header.Bytes()
	copy(next[:80], full[:])
	work.FillBytes(next[80:112])
	binary.BigEndian.PutUint32(next[112:], s.Height()+1)
	adjusted := s.LastAdjustment()
	if (s.Height()+1)%2016 == 0 {
		adjusted = header.Time
	}
	binary.BigEndian.PutUint32(next[116:], adjusted)
	copy(next[120:156], s[124:160])
	binary.BigEndian.PutUint32(next[156:], last.Time)
	return next, nil
}
