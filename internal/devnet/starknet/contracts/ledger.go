package contracts

import "sort"

// version is a value from a block on, until the next version.
type version[T any] struct {
	block uint64
	value T
}

// history is every value that keys have had.
type history[K comparable, T any] struct {
	all     map[K][]version[T]
	changed map[uint64][]K // in a block
}

func newHistory[K comparable, T any]() history[K, T] {
	return history[K, T]{map[K][]version[T]{}, map[uint64][]K{}}
}

// at returns a value as it was after a block.
func (h history[K, T]) at(k K, block uint64) (value T) {
	all := h.all[k]
	if i := sort.Search(len(all), func(i int) bool { return all[i].block > block }); i > 0 {
		return all[i-1].value
	}
	return value
}

// set gives a key a value from a block on, which is the newest.
func (h history[K, T]) set(k K, block uint64, value T) {
	all := h.all[k]
	if n := len(all); n > 0 && all[n-1].block == block {
		all[n-1].value = value
		return
	}
	h.all[k] = append(all, version[T]{block, value})
	h.changed[block] = append(h.changed[block], k)
}

// cut takes away what a block has changed, which is the newest.
func (h history[K, T]) cut(block uint64) {
	for _, k := range h.changed[block] {
		if all := h.all[k]; len(all) > 1 {
			h.all[k] = all[:len(all)-1]
		} else {
			delete(h.all, k)
		}
	}
	delete(h.changed, block)
}

// ledger is every state that the chain went through.
type ledger struct {
	slots   history[slot, Felt]
	classes history[Felt, Felt]
	nonces  history[Felt, uint64]
}

func newLedger() *ledger {
	return &ledger{newHistory[slot, Felt](), newHistory[Felt, Felt](), newHistory[Felt, uint64]()}
}

func (l *ledger) cut(block uint64) {
	l.slots.cut(block)
	l.classes.cut(block)
	l.nonces.cut(block)
}

// apply keeps what a run has changed as part of a block.
func (l *ledger) apply(r *run, block uint64) {
	for s, v := range r.changed {
		if r.base.storage(s) != v {
			l.slots.set(s, block, v)
		}
	}
	for at, class := range r.classes {
		l.classes.set(at, block, class)
	}
	for at, n := range r.nonces {
		l.nonces.set(at, block, n)
	}
}

// moment is the ledger after a block.
type moment struct {
	*ledger
	block uint64
}

func (m moment) storage(s slot) Felt    { return m.slots.at(s, m.block) }
func (m moment) classAt(at Felt) Felt   { return m.classes.at(at, m.block) }
func (m moment) nonceOf(at Felt) uint64 { return m.nonces.at(at, m.block) }
