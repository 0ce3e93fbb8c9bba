package psbt

import (
	"errors"
	"math"

	"github.com/swapper-go/swapper/chains/bitcoin"
)

// Spendable is the most that one output can carry.
type Spendable struct {
	Value float64 // sats, not rounded; 0 if it would be dust
	Fee   float64 // sats, not rounded
}

// Balance returns the value in whole sats, rounded down.
func (s Spendable) Balance() int64 { return int64(math.Floor(s.Value)) }

// MaxSpendable returns how much one further output of type target can carry
// when every coin that is worth its own fee is spent and no change is made. The
// change type of d is not used (protocol: bitcoin.md §8).
func MaxSpendable(d Draft, target bitcoin.AddressType, coins []Coin) (Spendable, error) {
	d.Change = 0
	if !target.Valid() {
		return Spendable{}, errors.New("the recipient's address type is unknown")
	}
	p, err := newPurse(d, coins)
	if err != nil {
		return Spendable{}, err
	}
	bytes, in, parents := d.vbytes(d.Required, target.ScriptLen()), p.in, 0.0
	for i := range p.coins {
		c := &p.coins[i]
		cost := parentFee(c.CPFP, d.FeeRate)
		if c.detrimental(d.FeeRate, cost) || p.tooHeavy(c) {
			continue
		}
		p.lift(c)
		bytes += inputVBytes(c.Type)
		in += c.Value
		parents += cost
	}
	fee := float64(d.FeeRate*bytes) + parents
	value := float64(in) - fee - float64(p.out)
	if value < float64(target.DustLimit()) {
		value = 0
	}
	return Spendable{Value: value, Fee: fee}, nil
}
