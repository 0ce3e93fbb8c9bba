// Package engine makes swaps move. Whatever wakes it - a caller, a timer, an
// event, a restart - it makes the same pass over one record: load, observe,
// decide by the tables of package swap, write by compare-and-set, act. It knows no
// swap type and no chain: a chain is behind [Reader], what is done to the outside
// behind [Executor].
package engine
