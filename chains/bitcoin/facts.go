package bitcoin

import (
	"time"

	"github.com/btcsuite/btcd/wire"
)

// Tx is a transaction together with what a backend knows about its place in
// the chain.
type Tx struct {
	ID            Hash
	Msg           *wire.MsgTx   // with witness; shared, must not be modified
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
	// SpendUnknown means that the backend does not know the transaction or it
	// has no such output. Do not conclude anything about the money from it;
	// only the other three are facts.
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

// Spend says whether and by what an output is spent.
type Spend struct {
	State  SpendState
	TxID   Hash   // the spender, when State is SpentInMempool or SpentConfirmed; zero if the backend cannot name it
	Height uint32 // height of the spender's block, when State is SpentConfirmed; 0 if the backend cannot tell
}

// CPFP is the effective fee rate of an unconfirmed transaction, taking its
// unconfirmed ancestors into account (child pays for parent) (protocol:
// bitcoin.md §5).
type CPFP struct {
	EffectiveFeeRate float64 // sat/vB that miners see
	AdjustedVSize    float64 // virtual bytes to which EffectiveFeeRate applies
}

// ProjectedBlock is one of the next blocks that a backend expects to be mined.
// The last one in a list may hold the rest of the mempool.
type ProjectedBlock struct {
	VSize      float64 // virtual bytes
	MinFeeRate float64 // sat/vB of the cheapest transaction in it
}
