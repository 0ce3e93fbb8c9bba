// Package evm implements [chains.Chain] for the EVM chains of the swap network,
// [Citrea], [Botanix], [Alpen] and [Goat], each with its published contracts, and
// for any other EVM chain that a [Network] passed to [Custom] describes.
//
// Actions ask the wallet to sign EIP-1559 transactions, encoded as in the REST API:
// 0x and the hex of `02 || rlp(...)` without a signature. [UnsignedTransaction]
// decodes one into go-ethereum's own type; submit the signed transaction as the hex
// of its MarshalBinary. Every signed transaction is checked against what was asked
// for before it is sent.
//
// Everything else is behind [chains.Chain]: reading escrows, vaults and events, building
// and checking transactions, sending them and following their nonces. The package is
// the chain itself: what it remembers, and in which order it asks. Formats, nodes and
// the reading of contracts are packages of their own below internal.
package evm
