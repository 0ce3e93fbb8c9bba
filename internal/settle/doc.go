// Package settle combines the answers of all nodes of a chain into one.
//
// One node's word must not decide a step that cannot be undone. A settled question goes to
// each node of a chain separately, and to all at the same time ([Panel]). The answers are
// compared: a node whose newest block is older than what another node has seen lags; every other
// difference is a contradiction. A chain remembers an answer only after it was settled
// twice ([Entry], and the types made of entries: [Escrow], [Withdrawal], [Memory]).
//
// [NonceBook] is what a process knows of the nonces of accounts beyond what the nodes
// of a chain say: what it handed out, and what it sent and they may not have heard of.
// Nothing is reserved: a nonce that is kept for a transaction that never gets signed
// would block all later ones.
package settle
