// Package watchtower runs a watchtower of package watchtower in the local network: it claims
// for users who are away, and can be made deaf, lazy or slow.
//
// It takes whoever needs it for an own user, and whatever a withdrawal offers for enough, so that
// it never leaves a claim because it costs too much. Escrows of legacy swaps on Solana, which wait
// for a Bitcoin payment, it finds in the program's events, and their payments in Bitcoin's blocks.
package watchtower
