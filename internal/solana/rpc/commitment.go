package rpc

// level is how sure the cluster is of a state.
type level int

const (
	finalized level = iota // the safest is the zero value
	confirmed
	processed
)

// At is the state that a question is about: at which commitment, and from which slot
// on. The zero At is Finalized: commitments are never left to the node.
type At struct {
	level level
	since uint64
}

// Processed, Confirmed and Finalized are the newest states of each commitment:
// executed by the node; voted for by two thirds of the stake, about a second old; not
// to be undone, about 13 seconds old.
var (
	Processed = At{level: processed}
	Confirmed = At{level: confirmed}
	Finalized = At{level: finalized}
)

// Since returns the state with the demand that the node has got to a slot; one that
// has not is passed over.
func (a At) Since(slot uint64) At {
	a.since = slot
	return a
}

// String returns the commitment's name.
func (a At) String() string {
	return [...]string{finalized: "finalized", confirmed: "confirmed", processed: "processed"}[a.level]
}

// options is the last parameter of a call.
type options map[string]any

// with puts a state into the options of a call.
func (a At) with(o options) options {
	if o == nil {
		o = options{}
	}
	o["commitment"] = a.String()
	if a.since > 0 {
		o["minContextSlot"] = a.since
	}
	return o
}
