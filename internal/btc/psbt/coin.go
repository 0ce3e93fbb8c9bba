package psbt

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/btcsuite/btcd/wire"

	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/internal/btc/rawtx"
)

// parentFee is what a child must add, in whole sats, to lift the package to rate. Nil
// costs nothing.
func parentFee(c *bitcoin.CPFP, rate float64) float64 {
	if c == nil || c.EffectiveFeeRate >= rate {
		return 0
	}
	return math.Ceil(c.AdjustedVSize * (rate - c.EffectiveFeeRate))
}

// maxParentsVBytes is what the unconfirmed parents that a transaction pays for weigh at
// most, in vB: nodes relay none that would be larger together with what it waits for
// (Bitcoin Core, policy/policy.h: 101 kvB for a transaction's ancestors, for its
// descendants, and for a cluster). A size is a backend's word, so this also bounds what
// a false one costs.
const maxParentsVBytes = 101_000

// relayable leaves out coins that no transaction can spend before their parents are
// confirmed. The argument is not changed.
func relayable(coins []Coin, rate float64) []Coin {
	tooLarge := func(c Coin) bool {
		return parentFee(c.CPFP, rate) > 0 && c.CPFP.AdjustedVSize > maxParentsVBytes
	}
	if !slices.ContainsFunc(coins, tooLarge) {
		return coins
	}
	return slices.DeleteFunc(slices.Clone(coins), tooLarge)
}

// Coin is an unspent output that a transaction may spend.
type Coin struct {
	OutPoint bitcoin.OutPoint
	Value    int64 // sats
	Type     bitcoin.AddressType
	CPFP     *bitcoin.CPFP // nil when the output is confirmed, or nothing is known of its parents
}

// score orders coins: what is left of the value after paying for itself. Unlike
// in the fee, the cost of the parents is not rounded.
func (c *Coin) score(rate float64) float64 {
	s := float64(c.Value) - float64(rate*inputVBytes(c.Type))
	if c.CPFP != nil && c.CPFP.EffectiveFeeRate < rate {
		s -= float64(c.CPFP.AdjustedVSize * (rate - c.CPFP.EffectiveFeeRate))
	}
	return s
}

// detrimental reports whether spending the coin, with what it must add for its
// parents, costs more than it brings.
func (c *Coin) detrimental(rate, parents float64) bool {
	return float64(rate*inputVBytes(c.Type))+parents > float64(c.Value)
}

// funds checks coins and returns their sum.
func funds(coins []Coin) (int64, error) {
	var sum int64
	for i := range coins {
		c := &coins[i]
		switch {
		case !c.Type.Valid():
			return 0, fmt.Errorf("coin %s has an unknown address type", c.OutPoint)
		case c.Value < 0 || c.Value > rawtx.MaxMoney-sum:
			return 0, fmt.Errorf("coin %s: %d sats is not a valid amount", c.OutPoint, c.Value)
		case c.CPFP != nil && !(nonNegative(c.CPFP.AdjustedVSize) && nonNegative(c.CPFP.EffectiveFeeRate)):
			return 0, fmt.Errorf("coin %s: invalid unconfirmed parents, %v vB at %v sat/vB", c.OutPoint, c.CPFP.AdjustedVSize, c.CPFP.EffectiveFeeRate)
		}
		sum += c.Value
	}
	return sum, nil
}

// sumOutputs checks outputs and returns their sum.
func sumOutputs(outputs []wire.TxOut) (int64, error) {
	var sum int64
	for i := range outputs {
		v := outputs[i].Value
		if v < 0 || v > rawtx.MaxMoney-sum {
			return 0, fmt.Errorf("output %d: %d sats is not a valid amount", i, v)
		}
		sum += v
	}
	return sum, nil
}

func checkFeeRate(rate float64) error {
	if !nonNegative(rate) {
		return errors.New("fee rate is not a valid number of sat/vB")
	}
	return nil
}

// nonNegative reports whether x is a finite number, 0 or more.
func nonNegative(x float64) bool { return x >= 0 && x <= math.MaxFloat64 }
