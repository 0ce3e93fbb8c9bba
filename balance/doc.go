// Package balance estimates what of a wallet can go into a swap: what it holds,
// less what the transaction that starts the swap costs.
//
// On Bitcoin that is a real estimate of a transaction that spends every coin
// worth its own fee. On a smart chain only the native token pays fees, so of any
// other token everything can be swapped.
//
// An estimate is not a reservation: fees move, and coins are spent elsewhere.
package balance
