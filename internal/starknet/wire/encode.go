package wire

import (
	"encoding/binary"
	"math/big"
)

// chunk is how many bytes one felt carries.
const chunk = 31

var limb = new(big.Int).Lsh(big.NewInt(1), 128)

// felts are calldata in the making: what contracts serialise, in order (§4).
type felts []Felt

func (w felts) add(all ...Felt) felts { return append(w, all...) }

func (w felts) uint(n uint64) felts { return append(w, FeltOf(n)) }

// number appends a number that is known to be below P.
func (w felts) number(n *big.Int) felts {
	var f Felt
	return append(w, *f.SetBigInt(n))
}

// u256 appends the low and the high half of a number that is known to have at most
// 256 bits.
func (w felts) u256(n *big.Int) felts {
	high, low := new(big.Int).QuoRem(n, limb, new(big.Int))
	return w.number(low).number(high)
}

// span appends a list with its length.
func (w felts) span(all ...Felt) felts { return w.uint(uint64(len(all))).add(all...) }

// words appends bytes as big-endian words of 32 bits, as contracts hold hashes and
// headers of Bitcoin. Their number must be a multiple of four.
func (w felts) words(b []byte) felts {
	for ; len(b) >= 4; b = b[4:] {
		w = w.uint(uint64(binary.BigEndian.Uint32(b)))
	}
	return w
}

// U256 returns the low and the high half of a number as felts, and false if it is
// not from 0 to 2^256-1.
func U256(n *big.Int) (low, high Felt, ok bool) {
	if !inBits(n, 256) {
		return low, high, false
	}
	both := felts(nil).u256(n)
	return both[0], both[1], true
}

// Chunks cuts bytes into felts of 31 bytes, the last one short. An empty slice gives an empty list.
func Chunks(b []byte) []Felt {
	all := make([]Felt, 0, (len(b)+chunk-1)/chunk)
	for len(b) > 0 {
		n := min(len(b), chunk)
		all = append(all, bytesFelt(b[:n]))
		b = b[n:]
	}
	return all
}

// bytesFelt reads at most 31 bytes.
func bytesFelt(b []byte) (f Felt) {
	f.SetBytes(b)
	return f
}

// fromChunks is the inverse of [Chunks]. It returns false unless there are exactly as
// many felts as n bytes need, and each fits its bytes.
func fromChunks(all []Felt, n int) ([]byte, bool) {
	if n < 0 || len(all) != (n+chunk-1)/chunk {
		return nil, false
	}
	b := make([]byte, 0, n)
	for _, f := range all {
		size := min(n-len(b), chunk)
		if bitLen(f) > 8*size {
			return nil, false
		}
		full := f.Bytes()
		b = append(b, full[32-size:]...)
	}
	return b, true
}

// ByteArray is how contracts take bytes of any length: the number of full words of 31
// bytes, the words, what is left over, and its length from 0 to 30. For a length that
// is a multiple of 31 the reference leaves a whole word over, which is not how Cairo
// writes it (§20.7).
func ByteArray(b []byte) []Felt {
	full := len(b) / chunk
	w := make(felts, 0, full+3).span(Chunks(b[:full*chunk])...)
	left := b[full*chunk:]
	return w.add(bytesFelt(left)).uint(uint64(len(left)))
}

// bytesOfWords joins felts of 32 bits each, and returns false if one has more.
func bytesOfWords(all []Felt) ([]byte, bool) {
	b := make([]byte, 0, 4*len(all))
	for _, f := range all {
		if bitLen(f) > 32 {
			return nil, false
		}
		b = binary.BigEndian.AppendUint32(b, uint32(f.Uint64()))
	}
	return b, true
}
