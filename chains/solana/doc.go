// Package solana implements [chains.Chain] for the swap programs of the network on
// Solana: [Mainnet] and [Devnet] with the published programs, versions v1 and v2, and
// [Custom] for any other cluster that a [Network] describes.
//
// Actions ask the wallet to sign legacy transactions, written as in the REST API: a
// JSON object with the transaction in hex, the keys that were made for it, and the
// last block height at which it can be executed. [UnsignedTransaction] decodes one.
// Signatures that are there already must stay: an LP signs the whole transaction that
// opens an escrow. Submit the hex of the fully signed transaction. Every one is
// checked against what was asked for before it is sent.
//
// A transaction is good for about a minute, because it names a recent block. When it
// has expired, and that is final, the action is there again with a fresh one.
//
// SOL is swapped as wrapped SOL, under the address of its mint. Opening an escrow with
// SOL wraps what is missing; what is paid out to the signer is unwrapped again, along
// with all WSOL that the wallet held before.
//
// Formats, nodes and the reading of accounts are packages of their own below internal.
package solana
