// Package explore holds tests alone: they take the tables of package swap through
// everything that the world may do to a swap, within bounds, and check the promises in
// every world that can be reached (docs/proof.md).
//
// A world is a small value: the chain, Bitcoin, the provider, the user, the clock. What
// nature, the provider and strangers may do are its actions, and something may be wrong
// with the look of the process after each. A state is a world with the stored record of
// the swap in it; states are merged when they differ in nothing that matters, and visited
// breadth first: all those with no surprise before those with one, and so on, or, with a
// bound on their number, those with the shortest stories first. The passes are those of the engine
// ([engine.Turn]), with its record codec, its keys and its rules of what counts as an
// answer; what the process remembers of the chain it remembers by the rule of package settle.
//
//	go test ./internal/swap/explore                                          a small bound, in seconds
//	go test ./internal/swap/explore -run TestExplore -explore 2 -timeout 4h  two surprises
package explore
