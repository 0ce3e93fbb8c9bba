package wire

import (
	"fmt"
	"math"
	"math/big"
)

// reader takes values out of a list of felts and keeps the first error. It does not
// change the list.
type reader struct {
	rest []Felt
	err  error
}

func (r *reader) fail(format string, args ...any) {
	if r.err == nil {
		r.err = fmt.Errorf(format, args...)
	}
}

// take returns the next n felts, zeros if there are fewer.
func (r *reader) take(n int) []Felt {
	if r.err == nil && n > len(r.rest) {
		r.fail("%d felts are missing", n-len(r.rest))
	}
	if r.err != nil {
		return make([]Felt, n)
	}
	taken := r.rest[:n:n]
	r.rest = r.rest[n:]
	return taken
}

func (r *reader) felt() Felt { return r.take(1)[0] }

// uint reads a number of at most so many bits, 64 of them at most.
func (r *reader) uint(size int) uint64 {
	f := r.felt()
	if bitLen(f) > size {
		r.fail("%s has more than %d bits", Hex(f), size)
		return 0
	}
	return f.Uint64()
}

func (r *reader) u32() uint32 { return uint32(r.uint(32)) }

func (r *reader) u128() *big.Int {
	f := r.felt()
	if bitLen(f) > 128 {
		r.fail("%s has more than 128 bits", Hex(f))
		return new(big.Int)
	}
	return Number(f)
}

func (r *reader) u256() *big.Int {
	low, high := r.u128(), r.u128()
	return high.Lsh(high, 128).Or(high, low)
}

func (r *reader) flag() bool {
	n := r.uint(64)
	if n > 1 {
		r.fail("%d is neither 0 nor 1", n)
	}
	return n == 1
}

// address reads a contract's address.
func (r *reader) address() Felt {
	f := r.felt()
	if !validAddress(f) {
		r.fail("%s is not an address", Hex(f))
	}
	return f
}

// span reads a list that has its length before it.
func (r *reader) span() []Felt {
	n := r.uint(64)
	if r.err == nil && n > uint64(len(r.rest)) {
		r.fail("a list of %d felts is longer than what there is", n)
	}
	if r.err != nil {
		return nil
	}
	return r.take(int(n))
}

// words reads n words of 32 bits as bytes.
func (r *reader) words(n int) []byte {
	b, ok := bytesOfWords(r.take(n))
	if !ok {
		r.fail("a word has more than 32 bits")
		return make([]byte, 4*n)
	}
	return b
}

// byteArray reads bytes of any length in the one form of [ByteArray].
func (r *reader) byteArray() []byte {
	full := r.span()
	pending, left := r.felt(), r.uint(64)
	if r.err == nil && left >= chunk {
		r.fail("%d bytes are left over, must be fewer than %d", left, chunk)
	}
	if r.err != nil {
		return nil
	}
	b, ok := fromChunks(full, len(full)*chunk)
	if !ok || bitLen(pending) > 8*int(left) {
		r.fail("a part of the bytes does not fit its length")
		return nil
	}
	tail := pending.Bytes()
	return append(b, tail[32-left:]...)
}

// end fails if anything is left.
func (r *reader) end() error {
	if r.err == nil && len(r.rest) > 0 {
		r.fail("%d felts too many", len(r.rest))
	}
	return r.err
}

// seconds reads a time, which contracts hold in 64 bits. One that is beyond the
// largest int64 is so far away that it may be that.
func seconds(n uint64) int64 {
	if n > math.MaxInt64 {
		return math.MaxInt64
	}
	return int64(n)
}
