package contracts

import "errors"

// Call kinds and kinds of entry points, as traces name them.
const (
	plainCall = "CALL"

	external    = "EXTERNAL"
	constructor = "CONSTRUCTOR"
)

// Invocation is one call of a contract, with what it called.
type Invocation struct {
	Contract, Caller, Class, Selector Felt
	Calldata, Result                  []Felt
	Entry, Kind                       string
	Calls                             []*Invocation
	Events                            []Event
	Gas                               uint64 // l2 gas with that of what it called
	Failed                            *Panic // nil: it succeeded
}

// Event is an event of a contract.
type Event struct {
	From       Felt
	Keys, Data []Felt
	Order      int // among those of the transaction's call
}

// AllEvents returns the events of an invocation and of what it called, in the order in
// which they were emitted. Those of what failed do not count.
func (i *Invocation) AllEvents() []Event {
	if i == nil || i.Failed != nil {
		return nil
	}
	all := i.Events
	for _, c := range i.Calls {
		all = append(all[:len(all):len(all)], c.AllEvents()...)
	}
	sortEvents(all)
	return all
}

// slot is a place in the storage of a contract.
type slot struct{ contract, key Felt }

// base is the ledger that a run stands on.
type base interface {
	storage(slot) Felt
	classAt(Felt) Felt
	nonceOf(Felt) uint64
}

// run is code under execution: a transaction, or a call without one.
type run struct {
	chain *Chain
	base  base
	tx    *TxInfo
	block BlockInfo

	changed map[slot]Felt
	classes map[Felt]Felt
	nonces  map[Felt]uint64
	journal []change

	used, limit uint64 // l2 gas
	events      int
}

// change is what undoes one.
type change struct {
	slot  slot
	class bool // it is the class of slot.contract that changed
	was   Felt
	fresh bool // there was none in the run
}

func (c *Chain) newRun(b base, block BlockInfo, tx *TxInfo, limit uint64) *run {
	return &run{chain: c, base: b, tx: tx, block: block, limit: limit, changed: map[slot]Felt{}, classes: map[Felt]Felt{}, nonces: map[Felt]uint64{}}
}

func (r *run) get(s slot) Felt {
	if v, ok := r.changed[s]; ok {
		return v
	}
	return r.base.storage(s)
}

func (r *run) set(s slot, v Felt) {
	was, ok := r.changed[s]
	r.journal = append(r.journal, change{slot: s, was: was, fresh: !ok})
	r.changed[s] = v
}

func (r *run) classOf(at Felt) Felt {
	if v, ok := r.classes[at]; ok {
		return v
	}
	return r.base.classAt(at)
}

func (r *run) deployed(at Felt) bool {
	class := r.classOf(at)
	return !class.IsZero()
}

func (r *run) setClass(at, class Felt) {
	was, ok := r.classes[at]
	r.journal = append(r.journal, change{slot: slot{contract: at}, class: true, was: was, fresh: !ok})
	r.classes[at] = class
}

func (r *run) nonceOf(at Felt) uint64 {
	if n, ok := r.nonces[at]; ok {
		return n
	}
	return r.base.nonceOf(at)
}

// A run is what the next one stands on.
func (r *run) storage(s slot) Felt  { return r.get(s) }
func (r *run) classAt(at Felt) Felt { return r.classOf(at) }

// mark is a point to which [run.undo] goes back.
func (r *run) mark() int { return len(r.journal) }

func (r *run) undo(mark int) {
	for len(r.journal) > mark {
		c := r.journal[len(r.journal)-1]
		r.journal = r.journal[:len(r.journal)-1]
		switch {
		case c.class && c.fresh:
			delete(r.classes, c.slot.contract)
		case c.class:
			r.classes[c.slot.contract] = c.was
		case c.fresh:
			delete(r.changed, c.slot)
		default:
			r.changed[c.slot] = c.was
		}
	}
}

// errOutOfGas unwinds everything: no contract can go on after it.
var errOutOfGas = errors.New("out of gas")

func (r *run) charge(gas uint64) {
	if gas > r.limit-min(r.used, r.limit) {
		r.used = r.limit
		panic(errOutOfGas)
	}
	r.used += gas
}

// guarded runs an outermost invocation; running out of gas is a panic like others.
func (r *run) guarded(i *Invocation, locked bool) (failed *Panic) {
	mark := r.mark()
	defer func() {
		if problem := recover(); problem != nil {
			if problem != errOutOfGas {
				panic(problem)
			}
			r.undo(mark)
			failed = because(outOfGas)
			i.Failed = failed
		}
	}()
	return r.invoke(i, 1, locked)
}
