// Package state is the ledger of a private Starknet network and what changes it:
// contracts, which are Go functions over storage that a revert undoes ([Class],
// [Frame]), and the execution of transactions of version 3 with their validation by
// account contracts, nonces, bounds and fees ([Chain]).
//
// Nothing of the virtual machine is here: gas is a fixed price for each thing that a
// contract asks of the network, beside what the contract says that it computes
// ([Frame.Charge]). What clients see of the rest is what a public node shows them:
// hashes, receipts, events, traces, the texts of reverts.
package state
