// Package devnet is the whole swap network in one process, without the internet:
// Bitcoin, an EVM chain with the swap contracts, Lightning, liquidity providers
// with real funds, prices, and users with money on every side.
//
//	net, err := devnet.Start(ctx, devnet.Options{})
//	defer net.Close()
//	net.LPs[0].URL()                 // a liquidity provider
//	net.Chain()                      // the EVM chain, for the library's configuration
//	net.Bitcoin.URL()                // mempool.space's REST API
//	net.Payer.Pay(ctx, invoice, ...) // a user's Lightning wallet
//	net.Mine(1)                      // a Bitcoin block
//	net.Advance(time.Hour)           // every clock moves
//
// All parts share one clock, which runs with the system's and can be moved ahead.
package devnet
