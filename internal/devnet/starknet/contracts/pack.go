package contracts

import (
	"math/big"

	"github.com/swapper-go/swapper/internal/starknet/wire"
)

// Values are packed into as few places of storage as by the deployed contracts: each
// that changes costs its sender data gas.

// bits is a number that takes so many of them.
type bits struct {
	n    *big.Int
	size uint
}

func small(n uint64, size uint) bits { return bits{new(big.Int).SetUint64(n), size} }

// pack puts numbers into a felt, the first into its lowest bits. Together they must have
// at most 251.
func pack(parts ...bits) Felt {
	sum, at := new(big.Int), uint(0)
	for _, p := range parts {
		sum.Or(sum, new(big.Int).Lsh(p.n, at))
		at += p.size
	}
	f, err := wire.FeltOfBig(sum)
	if err != nil {
		panic(err) // contracts pack nothing that is larger than its size
	}
	return f
}

// unpack is the inverse of pack.
func unpack(f Felt, sizes ...uint) (all []*big.Int) {
	rest := wire.Number(f)
	for _, size := range sizes {
		mask := new(big.Int).Sub(new(big.Int).Lsh(big.NewInt(1), size), big.NewInt(1))
		all = append(all, mask.And(mask, rest))
		rest.Rsh(rest, size)
	}
	return all
}

// Of a number of 256 bits the lower ones take a felt; the upper ones are packed with
// other things.
const (
	lowerBits = 248
	upperBits = 8
)

func lower(n *big.Int) Felt {
	return pack(bits{new(big.Int).And(n, new(big.Int).Rsh(maxU256, upperBits)), lowerBits})
}

func upper(n *big.Int) bits { return bits{new(big.Int).Rsh(n, lowerBits), upperBits} }

// whole is the number of both parts.
func whole(low Felt, up *big.Int) *big.Int {
	n := new(big.Int).Lsh(up, lowerBits)
	return n.Or(n, wire.Number(low))
}
