// Package evm is the family of EVM chains that the swap network uses: [Citrea],
// [Botanix], [Alpen] and [Goat], each with its published contracts, and any other
// chain that [Custom] describes by a [Network].
//
// What an action asks a wallet to sign is unsigned EIP-1559 transactions in the text
// of the REST API: 0x and the hex of `02 || rlp(...)` without a signature.
// [UnsignedTransaction] reads one as go-ethereum's own type; what it signs goes back
// as the hex of its MarshalBinary. Each is compared with what was asked for before
// it is sent.
//
// Everything else is behind [chains.Chain]: reading escrows, vaults and events, building
// and checking transactions, sending them and following their nonces. The package is
// the chain itself: what it remembers, and in which order it asks. Formats, nodes and
// the reading of contracts are packages of their own below internal.
package evm
