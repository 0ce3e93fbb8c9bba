// Package starknet is a private Starknet network with the swap contracts: a chain that
// executes signed transactions of version 3 (package state), the contracts (package
// contracts), accounts with funds, the Bitcoin relay, and JSON-RPC servers in front of
// it. It reorganises, forgets and holds back what it is told to.
//
// The contracts stand at the addresses that they have on Sepolia, and the chain has the
// same id, so that clients of the public network find what they know.
package starknet
