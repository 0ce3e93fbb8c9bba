// Package chainio is how swaps reach chains, Bitcoin, liquidity providers and the other
// services: a [Reader] answers what swaps ask, builds what users sign and checks what they
// signed; an [Executor] does what the engine decides. What several swaps ask of one node
// at the same time goes out together.
package chainio
