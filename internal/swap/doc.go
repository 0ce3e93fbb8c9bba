// Package swap defines what a swap is and how it moves, as data and pure
// functions: the stored [Record], the questions that a swap asks of the outside
// world ([Ask]) and the answers ([Observation]), one [Flow] per type with its
// table of states and moves, the [Effect]s to be carried out, the [View] for
// display, and the index keys.
//
// A pass over a swap, which package internal/engine makes, is
//
//	load       the record
//	observe    ask what the type wants to know; reads only, each round in parallel
//	decide     [Flow.Step]: fill in facts, then take the first row of the type's table whose guard holds
//	write      compare-and-set; lost: begin again
//	act        start the effects that are due; never waited for, an outcome is the input of another pass
//
// Nothing here uses a context, a clock, a store or a network: the time is in
// [Decision], and smart chains appear only through package chains.
//
// The numbers of states are the network's and part of stored records; the tables say what
// each state means.
//
// [ConfirmationDelay] and [Conflict] say what is to be expected of a Bitcoin transaction: how long until
// its confirmations, and whether it can still confirm when its inputs are spent elsewhere.
package swap
