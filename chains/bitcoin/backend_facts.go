package bitcoin

import (
	"fmt"
	"slices"

	"github.com/btcsuite/btcd/wire"
)

// UTXO is an unspent output of an address as a backend knows it.
type UTXO struct {
	OutPoint
	Value  int64  // sats
	Height uint32 // of its block, 0 when unconfirmed
}

// FeeRates are the rates that a backend recommends, unmodified: Fastest can be
// below Minimum and below 1.
type FeeRates struct {
	Fastest float64 // sat/vB to be in one of the next blocks
	Minimum float64 // sat/vB below which transactions are not relayed
}

// HighestFeeRate is a rate in sat/vB far above any that was ever needed. A backend that
// recommends more is not believed.
const HighestFeeRate = 10_000

// Check returns an error unless both rates are numbers from 0 to [HighestFeeRate].
func (r FeeRates) Check() error {
	if r.Fastest >= 0 && r.Fastest <= HighestFeeRate && r.Minimum >= 0 && r.Minimum <= HighestFeeRate {
		return nil
	}
	return fmt.Errorf("invalid fee rates of %v and %v sat/vB: they must be from 0 to %d", r.Fastest, r.Minimum, HighestFeeRate)
}

// NodeLiquidity describes a Lightning node's public channels.
type NodeLiquidity struct {
	PublicKey string // 66 lower-case hex digits
	Capacity  int64  // total capacity of its channels in sats, both sides
	Channels  int    // active ones
}

// Fee returns inputs minus outputs in sats, and false if not every spent output
// is known.
func (t *Tx) Fee() (int64, bool) {
	var fee int64
	for i := range t.Msg.TxIn {
		if i >= len(t.Prevouts) || t.Prevouts[i] == nil {
			return 0, false
		}
		fee += t.Prevouts[i].Value
	}
	for _, out := range t.Msg.TxOut {
		fee -= out.Value
	}
	return fee, true
}

// Spends reports whether the transaction spends op.
func (t *Tx) Spends(op OutPoint) bool {
	return slices.ContainsFunc(t.Msg.TxIn, func(in *wire.TxIn) bool { return in.PreviousOutPoint == op })
}

// Output returns output i, and false if the transaction has none of that index.
func (t *Tx) Output(i uint32) (*wire.TxOut, bool) {
	if uint64(i) >= uint64(len(t.Msg.TxOut)) {
		return nil, false
	}
	return t.Msg.TxOut[i], true
}
