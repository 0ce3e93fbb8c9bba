// Package rpc asks nodes of Starknet over JSON-RPC.
//
// [Dial] takes one or several URLs and gives [Nodes], a [Node]; how it deals with nodes
// is described in package jsonrpc. The functions that end in Request write questions and
// say what they are answered with; any number of them go out together. A node is asked
// which version of the interface it speaks, 0.7 to 0.10, and gets questions in its own
// words; answers of all versions are read into the same types.
//
// What is in a block and what is only being put into one are told apart by type: an
// [At] is a state of accepted blocks, and all that is read at the block that is being
// made has PreConfirmed in its name. It can vanish without a trace.
//
// Answers are bounded, felts in them are below the prime, and an answer that cannot be
// one to its question makes the node be passed over. What is left is that the node says
// so: nothing here proves it. Of what contracts mean it knows nothing (protocol:
// chain-starknet.md §3).
package rpc
