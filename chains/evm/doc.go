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
// [chains.Chain] covers everything else: reading escrows, vaults and events, building
// and checking transactions, sending them and following their nonces. This package
// decides what to remember and in which order to ask. Packages below internal hold the
// formats, the node's client and the reading of contracts.
package evm
