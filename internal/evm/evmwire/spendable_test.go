package evmwire

import (
	"math/big"
	"testing"
)

func TestSpendable(t *testing.T) {
	for _, c := range []struct {
		name          string
		balance, cost int64
		ppm           uint64
		want          int64
	}{
		{"plain", 1000, 300, 1_000_000, 700},
		{"with a margin", 1000, 300, 1_500_000, 550},
		{"not enough", 100, 300, 1_000_000, 0},
		{"margin rounds down", 10, 3, 1_100_000, 7},
	} {
		if got := Spendable(big.NewInt(c.balance), big.NewInt(c.cost), c.ppm); got.Int64() != c.want {
			t.Errorf("%s: got %s, want %d", c.name, got, c.want)
		}
	}
}
