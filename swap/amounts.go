package swap

import (
	"math/big"
)

func MulDiv(a, b, c *big.Int) *big.Int {
	n := new(big.Int).Mul(a, b)
	return n.Quo(n, c)
}
