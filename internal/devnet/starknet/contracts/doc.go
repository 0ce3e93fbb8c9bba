// Package contracts is the swap network's contracts on Starknet as Go functions over the
// storage of the local network: tokens, accounts, the escrow manager and the handlers
// that it asks, the Bitcoin relay, the vault manager, the execution contract (protocol:
// chain-starknet.md §5-§8, §14-§17).
//
//	New(Options{Classes: contracts.Classes(contracts.Rules{})})
//
// What contracts take, answer and emit is what the deployed ones do, and so are the
// reasons with which they revert: also where that is strange, such as claims after the
// expiry, or a vault that closes over a transaction that it cannot read. Who checks a
// client against them checks it against the deployed ones. Storage takes as many
// places as theirs; gas is a round number near what they take. Sections are those of the
// page.
//
// # The ledger
//
// [Chain] is the ledger of a private Starknet network and what changes it:
// contracts, which are Go functions over storage that a revert undoes ([Class],
// [Frame]), and the execution of transactions of version 3 with their validation by
// account contracts, nonces, bounds and fees ([Chain]).
//
// Nothing of the virtual machine is here: gas is a fixed price for each thing that a
// contract asks of the network, beside what the contract says that it computes
// ([Frame.Charge]). What clients see of the rest is what a public node shows them:
// hashes, receipts, events, traces, the texts of reverts.
//
// # Parties
//
// [Party] is somebody with a key on the local Starknet network and what providers
// and watchtowers do there: keep a balance in the escrow manager, open, claim and take
// back escrows, prove Bitcoin payments, keep vaults and claim withdrawals from them, and
// look how all that stands. It reads and sends without a JSON-RPC server, so that the
// faults of servers do not concern it.
package contracts

// Classes returns all classes of the package. rules are those of the relay.
func Classes(rules Rules) []Class {
	return []Class{
		Token(), openZeppelinAccount(), argentAccount(), UniversalDeployer(),
		escrowManager(), hashlock(), outputClass(), noncedOutput(), transactionID(), timelock(),
		relay(rules), vaultManager(), executionClass(), executionProxyClass(),
	}
}
