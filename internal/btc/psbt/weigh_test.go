package psbt

import (
	"testing"

	"github.com/btcsuite/btcd/wire"

	"github.com/swapper-go/swapper/chains/bitcoin"
)

// A fee rate suffices if it is the least one or rounds up to it, also if the least
// is no whole number; the most is the most to the last sat.
func TestFeeRateLimits(t *testing.T) {
	for name, c := range map[string]struct {
		perVByte, least, most float64 // of a transaction without signatures
		ok                    bool
	}{
		"the least":                        {5, 5, 0, true},
		"rounded up to it":                 {4.5, 5, 0, true},
		"rounded down from it":             {4.25, 5, 0, false},
		"a fraction that is the least":     {1.25, 1.25, 0, true},
		"a fraction above the least":       {1.375, 1.25, 0, true},
		"a fraction below the least":       {1.125, 1.25, 0, false},
		"the most":                         {5, 1, 5, true},
		"above the most":                   {5.125, 1, 5, false},
		"without a most there is no bound": {5000, 1, 0, true},
	} {
		tx := wire.NewMsgTx(2)
		tx.AddTxIn(&wire.TxIn{PreviousOutPoint: bitcoin.OutPoint{Hash: bitcoin.Hash{1}}})
		for tx.SerializeSize()%8 != 0 { // so that eighths of a sat per byte are whole sats
			if len(tx.TxOut) == 0 {
				tx.AddTxOut(wire.NewTxOut(1000, nil))
			}
			tx.TxOut[0].PkScript = append(tx.TxOut[0].PkScript, 0x51)
		}
		size := int64(tx.SerializeSize())
		fee := int64(c.perVByte * float64(size))
		s := &SignedTx{Tx: tx, Spent: []*wire.TxOut{wire.NewTxOut(1000+fee, nil)}}
		if len(tx.TxOut) == 0 {
			t.Fatal("no output")
		}
		if err := s.weigh(Agreement{MinFeeRate: c.least, MaxFeeRate: c.most}); (err == nil) != c.ok {
			t.Errorf("%s: %v", name, err)
		}
		if s.VSize != size || s.Fee != fee || s.FeeRate != c.perVByte {
			t.Errorf("%s: %d sats for %d bytes, %v per byte; want %d, %d, %v", name, s.Fee, s.VSize, s.FeeRate, fee, size, c.perVByte)
		}
	}
}
