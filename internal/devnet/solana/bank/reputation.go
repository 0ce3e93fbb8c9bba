package bank

import (
	"math"

	"github.com/swapper-go/swapper/internal/solana/wire"
)

// Reputation counts how escrows towards a balance in the program ended, for the
// claimer. The counters stop at their largest value.

func succeeded(v *wire.UserVault, t wire.Terms) {
	r := &v.Reputation[t.Kind]
	count(&r.SuccessVolume, &r.SuccessCount, t.Amount)
}

func failed(v *wire.UserVault, t wire.Terms, agreed bool) {
	r := &v.Reputation[t.Kind]
	if agreed {
		count(&r.CoopCloseVolume, &r.CoopCloseCount, t.Amount)
	} else {
		count(&r.FailVolume, &r.FailCount, t.Amount)
	}
}

func count(volume, times *uint64, amount uint64) {
	*volume, *times = saturated(*volume, amount), saturated(*times, 1)
}

func saturated(a, b uint64) uint64 {
	if a+b < a {
		return math.MaxUint64
	}
	return a + b
}
