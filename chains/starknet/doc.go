// Package starknet implements [chains.Chain] for the swap contracts of the network on
// Starknet: [Mainnet] and [Sepolia] with the published contracts, and [Custom] for any
// other network that a [Network] describes.
//
// Actions ask the wallet to sign transactions of version 3, written as in the REST API: a
// JSON object with the calls and the details that are signed. [UnsignedTransaction]
// decodes one into starknet.go's own types and, with the account's signature, writes
// what is submitted: the same object with `signed` added. Every signed transaction is
// checked against what was asked for before it is sent. Gas, its prices within wide
// bounds, and a tip are the wallet's choice; an approval may be for more, or missing.
//
// Accounts are contracts. The first transaction of one that is not deployed is preceded
// by its deployment in the same action, which leaves the account's class to the wallet:
// only the wallet knows it. Signatures, of LPs too, are for the account to judge: it is
// asked, and one that is not deployed has signed nothing.
//
// Facts are those of accepted blocks, which count as final; what is in the block that is
// being made can vanish. Formats, nodes and the reading of contracts are packages of
// their own below internal.
package starknet
