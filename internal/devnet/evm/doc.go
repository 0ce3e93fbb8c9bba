// Package evm is a private EVM network in the process: go-ethereum's own chain,
// transaction pool and JSON-RPC methods, our contracts with the ABI, hashes,
// events and rules of the swap network (protocol: chain-evm.md §2, sources in
// contracts/), funded keys, and a Bitcoin relay that follows a local Bitcoin
// network.
//
//	net, err := evm.Start(evm.Options{})
//	defer net.Close()
//	net.URL()        // JSON-RPC on a loopback socket
//	net.Config()     // chain id and contracts, as package chains/evm wants them
//	net.LP.Send(ctx, call)                   // signed, mined, checked
//	net.Bitcoin().Mine(1); net.SyncRelay(ctx)
//	net.Advance(time.Hour)                   // chain time
//	net.Reorg(2)                             // the last two blocks are gone, their transactions wait again
//
// A transaction is mined as soon as it comes in, and a node answers who sends it when it is in a
// block, unless [Options].Manual or [Net.SetMining] say otherwise. Blocks are at least a second apart in chain time
// and stamped up to [Drift] behind the network's clock, so that a burst of
// transactions does not run ahead of it.
//
// The contracts differ from the network's in what no client meets: calls after a
// claim are not made (claimWithSuccessAction reverts, the execution contract only
// keeps and returns tokens), the relay has the testnet rules only and refuses
// targets easier than its first header's, texts of errors that the page does not
// name are their own.
//
// JSON-RPC servers ([Net.Serve]) can be told to misbehave; several can stand in
// front of one network. They serve HTTP and, for subscriptions, WebSocket.
package evm

//go:generate npm --prefix contracts install --no-package-lock
//go:generate npm --prefix contracts run compile
