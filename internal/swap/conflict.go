package swap

import (
	"github.com/swapper-go/swapper/chains/bitcoin"
)

// Prospect is what the outputs that a transaction spends say about its future.
type Prospect uint8

const (
	// Unknown: too little is known to say anything.
	ProspectUnknown Prospect = iota
	// Open: nothing else spends an input, as far as is known.
	ProspectOpen
	// Contested: an unconfirmed other transaction spends an input. Either
	// may be mined.
	ProspectContested
	// Included: the transaction itself is in a block.
	ProspectIncluded
	// Dead: another transaction that spends an input is in a block. Only a
	// reorganisation can bring this one back.
	ProspectDead
)

// String returns unknown, open, contested, included or dead.
func (p Prospect) String() string {
	switch p {
	case ProspectOpen:
		return "open"
	case ProspectContested:
		return "contested"
	case ProspectIncluded:
		return "included"
	case ProspectDead:
		return "dead"
	}
	return "unknown"
}

// Conflict tells the prospect of the transaction txid from who spent each output
// that it spends, one [bitcoin.Spend] per input (protocol: bitcoin.md §13). It is asked
// when the backend does not find the transaction (any more).
//
// An output that the backend does not know proves nothing, and neither does a spend
// by the transaction itself, which a backend can report while it does not find the
// transaction. A backend that cannot name a spender is believed only as far as it
// goes: a transaction's inputs are confirmed together, so a confirmed spend beside an
// output that is certainly unspent is somebody else's.
func Conflict(txid bitcoin.Hash, inputs []bitcoin.Spend) Prospect {
	var own, other, mempool, unnamed, unspent, unknown bool
	for _, s := range inputs {
		named := s.TxID != bitcoin.Hash{}
		switch {
		case s.State == bitcoin.Unspent:
			unspent = true
		case s.State == bitcoin.SpentConfirmed && s.TxID == txid:
			own = true
		case s.State == bitcoin.SpentConfirmed && named:
			other = true
		case s.State == bitcoin.SpentConfirmed:
			unnamed = true
		case s.State == bitcoin.SpentInMempool && s.TxID == txid:
		case s.State == bitcoin.SpentInMempool && named:
			mempool = true
		default: // unknown, or an unnamed one in the mempool, which may be the transaction itself
			unknown = true
		}
	}
	switch {
	case len(inputs) == 0 || own && (other || unspent):
		return ProspectUnknown // answers from two different moments
	case own:
		return ProspectIncluded
	case other || unnamed && unspent:
		return ProspectDead
	case mempool:
		return ProspectContested
	case unknown || unnamed:
		return ProspectUnknown
	}
	return ProspectOpen
}
