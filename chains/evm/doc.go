// Package evm is the family of EVM chains that the swap network uses: CITREA,
// BOTANIX, ALPEN, GOAT and any other chain given by configuration.
//
// What needs no network stands as plain functions and values: a [Network] with
// its [Deployment] of contracts, the escrow's [SwapData] with its JSON form and
// hashes, claim conditions and their witnesses, EIP-712 authorisations,
// [FeeRate] and gas, transactions out to strings ([Serialize]) and back in
// ([CheckSigned]), logs, escrow status, vaults and the Bitcoin relay's headers.
//
// Hashes and transaction ids of Bitcoin are in internal byte order (as hashed)
// unless a name says display. Functions are safe for concurrent use; values
// that they return are the caller's own. Numbers inside values are never
// changed by this package.
package evm
