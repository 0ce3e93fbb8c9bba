package contracts

import (
	"math"
	"math/big"
	"slices"

	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/internal/btc/rawtx"
	"github.com/swapper-go/swapper/internal/starknet/wire"
)

// storedHeader is a header that a relay is shown as one that it stored: whether it did,
// its hash says.
type storedHeader struct {
	felts      felts // 42 of them
	merkleRoot bitcoin.Hash
	height     uint32
}

const (
	headerWords = 20
	storedFelts = 42
)

func readStored(r *reader) (h storedHeader) {
	all := r.rest
	for range 9 {
		readU32(r)
	}
	h.merkleRoot = readHash(r)
	for range 3 + 8 {
		readU32(r)
	}
	readU256(r)
	h.height = readU32(r)
	for range 11 {
		readU32(r)
	}
	if !r.failed {
		h.felts = felts(all[:storedFelts:storedFelts])
	}
	return h
}

func (h storedHeader) commitment() Felt { return h.felts.poseidon() }

// stored is the header as package wire knows it. One that a relay stored has the
// hash that it says it has.
func (h storedHeader) stored() wire.StoredHeader {
	s, err := wire.ParseStoredHeader(h.felts)
	assert(err == nil, "the stored header is wrong")
	return s
}

// readHeader reads the 80 bytes of a header.
func readHeader(r *reader) bitcoin.Header {
	var w felts
	for range headerWords {
		w = w.uint(uint64(readU32(r)))
	}
	if r.failed {
		return bitcoin.Header{}
	}
	h, err := bitcoin.ParseHeader(headerBytes(w), 0)
	if err != nil {
		panic(err) // 80 bytes always are a header
	}
	return h
}

func headerBytes(w felts) (b []byte) {
	for _, f := range w {
		n := f.Uint64()
		b = append(b, byte(n>>24), byte(n>>16), byte(n>>8), byte(n))
	}
	return b
}

// Rules of Bitcoin that a relay checks.
const (
	epochBlocks  = 2016
	epochSeconds = 14 * 24 * 60 * 60
	maxFuture    = 4 * 60 * 60 // seconds that a header's time may be ahead of the chain's clock
	median       = 5           // of the eleven times before a header, it must be later than more than so many
	signBit      = 0x800000    // of a compact target
)

// easiest is the target that no block of mainnet may exceed.
var easiest = new(big.Int).Sub(new(big.Int).Lsh(big.NewInt(1), 224), big.NewInt(1))

// target expands a compact target.
func target(bits uint32) *big.Int {
	assert(bits>>24 < 35, "n_bytes too large")
	t := rawtx.Expand(bits&0x7fffff, uint(bits>>24))
	assert(t.BitLen() <= 256, "u256_mul Overflow")
	assert(t.Sign() == 0 || bits&signBit == 0, "nbits: negative")
	return t
}

// bitsAfter is the target of the first header of a new epoch: from the time that the
// last one took, up to four times as easy or as hard.
func bitsAfter(on wire.StoredHeader) uint32 {
	assert(on.Header.Time >= on.LastAdjustment, "u32_sub Overflow")
	took := min(max(on.Header.Time-on.LastAdjustment, epochSeconds/4), epochSeconds*4)
	t := target(on.Header.Bits)
	t.Mul(t, big.NewInt(int64(took)))
	assert(t.BitLen() <= 256, "u256_mul Overflow")
	if t.Div(t, big.NewInt(epochSeconds)); t.Cmp(easiest) > 0 {
		t = easiest
	}
	return rawtx.Compact(t)
}

// next checks a header that follows a stored one and returns how it is stored. now is
// the chain's clock in Unix seconds.
func (r Rules) next(on wire.StoredHeader, h bitcoin.Header, now uint64) wire.StoredHeader {
	assert(h.PrevBlock == on.Header.Hash(), "update_chain: prev blockhash")
	assert(on.Header.Height < math.MaxUint32, "u32_add Overflow")
	if r.Retarget {
		if (on.Header.Height+1)%epochBlocks == 0 {
			assert(h.Bits == bitsAfter(on), "update_chain: new nbits")
		} else {
			assert(h.Bits == on.Header.Bits, "update_chain: nbits")
		}
	}
	limit := target(h.Bits)
	hash := h.Hash()
	slices.Reverse(hash[:])
	assert(new(big.Int).SetBytes(hash[:]).Cmp(limit) < 0, "update_chain: invalid PoW")
	later := 0
	for _, t := range append(on.PreviousTimes[:], on.Header.Time) {
		if h.Time > t {
			later++
		}
	}
	assert(later > median, "update_chain: timestamp median")
	assert(now+maxFuture <= math.MaxUint32, "u32_add Overflow")
	assert(uint64(h.Time) < now+maxFuture, "update_chain: timestamp future")
	next, err := on.Next(h)
	if err != nil {
		abort("u256_add Overflow") // of the chain work: the rest was checked
	}
	return next
}
