// Package solana implements [chains.Chain] for the swap programs of the network on
// Solana: [Mainnet] and [Devnet] with the published programs, versions v1 and v2, and
// [Custom] for any other cluster that a [Network] describes.
//
// Actions ask the wallet to sign legacy transactions, written as in the REST API: a
// JSON object with the transaction in hex, the keys that were made for it, and the
// last block height at which it can be executed. [UnsignedTransaction] decodes one.
// A wallet must keep the signatures that a transaction already has: an LP signs the whole
// transaction that opens an escrow. Submit the hex of the fully signed transaction. Every
// signed transaction is checked against what was asked for before it is sent.
//
// A transaction is valid for about a minute, because it names a recent block. Once its
// expiry is final, the action is offered again with a fresh transaction.
//
// SOL is swapped as wrapped SOL (WSOL), under the address of its mint. Opening an escrow with
// SOL wraps as much as is missing. A payout to the signer is unwrapped again, along
// with all WSOL that the wallet held before.
//
// Packages below internal hold the formats, the node's client and the reading of accounts.
package solana
