// Package rpc is the JSON-RPC interface of a Starknet node over HTTP, in front of a
// [state.Chain]: the methods of the read, trace and write interfaces that clients of the
// swap network and the usual SDKs use, in the versions 0.7 to 0.10 of the specification.
// A server speaks the version that it was started with; a path that ends with /v0_7 and
// so on asks for another one, as on public nodes. Of the errors that nodes answer with,
// codes, messages and data are those of the specification.
//
// Transactions have bounds for all three kinds of gas, in whatever version they are sent:
// the network takes no others any more.
//
// A server misbehaves on request ([Fault]).
package rpc
