package verify

import (
	"math"
	"math/big"

	"github.com/swapper-go/swapper/internal/lp"
)

// Sizes, in vB, of a withdrawal but for the user's inputs and the data (protocol:
// lp-protocol.md §8.4): what every transaction has, the vault's input and output,
// the head of the output with the data, the output to the LP.
const (
	frameVSize  = 10.5
	vaultVSize  = 41 + 16.75 + 9 + 34
	dataVSize   = 9
	payeeVSize  = 9 + 22
	shortPush   = 2 // before the data
	longPush    = 3
	longestPush = 75 // of data, with the short one
)

// wholeWallet returns the sats that are left for the LP when a user swaps all
// coins that are worth their fee at a rate in sats/vB, as the older and the newer
// version of LPs compute it; 0 if nothing is left. dataLen is the length of the
// withdrawal's data. What coins pay for their unconfirmed parents is their own
// cost (protocol: lp-protocol.md §8.4, lp-next.md).
func wholeWallet(coins []lp.InputCost, dataLen int, rate float64) [2]*big.Int {
	push := shortPush
	if dataLen > longestPush {
		push = longPush
	}
	base := frameVSize + vaultVSize + dataVSize + float64(push+dataLen) + payeeVSize
	var value int64
	var fees, size, parents float64
	for _, c := range coins {
		extra := 0.0
		if c.CPFP != nil {
			extra = math.Ceil(c.CPFP.EffectiveVSize * max(0, rate-c.CPFP.EffectiveFeeRate))
		}
		// Conversions keep products from being fused with sums: LPs round each.
		if fee := extra + float64(c.VSize*rate); fee <= float64(c.Value) {
			value += c.Value
			fees += fee
			size += c.VSize
			parents += extra
		}
	}
	older := math.Ceil(fees + float64(math.Ceil(base)*rate))
	newer := math.Ceil(float64(math.Ceil(base+size)*rate) + parents)
	var left [2]*big.Int
	for i, cost := range []float64{older, newer} {
		left[i] = new(big.Int)
		if rest := float64(value) - cost; rest > 0 {
			left[i].SetInt64(int64(rest))
		}
	}
	return left
}
