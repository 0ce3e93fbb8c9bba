// Package chainio connects swaps to chains, Bitcoin, liquidity providers and the other
// services. A [Reader] answers the questions of swaps, builds the transactions that users
// sign, and checks the signed ones; an [Executor] carries out the effects that the engine
// decides on. Questions of several swaps to one node at the same time go out together.
package chainio
