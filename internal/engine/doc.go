// Package engine moves swaps from state to state. Whatever wakes it - a caller, a
// timer, an event, a restart - it makes the same pass over one record: load, observe,
// decide by the tables of package swap, write by compare-and-set, act. It knows no
// swap type and no chain: [Reader] reads chains, and [Executor] carries out effects.
package engine
