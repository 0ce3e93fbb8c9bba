package wire

import (
	"fmt"
	"math"
	"math/big"

	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/internal/bigs"
	"github.com/swapper-go/swapper/internal/btc/rawtx"
)

// storedHeaderFelts is the length of a stored header in calldata.
const storedHeaderFelts = 42

// StoredHeader is a header with what the relay knows of the chain up to it. The
// relay stores only its hash and emits the rest (§14.1).
type StoredHeader struct {
	Header         bitcoin.Header // with its height
	Work           *big.Int       // of the chain up to and with this header, below 2^256
	LastAdjustment uint32         // time of the block with which the difficulty last changed
	PreviousTimes  [10]uint32     // of the ten blocks before, oldest first
}

// header appends the 80 bytes of a header as twenty words.
func (w felts) header(h bitcoin.Header) felts {
	b := h.Bytes()
	return w.words(b[:])
}

// storedHeader appends a stored header.
func (w felts) storedHeader(s StoredHeader) felts {
	hash := s.Header.Hash()
	w = w.header(s.Header).words(hash[:]).u256(bigs.OrZero(s.Work)).uint(uint64(s.Header.Height)).uint(uint64(s.LastAdjustment))
	for _, t := range s.PreviousTimes {
		w = w.uint(uint64(t))
	}
	return w
}

// Felts returns the header as calldata and events carry it.
func (s StoredHeader) Felts() []Felt { return make(felts, 0, storedHeaderFelts).storedHeader(s) }

// ParseStoredHeader reads the form of [StoredHeader.Felts]. The hash in it must be
// the header's.
func ParseStoredHeader(all []Felt) (StoredHeader, error) {
	r := &reader{rest: all}
	s := r.storedHeader()
	if err := r.end(); err != nil {
		return StoredHeader{}, fmt.Errorf("stored header: %w", err)
	}
	return s, nil
}

func (r *reader) header() bitcoin.Header {
	h, err := bitcoin.ParseHeader(r.words(rawtx.HeaderSize/4), 0)
	if err != nil {
		r.fail("%w", err)
	}
	return h
}

func (r *reader) storedHeader() StoredHeader {
	s := StoredHeader{Header: r.header()}
	hash := bitcoin.Hash(r.words(8))
	if r.err == nil && s.Header.Hash() != hash {
		r.fail("the hash of the header is %s, not %s", s.Header.Hash(), hash)
	}
	s.Work, s.Header.Height, s.LastAdjustment = r.u256(), r.u32(), r.u32()
	for i := range s.PreviousTimes {
		s.PreviousTimes[i] = r.u32()
	}
	return s
}

// CommitHash is what the relay stores of the header.
func (s StoredHeader) CommitHash() Felt { return Poseidon(s.Felts()...) }

// BlockHashPoseidon is how the relay's events name a block.
func BlockHashPoseidon(hash bitcoin.Hash) Felt { return Poseidon(felts(nil).words(hash[:])...) }

// Next returns the stored header of the block that follows, as the relay computes it.
// It checks no proof of work: the relay does.
func (s StoredHeader) Next(h bitcoin.Header) (StoredHeader, error) {
	if s.Header.Height == math.MaxUint32 {
		return StoredHeader{}, fmt.Errorf("height %d is the highest that a header can have", s.Header.Height)
	}
	h.Height = s.Header.Height + 1
	if err := s.Header.CheckLink(h); err != nil {
		return StoredHeader{}, err
	}
	if _, err := rawtx.Target(h.Bits); err != nil {
		return StoredHeader{}, err
	}
	next := StoredHeader{Header: h, Work: rawtx.Work(h.Bits), LastAdjustment: s.LastAdjustment}
	if next.Work.Add(next.Work, bigs.OrZero(s.Work)).BitLen() > 256 {
		return StoredHeader{}, fmt.Errorf("stored header at height %d: chain work overflows", s.Header.Height)
	}
	if h.Height%2016 == 0 {
		next.LastAdjustment = h.Time
	}
	copy(next.PreviousTimes[:], s.PreviousTimes[1:])
	next.PreviousTimes[9] = s.Header.Time
	return next, nil
}
