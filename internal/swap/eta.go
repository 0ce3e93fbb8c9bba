package swap

import (
	"time"

	"github.com/swapper-go/swapper/chains/bitcoin"
)

const (
	blockInterval = 10 * time.Minute
	// A projected block of more virtual bytes than this is not one block but the rest of the
	// mempool.
	aggregateVSize = 1 << 20
)

// Delay is when a transaction is expected to have enough confirmations.
type Delay struct {
	Known bool          // false: not in the foreseeable future, or nothing is known
	Wait  time.Duration // from now on, if Known; 0: it has them
}

// Seconds returns the wait in whole seconds, -1 if it is not known. The API's
// etaSeconds and expectedTimeSeconds are this number; the reference fills the
// former with milliseconds (protocol: bitcoin.md §12 and §20 row 1).
func (d Delay) Seconds() int64 {
	if !d.Known {
		return -1
	}
	return int64(d.Wait / time.Second)
}

// ConfirmationDelay estimates when a transaction with so many confirmations has
// the required ones. For an unconfirmed transaction, standing is what it pays
// with its ancestors, nil if the backend does not know it (it is gone, or has just
// been confirmed), and blocks are the next blocks as the backend projects them:
// the transaction goes into the first whose cheapest transaction pays no more.
func ConfirmationDelay(confirmations, required uint32, standing *bitcoin.CPFP, blocks []bitcoin.ProjectedBlock) Delay {
	if confirmations > 0 {
		return delayOf(int64(required) - int64(confirmations))
	}
	if standing == nil {
		return Delay{}
	}
	for i, b := range blocks {
		if !(b.MinFeeRate <= standing.EffectiveFeeRate) {
			continue
		}
		if i == len(blocks)-1 && b.VSize > aggregateVSize {
			return Delay{} // somewhere in the rest of the mempool
		}
		return delayOf(int64(i) + int64(required))
	}
	return Delay{}
}

// delayOf bounds the number of blocks (a million are 19 years), so that the
// duration cannot overflow.
func delayOf(blocks int64) Delay {
	return Delay{Known: true, Wait: time.Duration(min(max(blocks, 0), 1_000_000)) * blockInterval}
}
