// Package wire is what goes over the wire between a client, Starknet and the swap
// contracts on it: felts and their encodings, addresses, escrows, claim conditions,
// authorisations, fee-rate texts, calls, transactions and their hashes, events,
// vaults, the Bitcoin relay's headers. It is pure: no network, clock or store. A time
// is an argument, and what a node answers comes in as felts, so that the chain that
// reads it, the local network that executes what is built here, and the conformance
// tests share one implementation.
//
//   - Where the contracts stand: [Network], [Deployment], [NetworkFor].
//   - An escrow: [SwapData] with its JSON form, calldata and hash, what it is claimed with
//     ([Deployment.ClaimHash]).
//   - Authorisations: typed data ([Network.InitMessage]) and what of their check needs no
//     node ([Network.CheckInit]), which leaves a question to an account ([SignatureCheck]).
//   - Transactions: calls from each builder of a [Deployment], out to texts
//     ([Network.NewInvoke], [Transaction.String]) and back in ([ParseTransaction],
//     [Deployment.CheckSigned], [Deployment.CheckProofs]), with their hashes.
//   - Events and traces of others: [Deployment.DecodeLog], [Deployment.FindSwapData].
//   - Vaults ([Vault], [ParseWithdrawal]) and the Bitcoin relay's headers
//     ([StoredHeader]).
//   - Fees: [FeeRate] and its text, [Gas], what each action costs.
//
// Felts, Poseidon, Pedersen and selectors are those of github.com/NethermindEth/juno;
// typed data, the curve and transaction hashes those of
// github.com/NethermindEth/starknet.go. Both reduce numbers modulo the prime without a
// word in some places, and read several notations in others: what comes from outside
// passes [ParseFelt] first.
//
// What is parsed here was written by others. Parsers are bounded, do not panic, and
// take a number only in the range that it has in the contracts. Hashes and
// transaction ids of Bitcoin are in internal byte order unless a name says display.
// Functions are safe for concurrent use. Numbers inside values are never changed.
// Sections are those of protocol: chain-starknet.md.
package wire
