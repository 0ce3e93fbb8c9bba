package chaintest

import "testing"

// Run runs the suite. It calls open for each part of the suite; open must start
// a new network and stop it with t.Cleanup. Parts run beside each other.
func Run(t *testing.T, open func(t *testing.T) Net) {
	for _, part := range []struct {
		name string
		run  func(k *kit)
	}{
		{"info and addresses", testInfo},
		{"escrow data", testEscrowData},
		{"conditions", testConditions},
		{"authorizations", testAuthorizations},
		{"pay-in, claimed by secret", testPayIn},
		{"pay-out, opened by the user", testPayOut},
		{"pay-out, opened by the LP, with a gas drop", testLPInit},
		{"timelock refund", testRefund},
		{"cooperative refund", testRefundAuth},
		{"Bitcoin proofs", testBitcoinProofs},
		{"large Bitcoin proofs", testLargeProof},
		{"relay reorganisation", testRelayFork},
		{"vault claims", testVaultClaims},
		{"vault fronting", testFronting},
		{"transactions", testTransactions},
		{"transactions again", testAgain},
		{"reverted", testReverted},
		{"replaced", testReplaced},
		{"returned transactions", testCheck},
		{"transactions of somebody else", testReading},
		{"search by claim hash", testSearch},
		{"reorganisation", testReorg},
		{"subscriptions", testSubscriptions},
		{"history", testHistory},
		{"funds and costs", testFunds},
		{"round trips", testTrips},
		{"settled answers", testSettled},
		{"concurrent use", testConcurrency},
		// Parallel tests begin with the last: those that wait longest.
		{"no good node", testNoGoodNode},
		{"settled answers without a node", testSettledNoNode},
		{"hints", testHints},
		{"settled answers beside one bad node", testSettledOneBadNode},
		{"one bad node", testOneBadNode},
	} {
		t.Run(part.name, func(t *testing.T) {
			t.Parallel() // they wait more than they compute
			part.run(newKit(t, open(t)))
		})
	}
}
