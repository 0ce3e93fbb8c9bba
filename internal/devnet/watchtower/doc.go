// Package watchtower is a watchtower of the local network: it claims for users
// who are not there, and earns what escrows and withdrawals offer for that.
//
// Escrows it learns from Nostr messages: it believes none of them, but checks that
// the preimage opens the escrow, and waits until the contract has it. Vaults it
// finds in the chain's logs; a withdrawal is claimed once Bitcoin has confirmed it
// as often as the vault demands, oldest first, after the relay was brought up to
// date. (protocol: utilities.md §14, chain-evm.md §11, chain-starknet.md §15)
//
// On Solana it also claims the escrows of legacy swaps, which wait for a Bitcoin
// payment: it finds them and the hash of the output in the program's events, and the
// output in Bitcoin's blocks. (protocol: chain-solana.md §8-§10)
//
// It can be made deaf, lazy or slow.
package watchtower
