package wire

import (
	"crypto/sha256"
	"fmt"
	"math/big"

	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/internal/btc/rawtx"
)

// storedHeaderSize is the number of bytes of a [StoredHeader].
const storedHeaderSize = 160

// StoredHeader is a Bitcoin header with what a relay needs to check the next one
// (§19). A relay keeps only its hash: transactions that refer to it must include
// it.
type StoredHeader struct {
	Work               *big.Int // of the chain up to and with it, in units of the easiest block
	Header             bitcoin.Header
	LastDiffAdjustment uint32     // Unix seconds of the first block of its difficulty period
	PrevTimes          [10]uint32 // Unix seconds of the headers before it, oldest first
}

// decodeStoredHeader reads the 160 bytes of a stored header.
func decodeStoredHeader(b []byte) (h StoredHeader, err error) {
	if len(b) != storedHeaderSize {
		return h, fmt.Errorf("a stored header has %d bytes, not %d", storedHeaderSize, len(b))
	}
	r := reader{data: b}
	h.Work = new(big.Int).SetBytes(r.take(32))
	raw := r.take(rawtx.HeaderSize)
	h.LastDiffAdjustment = r.u32()
	height := r.u32()
	for i := range h.PrevTimes {
		h.PrevTimes[i] = r.u32()
	}
	if h.Header, err = bitcoin.ParseHeader(raw, height); err != nil {
		return StoredHeader{}, err
	}
	return h, r.end()
}

// Bytes writes the stored header.
func (h StoredHeader) Bytes() []byte {
	w := make(writer, 0, storedHeaderSize)
	raw := h.Header.Bytes()
	w.bytes(h.Work.FillBytes(make([]byte, 32))...).bytes(raw[:]...).u32(h.LastDiffAdjustment).u32(h.Header.Height)
	for _, t := range h.PrevTimes {
		w.u32(t)
	}
	return w
}

// Commitment is the hash by which relays remember the header: a single SHA-256.
func (h StoredHeader) Commitment() [32]byte { return sha256.Sum256(h.Bytes()) }

// Next returns the stored form of the header that follows. That it may follow is for
// the relay to check; its height is set here.
func (h StoredHeader) Next(header bitcoin.Header) StoredHeader {
	header.Height = h.Header.Height + 1
	next := StoredHeader{Work: new(big.Int).Add(h.Work, rawtx.Difficulty(header.Bits)), Header: header, LastDiffAdjustment: h.LastDiffAdjustment}
	copy(next.PrevTimes[:], h.PrevTimes[1:])
	next.PrevTimes[len(next.PrevTimes)-1] = h.Header.Time
	if header.Height%2016 == 0 {
		next.LastDiffAdjustment = header.Time
	}
	return next
}
