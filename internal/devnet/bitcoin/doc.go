// Package bitcoin is a private Bitcoin network in the process: a regtest chain
// that validates for real (btcd's consensus, mempool and mining packages), test
// wallets, blocks, reorganisations and evictions on demand, and the
// mempool.space REST calls that the library uses on loopback sockets in front of
// it.
//
//	net, err := bitcoin.Start(bitcoin.Options{})
//	defer net.Close()
//	alice, err := net.NewWallet(chain.P2TR)
//	err = net.Fund(alice.Address, 1_000_000)      // confirmed
//	tx, err := alice.Pay(5, wire.NewTxOut(...))   // built, signed, in the mempool
//	net.Mine(1)
//	net.Reorg(1)                                  // the block is gone, the transaction waits again
//
// Segwit and taproot are active from block 1 and the block reward does not
// shrink; everything else is regtest, genesis block and proof of work included.
// Block times are the network's clock ([Options].Now), so that swaps see chain
// time move as they would outside.
//
// REST servers ([Net.Serve]) can be told to misbehave; several can stand in
// front of one network.
package bitcoin
