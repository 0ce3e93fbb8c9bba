// Package evmrpc asks nodes of EVM chains over JSON-RPC.
//
// [Dial] takes one or several URLs and gives [Nodes], a [Node]: it batches calls,
// passes over a node that is down, slow, behind or on another chain, tells answers
// from troubles, halves searches of logs that a node finds too wide, and bounds what
// it reads. [CallRequest], [LogRequest] and their like write the requests. Of what
// the answers mean it knows blocks and logs, and no contract.
package evmrpc
