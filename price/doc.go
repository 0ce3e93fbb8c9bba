// Package price says what a token is worth in bitcoin, and whether a quote is
// fair.
//
// Prices are whole micro-satoshis per whole token (1 sat is 10^6 of them), so
// that no float touches an amount; only what a market sends is computed in IEEE
// doubles, as everybody on the network does (protocol: swap-flows-spv-and-core.md
// C9). A [Source] is one market or several: [Median] compares several so that
// one that is wrong decides nothing, [Redundant] goes through them one after the
// other, [Cache] remembers for a short while. [Market] is what a client uses
// unless told otherwise.
//
// [CheckSend] and [CheckReceive] compare what an LP quotes with the market. They
// are pure, divide by nothing that may be zero, and know no LP.
package price
