package contracts

import "slices"

// Diff is what changed.
type Diff struct {
	Storage  []Stored
	Nonces   []Counted
	Deployed []Classed // contracts that did not exist
	Replaced []Classed
}

// Stored is a place in a contract's storage with its new value.
type Stored struct{ Contract, Key, Value Felt }

// Counted is an account with its new nonce.
type Counted struct {
	Contract Felt
	Nonce    uint64
}

// Classed is a contract with its new class.
type Classed struct{ Contract, Class Felt }

// diff is what a run has changed, in ascending order of addresses and keys.
func (r *run) diff() (d Diff) {
	for s, v := range r.changed {
		if r.base.storage(s) != v {
			d.Storage = append(d.Storage, Stored{s.contract, s.key, v})
		}
	}
	for at, n := range r.nonces {
		d.Nonces = append(d.Nonces, Counted{at, n})
	}
	for at, class := range r.classes {
		was := r.base.classAt(at)
		d.class(at, class, was)
	}
	d.sort()
	return d
}

func (d *Diff) class(at, class, was Felt) {
	if was.IsZero() {
		d.Deployed = append(d.Deployed, Classed{at, class})
	} else if was != class {
		d.Replaced = append(d.Replaced, Classed{at, class})
	}
}

func (d *Diff) sort() {
	slices.SortFunc(d.Storage, func(a, b Stored) int {
		if c := a.Contract.Cmp(&b.Contract); c != 0 {
			return c
		}
		return a.Key.Cmp(&b.Key)
	})
	slices.SortFunc(d.Nonces, func(a, b Counted) int { return a.Contract.Cmp(&b.Contract) })
	for _, all := range [][]Classed{d.Deployed, d.Replaced} {
		slices.SortFunc(all, func(a, b Classed) int { return a.Contract.Cmp(&b.Contract) })
	}
}

// diff is what a block has changed.
func (l *ledger) diff(block uint64) (d Diff) {
	before := moment{l, block - 1}
	for _, s := range l.slots.changed[block] {
		if v := l.slots.at(s, block); block == 0 || before.storage(s) != v {
			d.Storage = append(d.Storage, Stored{s.contract, s.key, v})
		}
	}
	for _, at := range l.nonces.changed[block] {
		d.Nonces = append(d.Nonces, Counted{at, l.nonces.at(at, block)})
	}
	for _, at := range l.classes.changed[block] {
		var was Felt
		if block > 0 {
			was = before.classAt(at)
		}
		d.class(at, l.classes.at(at, block), was)
	}
	d.sort()
	return d
}
