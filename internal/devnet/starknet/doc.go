// Package starknet is a private Starknet network in the process: a chain that executes
// signed transactions of version 3 ([contracts.Chain]), the swap contracts as Go functions
// ([contracts]), accounts with funds, a Bitcoin relay that follows a local Bitcoin
// network, and JSON-RPC servers in front of it ([NodeServer]). It reorganises, forgets and
// holds back what it is told to.
//
//	net, err := starknet.Start(starknet.Options{})
//	defer net.Close()
//	net.URL()        // JSON-RPC on a loopback socket
//	net.Network()    // the contracts, as package wire wants them
//	net.LP.Send(ctx, calls...)               // signed, executed, checked
//	net.Bitcoin().Mine(1); net.SyncRelay(ctx)
//	net.Advance(time.Hour)                   // the chain's time
//	net.Reorg(2)                             // the last two blocks are gone, their transactions wait again
//
// A transaction is executed and its block is closed as soon as it comes in, unless
// [Options].Manual or [Net.SetMining] say otherwise: then it is pre-confirmed until a
// block is made.
//
// The contracts and tokens stand at the addresses that they have on Sepolia, and the
// chain has the same id, so that clients of the public network find what they know.
//
// # JSON-RPC
//
// [NodeServer] is the JSON-RPC interface of a Starknet node over HTTP, in front of a
// [contracts.Chain]: the methods of the read, trace and write interfaces that clients of the
// swap network and the usual SDKs use, in the versions 0.7 to 0.10 of the specification.
// A server speaks the version that it was started with; a path that ends with /v0_7 and
// so on asks for another one, as on public nodes. Of the errors that nodes answer with,
// codes, messages and data are those of the specification.
//
// Transactions have bounds for all three kinds of gas, in whatever version they are sent:
// the network takes no others any more.
//
// A server misbehaves on request ([NodeFault]).
package starknet
