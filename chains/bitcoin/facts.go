package bitcoin

import (
	"time"

	"github.com/btcsuite/btcd/wire"
)

// Tx is a transaction together with what a backend knows about its place in
// the chain.
type Tx struct {
	ID            Hash
	Msg           *wire.MsgTx   // with witness; shared, not to be changed
	Confirmations uint32        // 0: unconfirmed; 1: in the newest block
	Height        uint32        // of its block, 0 when unconfirmed
	BlockHash     Hash          // zero when unconfirmed
	BlockTime     time.Time     // of its block's header, zero when unconfirmed
	Prevouts      []*wire.TxOut // the output that each input spends; nil, or nil elements, where unknown or coinbase
}

// Confirmed reports whether the transaction is in a block of the best chain.
func (t *Tx) Confirmed() bool { return t.Confirmations > 0 }

// SpendState is what is known about an output of a transaction.
type SpendState uint8

const (
	// SpendUnknown: the backend knows no such transaction or no such output. It
	// says nothing about money; only the other three are facts.
	SpendUnknown   SpendState = iota
	Unspent                   // exists, and neither a block nor the mempool spends it
	SpentInMempool            // spent by an unconfirmed transaction, which may yet be replaced
	SpentConfirmed            // spent by a transaction in a block
)

// String returns unknown, unspent, mempool or confirmed.
func (s SpendState) String() string {
	switch s {
	case Unspent:
		return "unspent"
	case SpentInMempool:
		return "mempool"
	case SpentConfirmed:
		return "confirmed"
	}
	return "unknown"
}

// Spend is the answer to: who spent this output?
type Spend struct {
	State  SpendState
	TxID   Hash   // the spender, when State is SpentInMempool or SpentConfirmed; zero if the backend cannot name it
	Height uint32 // height of the spender's block, when State is SpentConfirmed; 0 if the backend cannot tell
}

// CPFP is the fee standing of an unconfirmed transaction together with its
// unconfirmed ancestors (protocol: bitcoin.md §5).
type CPFP struct {
	EffectiveFeeRate float64 // sat/vB that miners see
	AdjustedVSize    float64 // virtual bytes that this rate is paid for
}

// ProjectedBlock is one of the next blocks as a backend expects them, the very
// next one first. The last one of a list may stand for all that follow.
type ProjectedBlock struct {
	VSize      float64 // virtual bytes
	MinFeeRate float64 // sat/vB of the cheapest transaction in it
}
