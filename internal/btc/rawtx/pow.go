package rawtx

import (
	"fmt"
	"math/big"
)

// HeaderSize is the length in bytes of a serialised block header.
const HeaderSize = 80

// Target returns the number that a block hash must not exceed, from its compact
// form (nBits: one exponent byte, a sign bit, 23 bits of mantissa). Negative,
// zero and over-long targets, which no block may have, are an error.
func Target(bits uint32) (*big.Int, error) {
	mantissa, exponent := bits&0x7fffff, uint(bits>>24)
	target := Expand(mantissa, exponent)
	if bits&0x800000 != 0 || target.Sign() == 0 || target.BitLen() > 256 {
		return nil, fmt.Errorf("%08x is not a valid target", bits)
	}
	return target, nil
}

// Work returns the expected number of hashes for a block with the given compact
// target: floor((2^256-1-target)/(target+1)) + 1 (protocol: bitcoin.md §16). It
// is 0 for an invalid target.
func Work(bits uint32) *big.Int {
	target, err := Target(bits)
	if err != nil {
		return new(big.Int)
	}
	// 2^256/(target+1) is the same number and cannot leave the 256 bits.
	limit := new(big.Int).Lsh(big.NewInt(1), 256)
	return limit.Div(limit, target.Add(target, big.NewInt(1)))
}

// Difficulty returns the older measure of work, in units of the easiest block of
// mainnet: floor(0xffff * 2^208 / target). Light clients that count this instead
// of [Work] exist (protocol: chain-solana.md, bitcoin.md §16). It is 0 for an
// invalid target.
func Difficulty(bits uint32) *big.Int {
	target, err := Target(bits)
	if err != nil {
		return new(big.Int)
	}
	easiest := Expand(0xffff, 0x1d)
	return easiest.Div(easiest, target)
}

func Expand(mantissa uint32, exponent uint) *big.Int {
	t := big.NewInt(int64(mantissa))
	if exponent <= 3 {
		return t.Rsh(t, 8*(3-exponent))
	}
	return t.Lsh(t, 8*(exponent-3))
}

// Compact is the inverse of Target, rounding down to 23 bits of mantissa.
func Compact(target *big.Int) uint32 {
	size := uint(target.BitLen()+7) / 8
	var mantissa uint32
	if size <= 3 {
		mantissa = uint32(target.Uint64()) << (8 * (3 - size))
	} else {
		mantissa = uint32(new(big.Int).Rsh(target, 8*(size-3)).Uint64())
	}
	if mantissa&0x800000 != 0 { // would read as the sign
		mantissa >>= 8
		size++
	}
	return uint32(size)<<24 | mantissa
}
