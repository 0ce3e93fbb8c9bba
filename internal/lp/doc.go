// Package lp talks to liquidity providers: it finds them, asks them for quotes,
// verifies every claim that they make, and follows up.
//
// A liquidity provider is an adversary: nothing that it says is shown or acted
// on before it has been checked against something that it does not control. It
// may lie, stall, close connections or send without end; misbehaving costs the
// LP its quote and affects no other LP.
//
// A [Client] makes the calls of the protocol, one method per endpoint. A
// [Directory] knows the LPs, what they offer and which of them are in the
// penalty box. [Collect] asks all that could serve a request and returns the
// best quote.
//
// What an answer's fields have to satisfy is not this layer's business beyond
// their form: amounts are whole and not negative, required fields are there.
package lp
