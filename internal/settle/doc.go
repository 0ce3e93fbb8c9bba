// Package settle decides what the nodes of a chain say together.
//
// One node's word must not decide what cannot be undone. A settled question goes to each
// node of a chain alone, to all at the same time ([Panel]). What they say is compared: a
// node whose newest block is older than what another has seen lags, and everything else
// that differs is a contradiction. What chains remember is kept only after it was settled
// twice ([Entry], and what is made of entries: [Escrow], [Withdrawal], [Memory]).
package settle
