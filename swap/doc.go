// Package swap is the engine that moves swaps, and the types of swaps as data.
//
// A swap moves because the outside world moved: a transaction was confirmed, a
// timer ran out, an LP answered, the user signed. Everything that wakes the
// engine runs the same pass over one record:
//
//	load       the record
//	observe    ask what the type wants to know; reads only, each round in parallel
//	decide     fill in facts, then take the first row of the type's table whose guard holds; pure
//	write      compare-and-set; lost: begin again
//	act        start the effects that are due; never waited for, an outcome is the input of another pass
//
// The engine knows no swap type and no chain: a type is a [Flow], a chain is a
// chains.Chain behind the [World].
package swap
