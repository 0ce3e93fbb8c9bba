package bitcoin

// Prospect is what the outputs that a transaction spends say about its future.
type Prospect uint8

const (
	// ProspectUnknown: too little is known to say anything.
	ProspectUnknown Prospect = iota
	// ProspectOpen: nothing else spends an input, as far as is known.
	ProspectOpen
	// ProspectContested: an unconfirmed other transaction spends an input. Either
	// may be mined.
	ProspectContested
	// ProspectIncluded: the transaction itself is in a block.
	ProspectIncluded
	// ProspectDead: another transaction that spends an input is in a block. Only a
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
// that it spends, one [Spend] per input (protocol: bitcoin.md §13). It is asked
// when the backend does not find the transaction (any more).
//
// An output that the backend does not know is no evidence of anything, and
// neither is a spend by the transaction itself, which a backend can report while
// it does not find the transaction. A backend that cannot name a spender is
// believed only as far as it goes: a transaction's inputs are confirmed together,
// so a confirmed spend beside an output that is certainly unspent is somebody else's.
func Conflict(txid Hash, inputs []Spend) Prospect {
	var own, other, mempool, unnamed, unspent, unknown bool
	for _, s := range inputs {
		named := s.TxID != Hash{}
		switch {
		case s.State == Unspent:
			unspent = true
		case s.State == SpentConfirmed && s.TxID == txid:
			own = true
		case s.State == SpentConfirmed && named:
			other = true
		case s.State == SpentConfirmed:
			unnamed = true
		case s.State == SpentInMempool && s.TxID == txid:
		case s.State == SpentInMempool && named:
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
