package chaintest

import (
	"errors"
	"strings"
	"time"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/internal/trial"
)

// settledFact asks one node about one escrow, whose word must be marked as such, and then all.
func (k *kit) settledFact(q chains.EscrowQuery) chains.EscrowFact {
	k.Helper()
	// One after the other: a contradiction sends the plain question's second round to another
	// node, which need not know what the first has said.
	ask := func(q chains.EscrowQuery) chains.EscrowFact {
		facts := trial.Must(k.k.Escrows(k.Context(), []chains.EscrowQuery{q}))(k)
		return facts[0]
	}
	plain := ask(q)
	k.must(plain.Err)
	if !plain.Unsettled || plain.Final {
		k.Errorf("the word of one of two nodes is not marked as such: %+v", plain)
	}
	q.Settled = true
	settled := ask(q)
	if settled.Unsettled {
		k.Errorf("a settled fact is marked as one node's word: %+v", settled)
	}
	return settled
}

// contradicted demands that the nodes contradict each other, in words that name no node.
func (k *kit) contradicted(what string, err error, open bool) {
	k.Helper()
	e, ok := errors.AsType[*chains.ContradictionError](err)
	if !ok || e.Open != open || fault.CodeOf(err) != fault.Upstream {
		k.Errorf("%s: %v (open: %t, code %s), want a contradiction (open: %t, code %s)", what, err, ok && e.Open, fault.CodeOf(err), open, fault.Upstream)
		return
	}
	for node := range 2 {
		if strings.Contains(err.Error(), k.net.NodeName(node)) {
			k.Errorf("%s: the error names a node: %v", what, err)
		}
	}
}

// testSettled asks what must not be decided by one node, with each of the two lying in turn.
func testSettled(k *kit) {
	heads := trial.Must(k.chain.Heads(k.Context()))(k)
	s := secret(700)
	e := k.expect(k.payOut(lock(s), k.facts.Token))
	never := k.expect(k.payOut(lock(secret(701)), k.facts.Token))
	byData := chains.EscrowQuery{Escrow: &e}
	byHash := chains.EscrowQuery{ClaimHash: e.ClaimHash, Offerer: e.Offerer, Claimer: e.Claimer, From: heads.Latest.Height}
	k.open(e)
	if got := k.settledFact(chains.EscrowQuery{Escrow: &never}); got.Err != nil || got.State != chains.EscrowNone || got.Final {
		k.Errorf("an escrow that was never opened: %+v", got)
	}
	k.settles("an open escrow", byData, chains.EscrowOpen)
	k.settles("an open escrow, by its claim hash", byHash, chains.EscrowOpen)
	for node := range 2 {
		k.lie(node, func() {
			for what, q := range map[string]chains.EscrowQuery{"by its data": byData, "by its claim hash": byHash} {
				got := k.settledFact(q)
				k.contradicted(what, got.Err, true)
			}
			if got := k.settledFact(chains.EscrowQuery{Escrow: &never}); got.Err != nil || got.State != chains.EscrowNone {
				k.Errorf("of what nodes agree on: %+v", got)
			}
		})
		k.settles("after the lie", byData, chains.EscrowOpen)
	}
	k.net.Advance(k.T, 3*time.Minute)
	k.run(k.user, chains.Plan{SwapID: "claim", Steps: []chains.Step{{Kind: chains.StepClaimSecret, Escrow: e, Preimage: s}}})
	k.settles("a claimed escrow", byData, chains.EscrowClaimed)
	k.lie(0, func() {
		got := k.settledFact(byData)
		k.contradicted("a claimed escrow", got.Err, false)
	})
	k.settledVaults()
}

// testSettledOneBadNode asks what must not be decided by one node, with each of the two being
// late or silent in turn.
func testSettledOneBadNode(k *kit) {
	s := secret(702)
	e := k.expect(k.payOut(lock(s), k.facts.Token))
	q := chains.EscrowQuery{Escrow: &e}
	k.open(e)
	k.settles("an open escrow", q, chains.EscrowOpen)
	for node := range 2 {
		for _, trouble := range []Trouble{{Down: true}, {Slow: true}, {Failing: true}, {Garbage: true}, {WrongNetwork: true}, {Behind: true}} {
			k.net.Advance(k.T, 3*time.Minute)
			k.net.Misbehave(k.T, node, trouble)
			began := time.Now()
			k.settles(trouble.String(), q, chains.EscrowOpen)
			if took := time.Since(began); took > 10*time.Second {
				k.Errorf("node %d %s: took %v", node, trouble, took)
			}
			k.net.Misbehave(k.T, node, Trouble{})
		}
	}
	k.net.Advance(k.T, 3*time.Minute)
	k.run(k.user, chains.Plan{SwapID: "claim", Steps: []chains.Step{{Kind: chains.StepClaimSecret, Escrow: e, Preimage: s}}})
	k.settles("a claimed escrow", q, chains.EscrowClaimed)
}

