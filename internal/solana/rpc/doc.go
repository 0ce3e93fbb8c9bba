// Package rpc asks nodes of Solana over JSON-RPC.
//
// [Dial] takes one or several URLs and gives [Nodes], a [Node]; how it deals with
// nodes is described in package jsonrpc. The functions that end in Request write
// questions, each with its commitment, and say what they are answered with; any number
// of them go out together. Answers that are bound to a state of the ledger carry the
// slot of that state. Of what accounts and transactions mean it knows nothing
// (protocol: chain-solana.md §3).
package rpc
