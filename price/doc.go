// Package price gives the market price of a token in bitcoin.
//
// Prices are whole micro-satoshis per whole token (1 sat is 10^6 of them), so
// that no float touches an amount; only the numbers that a market sends are
// computed in IEEE doubles, as everywhere on the network (protocol:
// swap-flows-spv-and-core.md C9). A [Source] is one market or several: [Median]
// compares several, so that a single wrong one has no effect; [NewCache] keeps prices
// for a short time. [Market] is the default of a client.
package price
