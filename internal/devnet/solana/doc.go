// Package solana is a private Solana network in the process: a bank that executes
// real transactions ([bank]), the swap network's programs in both versions
// ([bank.Swap]), JSON-RPC and websockets on loopback sockets ([NodeServer]), funded keys,
// and Bitcoin relays that follow a local Bitcoin network.
//
//	net, err := solana.Start(solana.Options{})
//	defer net.Close()
//	net.URL()        // JSON-RPC on a loopback socket
//	net.Network()    // the programs, as package wire wants them
//	net.LP.Send(ctx, instructions...)        // signed, executed, checked
//	net.Bitcoin().Mine(1); net.SyncRelay(ctx)
//	net.Advance(time.Hour)                   // the chain's time, and the slots of that time
//	net.Reorg(2)                             // the last two blocks are gone, their transactions wait again
//
// A transaction is executed as soon as it comes in, unless [Options].Manual or
// [Net.SetMining] say otherwise. With [Options].SlotTime blocks also come by the
// clock, as on a public cluster.
//
// The programs and mints stand at the addresses that they have on the public
// clusters, so that clients which know those addresses need no others.
//
// [Party] is somebody with a key on the local Solana network and what providers
// and watchtowers do there: keep a balance in the swap program, open, claim and take
// back escrows, prove Bitcoin payments, and look how escrows stand. It reads and sends
// without a JSON-RPC server, so that the faults of servers do not concern it.
//
// # JSON-RPC
//
// [NodeServer] answers Solana's JSON-RPC for a [bank.Bank] on loopback sockets:
// over HTTP, in batches too, and over websockets with subscriptions. Answers and
// errors have the form of Agave's, so that web3.js, solana-go and other clients
// take a server for a node.
//
// Several servers can stand in front of one bank, and each can be told to
// misbehave ([NodeFault]).
package solana
