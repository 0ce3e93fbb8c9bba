// Package rpc asks nodes of EVM chains over JSON-RPC.
//
// [Dial] takes one or several URLs and gives [Nodes], a [Node]; how it deals with nodes
// is described in package jsonrpc. Here is what is particular to EVM chains: the chain
// id by which a node is believed, the age of its newest block, which errors are answers,
// and searches of logs, which are halved when a node finds them too wide. [CallRequest],
// [LogRequest] and their like write the requests. Of what the answers mean it knows
// blocks and logs, and no contract.
package rpc
