package contracts

import (
	"encoding/binary"
	"math/big"

	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/internal/starknet/wire"
)

// reader reads felts as contracts do. It is as lenient as they are, where package wire,
// which reads for a client, takes one form of each thing: contracts take any number but
// 0 as true, any 128 bits as flags, and bytes that the reference writes otherwise than
// Cairo (§4).
type reader struct {
	rest   []Felt
	failed bool // something did not fit its type; what is read from then on is zero
}

func (r *reader) fail() {
	r.rest, r.failed = nil, true
}

func readFelt(r *reader) (f Felt) {
	if len(r.rest) == 0 {
		r.fail()
		return f
	}
	f, r.rest = r.rest[0], r.rest[1:]
	return f
}

// number reads a number of at most so many bits.
func number(r *reader, bits int) *big.Int {
	n := wire.Number(readFelt(r))
	if n.BitLen() > bits {
		r.fail()
		n.SetInt64(0)
	}
	return n
}

func readU8(r *reader) uint8   { return uint8(number(r, 8).Uint64()) }
func readU32(r *reader) uint32 { return uint32(number(r, 32).Uint64()) }
func readU64(r *reader) uint64 { return number(r, 64).Uint64() }

func readU128(r *reader) *big.Int { return number(r, 128) }

func readU256(r *reader) *big.Int {
	low, high := readU128(r), readU128(r)
	return high.Or(high.Lsh(high, 128), low)
}

func readBool(r *reader) bool {
	f := readFelt(r)
	return !f.IsZero()
}

// readAddress reads the address of a contract, or the hash of a class: a number below
// 2^251.
func readAddress(r *reader) (f Felt) {
	if f = readFelt(r); wire.Number(f).BitLen() > 251 {
		r.fail()
		return Felt{}
	}
	return f
}

// convert reads one felt as a value of a narrower type, and returns false if it is none.
func convert[T any](f Felt, read func(*reader) T) (T, bool) {
	r := reader{rest: []Felt{f}}
	v := read(&r)
	return v, !r.failed
}

// readList reads a list that has its length before it. Every item takes a felt at
// least.
func readList[T any](r *reader, read func(*reader) T) (all []T) {
	n := readU32(r)
	if uint64(n) > uint64(len(r.rest)) {
		r.fail()
		return nil
	}
	for range n {
		if all = append(all, read(r)); r.failed {
			return nil
		}
	}
	return all
}

func readFelts(r *reader) []Felt { return readList(r, readFelt) }

// readOption reads what may be missing.
func readOption[T any](r *reader, read func(*reader) T) *T {
	switch readU8(r) {
	case 0:
		v := read(r)
		return &v
	case 1:
	default:
		r.fail()
	}
	return nil
}

// readHash reads eight words of 32 bits: a hash, or other 32 bytes.
func readHash(r *reader) (h bitcoin.Hash) {
	for i := range 8 {
		binary.BigEndian.PutUint32(h[4*i:], readU32(r))
	}
	return h
}

// wordSize is how many bytes of a ByteArray a felt holds.
const wordSize = 31

// readBytes reads a ByteArray. What is left over after the full words may be a whole
// word too, as the reference leaves it (§4).
func readBytes(r *reader) (b []byte) {
	for _, w := range readFelts(r) {
		full := w.Bytes()
		if full[0] != 0 {
			r.fail()
		}
		b = append(b, full[1:]...)
	}
	pending, left := readFelt(r), readU32(r)
	if left > wordSize {
		r.fail()
	}
	if r.failed {
		return nil
	}
	full := pending.Bytes()
	return append(b, full[32-left:]...)
}

// felts are what a contract returns, emits or hashes.
type felts []Felt

func (w felts) add(all ...Felt) felts  { return append(w, all...) }
func (w felts) uint(n uint64) felts    { return append(w, wire.FeltOf(n)) }
func (w felts) span(all ...Felt) felts { return w.uint(uint64(len(all))).add(all...) }
func (w felts) hash(h [32]byte) felts  { return w.words(h[:]) }
func (w felts) pair(n [2]uint64) felts { return w.uint(n[0]).uint(n[1]) }
func (w felts) bytes(b []byte) felts   { return w.add(wire.ByteArray(b)...) }
func (w felts) poseidon() Felt         { return wire.Poseidon(w...) }

func (w felts) bool(b bool) felts {
	if b {
		return w.uint(1)
	}
	return w.uint(0)
}

func (w felts) u256(n *big.Int) felts {
	low, high := Split(n)
	return w.add(low, high)
}

func (w felts) words(b []byte) felts {
	for ; len(b) >= 4; b = b[4:] {
		w = w.uint(uint64(binary.BigEndian.Uint32(b)))
	}
	return w
}
