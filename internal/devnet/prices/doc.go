// Package prices is a market of the local network: one server that answers the
// questions of the five price services in their own forms, from one table.
//
//	p, err := prices.Start("")
//	p.Set("SOL", big.NewInt(160_000_000_000))               // micro-sats per coin
//	config.Prices = p.Market()                                // the library's own sources, pointed here
//	p.Misbehave(prices.OKX, prices.Fault{Percent: 150})       // says half as much again
//
// A token is worth the same in every service that knows it; which do is the
// library's table of symbols. Tokens that stand for bitcoin by construction are
// not asked for.
package prices
