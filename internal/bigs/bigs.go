// Package bigs has the few lines of arithmetic on big integers that several packages need.
package bigs

import (
	"math/big"
	"slices"
)

// MulDiv returns a*b/c, rounded toward zero; c must not be zero.
func MulDiv(a, b, c *big.Int) *big.Int {
	n := new(big.Int).Mul(a, b)
	return n.Quo(n, c)
}

// OrZero returns n, or zero if it is nil.
func OrZero(n *big.Int) *big.Int {
	if n == nil {
		return new(big.Int)
	}
	return n
}

// Add returns a+b as a number of its own.
func Add(a, b *big.Int) *big.Int { return new(big.Int).Add(a, b) }

// Sub returns a-b as a number of its own.
func Sub(a, b *big.Int) *big.Int { return new(big.Int).Sub(a, b) }

// Percent returns p hundredths of n, rounded up; nil is zero.
func Percent(n *big.Int, p int64) *big.Int {
	n = new(big.Int).Mul(OrZero(n), big.NewInt(p))
	return n.Quo(n.Add(n, big.NewInt(99)), big.NewInt(100))
}

// LowerMedian returns the median of a part of each element of all, of an even number the lower one.
func LowerMedian[T any](all []T, part func(T) *big.Int) *big.Int {
	parts := make([]*big.Int, len(all))
	for i, v := range all {
		parts[i] = part(v)
	}
	slices.SortFunc(parts, (*big.Int).Cmp)
	return parts[(len(parts)-1)/2]
}
