// Package wire is what the swap contracts of EVM chains, and the wallets and
// providers around them, exchange: formats, hashes, prices and rules, pure.
//
//   - Where the contracts stand: [Network], [Deployment], [Preset].
//   - An escrow: [SwapData] with its JSON form and hash, what it is claimed with
//     ([Deployment.ClaimHash], [BitcoinProof]), how it stands ([SwapData.Status]).
//   - Authorisations: EIP-712 digests ([Network.InitDigest]) and their checks
//     ([Network.VerifyInit]).
//   - Transactions: a [Call] from each builder of a [Deployment], out to strings
//     ([Network.Serialize]) and back in ([ParseTransaction], [Deployment.CheckSigned],
//     [Deployment.CheckProofs]).
//   - Fees: [FeeRate] and its text, gas limits, what each transaction costs.
//   - Logs and call data of others: [Deployment.DecodeLog], [CallFrame].
//   - Vaults ([Vault], [ParseWithdrawal]) and the Bitcoin relay's headers
//     ([StoredHeader]).
//
// The package knows no node, no clock and no store: a time is an argument, and what
// a node answers comes in as bytes. Asking is package rpc's, and reading the
// contracts is package read's.
//
// Hashes and transaction ids of Bitcoin are in internal byte order (as hashed)
// unless a name says display. Functions are safe for concurrent use; values that
// they return are the caller's own. Numbers inside values are never changed.
package wire
