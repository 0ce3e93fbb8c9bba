// Package rpc answers Solana's JSON-RPC for a [bank.Bank] on loopback sockets:
// over HTTP, in batches too, and over websockets with subscriptions. Answers and
// errors have the form of Agave's, so that web3.js, solana-go and other clients
// take a server for a node.
//
// Several servers can stand in front of one bank, and each can be told to
// misbehave ([Fault]).
package rpc
