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
//
// [SignEVM], [SignSolana] and [SignStarknet] sign with the keys of the local network's accounts.
//
// # Prices
//
// [StartPrices] starts a market of the local network: one server that answers the
// questions of the five price services in their own forms, from one table.
//
//	p, err := StartPrices("")
//	p.Set("SOL", big.NewInt(160_000_000_000))               // micro-sats per coin
//	config.Prices = p.Market()                                // the library's own sources, pointed here
//	p.Misbehave(OKX, Fault{Percent: 150})       // says half as much again
//
// A token is worth the same in every service that knows it; which do is the
// library's table of symbols. Tokens that stand for bitcoin by construction are
// not asked for.
package devnet
