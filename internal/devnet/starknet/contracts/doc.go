// Package contracts is the swap network's contracts on Starknet as Go functions over the
// storage of the local network: tokens, accounts, the escrow manager and the handlers
// that it asks, the Bitcoin relay, the vault manager, the execution contract (protocol:
// chain-starknet.md §5-§8, §14-§17).
//
//	state.New(state.Options{Classes: contracts.Classes(contracts.Rules{})})
//
// What contracts take, answer and emit is what the deployed ones do, and so are the
// reasons with which they revert: also where that is strange, such as claims after the
// expiry, or a vault that closes over a transaction that it cannot read. Who checks a
// client against them checks it against the deployed ones. Storage takes as many
// places as theirs; gas is a round number near what they take. Sections are those of the
// page.
package contracts

import "github.com/swapper-go/swapper/internal/devnet/starknet/state"

// Classes returns all classes of the package. rules are those of the relay.
func Classes(rules Rules) []state.Class {
	return []state.Class{
		Token(), openZeppelinAccount(), argentAccount(), UniversalDeployer(),
		escrowManager(), hashlock(), outputClass(), noncedOutput(), transactionID(), timelock(),
		relay(rules), vaultManager(), executionClass(), executionProxyClass(),
	}
}
