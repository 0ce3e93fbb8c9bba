// Package solana is a private Solana network in the process: a bank that executes
// real transactions ([bank]), the swap network's programs in both versions
// ([programs]), JSON-RPC and websockets on loopback sockets ([rpc]), funded keys,
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
package solana
