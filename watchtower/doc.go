// Package watchtower says what a watchtower is told so that it can claim for a
// user who is not there, and how it gets there: a [Messenger], of which
// [OverNostr] is the network's.
package watchtower
