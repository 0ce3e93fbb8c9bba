// Package swap is what a swap is and how it moves, as data and pure functions:
// the [Record] that is stored, the questions a swap asks of the world ([Ask]) and
// their answers ([Observation]), one [Flow] per type with its table of states and
// moves, the [Effect]s that it wants, how it is shown ([View]), and the index keys
// that it is found by.
//
// A pass over a swap, which package internal/engine makes, is
//
//	load       the record
//	observe    ask what the type wants to know; reads only, each round in parallel
//	decide     [Flow.Step]: fill in facts, then take the first row of the type's table whose guard holds
//	write      compare-and-set; lost: begin again
//	act        start the effects that are due; never waited for, an outcome is the input of another pass
//
// Nothing here knows a context, a clock, a store or a network: time is in [In], and
// a smart chain is only what package chains says of it.
package swap
