package evm

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math/big"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/crypto"

	"github.com/swapper-go/swapper/chains/bitcoin"
)

// Header is a Bitcoin block header, 80 bytes as hashed.
type Header [80]byte

// CompactHeader is a header without the hash of the block before, 48 bytes, as
// the relay takes it (protocol: chain-evm.md §10.1).
type CompactHeader [48]byte

// Compact leaves the hash of the block before out.
func (h Header) Compact() (c CompactHeader) {
	copy(c[:4], h[:4])
	copy(c[4:], h[36:])
	return c
}

// On returns the header that follows the block with the given hash.
func (c CompactHeader) On(previous bitcoin.Hash) (h Header) {
	copy(h[:4], c[:4])
	copy(h[4:36], previous[:])
	copy(h[36:], c[4:])
	return h
}

// Hash is the block's hash.
func (h Header) Hash() bitcoin.Hash {
	first := sha256.Sum256(h[:])
	return sha256.Sum256(first[:])
}

// Time is the block's own time, Unix seconds.
func (h Header) Time() uint32 { return binary.LittleEndian.Uint32(h[68:]) }

// Bits is the compact form of the target.
func (h Header) Bits() uint32 { return binary.LittleEndian.Uint32(h[72:]) }

// Target is the number that the header's hash must be below. The relay drops the
// sign bit of the mantissa, and so does Target.
func (h Header) Target() (*big.Int, error) {
	exponent, mantissa := uint(h.Bits()>>24), new(big.Int).SetUint64(uint64(h.Bits()&0x7fffff))
	if exponent > 34 {
		return nil, fmt.Errorf("header bits %08x: target above 2^256", h.Bits())
	}
	if exponent < 3 {
		mantissa.Rsh(mantissa, 8*(3-exponent))
	} else {
		mantissa.Lsh(mantissa, 8*(exponent-3))
	}
	if mantissa.BitLen() > 256 {
		return nil, fmt.Errorf("header bits %08x: target above 2^256", h.Bits())
	}
	return mantissa, nil
}

// Work is the number of hashes that the header stands for.
func (h Header) Work() (*big.Int, error) {
	target, err := h.Target()
	if err != nil {
		return nil, err
	}
	above := new(big.Int).Add(target, big.NewInt(1))
	rest := new(big.Int).Sub(new(big.Int).Lsh(big.NewInt(1), 256), above) // 2^256-1-target
	return rest.Add(rest.Quo(rest, above), big.NewInt(1)), nil
}

// StoredHeader is a header with what the relay knows of the chain up to it, 160
// bytes: the header, the chain's work, the height, the time of the last
// difficulty adjustment, and the times of the ten blocks before, oldest first.
// The chain stores only its hash.
type StoredHeader [160]byte

// ParseHeader reads the 80 bytes of a header.
func ParseHeader(b []byte) (Header, error) {
	if len(b) != len(Header{}) {
		return Header{}, fmt.Errorf("header of %d bytes, not 80", len(b))
	}
	return Header(b), nil
}

// ParseCompactHeader reads the 48 bytes of a compact header.
func ParseCompactHeader(b []byte) (CompactHeader, error) {
	if len(b) != len(CompactHeader{}) {
		return CompactHeader{}, fmt.Errorf("compact header of %d bytes, not 48", len(b))
	}
	return CompactHeader(b), nil
}

// ParseStoredHeader reads the 160 bytes of a stored header.
func ParseStoredHeader(b []byte) (StoredHeader, error) {
	if len(b) != len(StoredHeader{}) {
		return StoredHeader{}, fmt.Errorf("stored header of %d bytes, not 160", len(b))
	}
	return StoredHeader(b), nil
}

// Header returns the block header.
func (s StoredHeader) Header() Header { return Header(s[:80]) }

// ChainWork is the work of the chain up to and with this header.
func (s StoredHeader) ChainWork() *big.Int { return new(big.Int).SetBytes(s[80:112]) }

// Height is the block's height.
func (s StoredHeader) Height() uint32 { return binary.BigEndian.Uint32(s[112:]) }

// LastAdjustment is the time of the block with which the difficulty last changed.
func (s StoredHeader) LastAdjustment() uint32 { return binary.BigEndian.Uint32(s[116:]) }

// PreviousTimes are the times of the ten blocks before, oldest first.
func (s StoredHeader) PreviousTimes() (times [10]uint32) {
	for i := range times {
		times[i] = binary.BigEndian.Uint32(s[120+4*i:])
	}
	return times
}

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
	header := c.On(s.Header().Hash())
	work, err := header.Work()
	if err != nil {
		return StoredHeader{}, err
	}
	work.Add(work, s.ChainWork())
	if work.BitLen() > 256 || s.Height() == 1<<32-1 {
		return StoredHeader{}, fmt.Errorf("stored header at height %d: chain work or height overflows", s.Height())
	}
	var next StoredHeader
	copy(next[:80], header[:])
	work.FillBytes(next[80:112])
	binary.BigEndian.PutUint32(next[112:], s.Height()+1)
	adjusted := s.LastAdjustment()
	if (s.Height()+1)%2016 == 0 {
		adjusted = header.Time()
	}
	binary.BigEndian.PutUint32(next[116:], adjusted)
	copy(next[120:156], s[124:160])
	binary.BigEndian.PutUint32(next[156:], s.Header().Time())
	return next, nil
}
