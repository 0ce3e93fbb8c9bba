// Package wire is what goes over the wire between a client, the Solana network and
// the swap network's programs on it: addresses, account data, instructions,
// messages, fee-rate texts, authorisations, transaction strings, logs. It is pure:
// no network, clock or store. Chain state that a function depends on is an argument,
// so that the chain that reads it, the local network that executes what is built
// here, and the conformance tests share one implementation.
//
// Keys, hashes, signatures and the form of messages are those of
// github.com/gagliardetto/solana-go. The order of a message's accounts is not: LPs
// sign whole messages, so theirs is the one that counts (see [Compile]).
//
// What is parsed here was written by others. Parsers are bounded, do not panic, and
// take nothing that does not encode back to the same bytes. Sections are those of
// protocol: chain-solana.md.
package wire
