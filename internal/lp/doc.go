// Package lp has what a liquidity provider and its client say to each other: the
// requests, answers and their JSON, the codes and errors, and what the protocol makes of
// an escrow's time. It is pure: nothing here calls, waits or keeps anything.
//
// A liquidity provider is an adversary: nothing that it says is shown or acted
// on before it has been checked against something that it does not control. It
// may lie, stall, close connections or send without end; misbehaving costs the
// LP its quote and affects no other LP.
//
// What an answer's fields have to satisfy is not this layer's business beyond
// their form: amounts are whole and not negative, required fields are there. Package
// verify judges them, package lphttp makes the calls, and package discovery knows which
// LPs there are.
package lp
