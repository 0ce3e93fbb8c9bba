package lp

import (
	"math"
	"math/big"
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

// WholeWallet returns the sats that are left for the LP when a user swaps all
// coins that are worth their fee at a rate in sats/vB, as LPs compute it; 0 if
// nothing is left. dataLen is the length of the withdrawal's data. What coins
// pay for their unconfirmed parents is their own cost (protocol: lp-protocol.md
// §8.4).
func WholeWallet(coins []InputCost, dataLen int, rate float64) *big.Int {
	push := shortPush
	if dataLen > longestPush {
		push = longPush
	}
	size := math.Ceil(frameVSize + vaultVSize + dataVSize + float64(push+dataLen) + payeeVSize)
	var value int64
	var fees float64
	for _, c := range coins {
		fee := float64(c.VSize * rate)
		if c.CPFP != nil {
			fee += math.Ceil(c.CPFP.EffectiveVSize * max(0, rate-c.CPFP.EffectiveFeeRate))
		}
		if fee <= float64(c.Value) {
			value += c.Value
			fees += fee
		}
	}
	left := math.Floor(float64(value) - math.Ceil(fees) - float64(size*rate))
	if !(left > 0) {
		return new(big.Int)
	}
	return big.NewInt(int64(left))
}
