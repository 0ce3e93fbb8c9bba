// Package bigs has the few lines of arithmetic on big integers that several packages need.
package bigs

import "math/big"

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