// testSettledNoNode asks while no node answers, then when both are back.
func testSettledNoNode(k *kit) {
	e := k.expect(k.payOut(lock(secret(703)), k.facts.Token))
	k.open(e)
	for node := range 2 {
		k.net.Misbehave(k.T, node, Trouble{Down: true})
	}
	facts := trial.Must(k.k.Escrows(k.Context(), []chains.EscrowQuery{{Escrow: &e, Settled: true}}))(k)
	if err := facts[0].Err; fault.CodeOf(err) != fault.Upstream || !strings.Contains(err.Error(), "0 of 2") || strings.Contains(err.Error(), k.net.NodeName(0)) {
		k.Errorf("no node answers: %v", err)
	}
	for node := range 2 {
		k.net.Misbehave(k.T, node, Trouble{})
	}
	k.net.Advance(k.T, 3*time.Minute)
	k.settles("once they are back", chains.EscrowQuery{Escrow: &e}, chains.EscrowOpen)
}

// lie has a node lie while f runs. A contradiction is counted for the node, and costs one of
// the two its place: plain questions go to the other until a minute has passed.
func (k *kit) lie(node int, f func()) {
	k.Helper()
	k.net.Advance(k.T, 3*time.Minute)
	k.net.Mine(k.T, 1)
	before := k.contradictions()
	k.net.Misbehave(k.T, node, Trouble{Lying: true})
	f()
	k.net.Misbehave(k.T, node, Trouble{})
	for i, n := range k.contradictions() {
		if n <= before[i] {
			k.Errorf("contradictions of node %d: %d, then %d", i, before[i], n)
		}
	}
}

// contradictions returns how often each node was contradicted.
func (k *kit) contradictions() []uint64 {
	k.Helper()
	c, ok := k.chain.(chains.Contradictions)
	if !ok {
		k.Fatal("the chain does not count contradictions")
	}
	all := c.Contradictions()
	if len(all) != 2 {
		k.Fatalf("contradictions of %d nodes", len(all))
	}
	return all
}

// settles demands an answer that becomes final.
func (k *kit) settles(what string, q chains.EscrowQuery, want chains.EscrowState) {
	k.Helper()
	k.eventually(what+" to be final", func() bool {
		got := k.settledFact(q)
		if got.Err != nil || got.State != want || got.Head.Height == 0 || q.Escrow == nil && got.Escrow == nil {
			k.Fatalf("%s: %+v", what, got)
		}
		if !got.Final {
			k.net.Mine(k.T, 1)
		}
		return got.Final
	})
}

func (k *kit) settledVaults() {
	net, ok := k.net.(VaultNet)
	if !ok {
		return
	}
	_, v := k.vaultKit()
	id := net.OpenVault(k.T, [2]uint64{1_000_000, 500}, 1)
	ask := func(what string) chains.VaultFact {
		k.Helper()
		facts := trial.Must(v.Vaults(k.Context(), []chains.VaultID{id}))(k)
		if len(facts) != 1 {
			k.Fatalf("%s: %+v", what, facts)
		}
		return facts[0]
	}
	w := chains.WithdrawalQuery{Vault: id, Recipient: k.user.Address(), TxID: bitcoin.Hash{1}}
	payout := func(what string) chains.WithdrawalFact {
		k.Helper()
		settled := w
		settled.Settled = true
		facts := trial.Must(v.Withdrawals(k.Context(), []chains.WithdrawalQuery{w, settled}))(k)
		if facts[0].Err != nil || !facts[0].Unsettled || facts[0].Final || facts[1].Unsettled {
			k.Errorf("%s: %+v", what, facts)
		}
		return facts[1]
	}
	if f := ask("an open vault"); f.Err != nil || !f.Vault.Open || f.Vault.Raw != [2]uint64{1_000_000, 500} || f.Head.Height == 0 {
		k.Errorf("an open vault: %+v", f)
	}
	if f := payout("nothing"); f.Err != nil || f.State != chains.WithdrawalNone || f.Final {
		k.Errorf("a withdrawal that does not exist: %+v", f)
	}
	data := trial.Must(v.WithdrawalData(k.user.Address(), [2]uint64{1000, 0}))(k)
	w.TxID = net.Withdraw(k.T, id, data, bitcoin.FeeShares{})
	k.net.MineBitcoin(k.T, 1)
	k.net.SyncRelay(k.T)
	k.run(k.user, chains.Plan{SwapID: "vault", Steps: []chains.Step{{Kind: chains.StepVaultClaim, Vault: &chains.VaultPayment{Owner: id.Owner, ID: id.ID, TxID: w.TxID}}}})
	for node := range 2 {
		k.lie(node, func() {
			k.contradicted("a vault", ask("a vault").Err, false)
			k.contradicted("a payout", payout("a payout").Err, false)
		})
	}
	if f := ask("a vault that paid"); f.Err != nil || f.Vault.Raw != [2]uint64{999_000, 500} || f.Vault.Withdrawals != 1 {
		k.Errorf("a vault that paid: %+v", f)
	}
	k.eventually("the payout to be final", func() bool {
		f := payout("a payout")
		if f.Err != nil || f.State != chains.WithdrawalClaimed {
			k.Fatalf("a payout: %+v", f)
		}
		if !f.Final {
			k.net.Mine(k.T, 1)
		}
		return f.Final
	})
}
