// Package balance estimates how much of a wallet's balance can be swapped: what
// it holds, less the cost of the transaction that starts the swap.
//
// On Bitcoin that is an estimate of an actual transaction that spends every
// coin worth its own fee. On a smart chain only the native token pays fees, so
// the whole balance of any other token can be swapped.
//
// An estimate is not a reservation: fees change, and coins may be spent
// elsewhere.
package balance
