package solana_test

import (
	"testing"
	"time"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/fault"
	devnet "github.com/swapper-go/swapper/internal/devnet/solana"
	"github.com/swapper-go/swapper/internal/solana/wire"
	"github.com/swapper-go/swapper/internal/trial"
)

// A transaction that reveals a preimage is shown to no node that cannot execute it any
// more (§21.14).
func TestPreimageIsNotShownInVain(t *testing.T) {
	t.Parallel()
	s := newScene(t, wire.V1)
	e := s.out(s.user, lock(1), devnet.WBTC)
	s.run(s.user, s.opening(s.user, e))
	plan := s.plan(s.user, chains.Step{Kind: chains.StepClaimSecret, Escrow: e, Preimage: secret(1)})
	old := s.check(s.user, plan, s.build(plan))
	if !old[0].Reveals {
		t.Fatal("the claim is not said to reveal its preimage")
	}
	s.sent("")
	trial.Do(t, s.k.Admit(t.Context(), plan, old)) // which does not show it either
	if n := s.sent("simulateTransaction"); n != 0 {
		t.Errorf("a node was shown the preimage to try the claim")
	}
	trial.Do(t, s.Expire())
	err := s.chain.Send(t.Context(), old[0])
	if n := s.sent("sendTransaction"); n != 0 || fault.CodeOf(err) != fault.InvalidState {
		t.Errorf("sent %d times: %v", n, err)
	}
	refusedWith(t, "handing it in", s.k.Admit(t.Context(), plan, old), "signedTxs[0]: has expired")
	s.settle(old[0], chains.TxReplaced)

	// The action is there again, with a fresh block hash, and excludes the old one.
	plan.Replaces = old
	fresh := s.check(s.user, plan, s.build(plan))
	if fresh[0].ID == old[0].ID {
		t.Fatal("the same transaction again")
	}
	s.send(fresh...)
	s.want(e, chains.EscrowClaimed)
}

// What may still be executed is not replaced; what an LP has signed is handed out again
// as it is.
func TestOnlyOneOfTwoCanBeExecuted(t *testing.T) {
	t.Parallel()
	s := newScene(t, wire.V1)
	e := s.in(s.user, lock(2), wire.WSOL)
	open := s.opening(s.user, e)
	first := s.check(s.user, open, s.build(open))
	open.Replaces = first
	if again := s.check(s.user, open, s.build(open)); again[0].ID != first[0].ID {
		t.Errorf("opened by %s and by %s", first[0].ID, again[0].ID)
	}
	s.send(first...)

	refund := s.plan(s.user, chains.Step{Kind: chains.StepRefundAuth, Escrow: e, Auth: s.lp.AuthorizeRefund(t, e, s.Time().Add(time.Hour))})
	waits := s.check(s.user, refund, s.build(refund))
	s.Hold(t, true)
	trial.Do(t, s.chain.Send(t.Context(), waits[0]))
	s.DropPending() // it may come back from another node
	s.Mine(t, 1)
	refund.Replaces = waits
	_, err := s.k.Build(t.Context(), refund)
	refusedWith(t, "a second refund beside one that waits", err, "can still be executed")
	if _, err := s.k.Check(refund, []string{s.hex(waits[0])}); err != nil {
		t.Errorf("the same transaction again: %v", err) // which is no other
	}
	trial.Do(t, s.Expire())
	s.Hold(t, false)
	other := s.check(s.user, refund, s.build(refund))
	stale := refund
	stale.Replaces = other
	refusedWith(t, "one with the same block hash", errOf(s.k.Check(stale, []string{s.altered(other[0])})), "has the block hash of the pending transaction")
	s.send(other...)
	s.settle(waits[0], chains.TxReplaced)
	s.want(e, chains.EscrowRefunded)
}

// After a restart nothing is known of block hashes: a transaction is called dead only
// when it must be, and not while a node is silent (§21.14).
func TestExpiryAfterARestart(t *testing.T) {
	t.Parallel()
	s := newScene(t, wire.V2)
	e := s.in(s.user, lock(3), wire.WSOL)
	plan := s.opening(s.user, e)
	tx := s.check(s.user, plan, s.build(plan))[0]
	s.Mine(t, 20)
	restarted := s.open(t, wire.V2, nil, s.nodes[0].URL(), s.nodes[1].URL())
	closer := restarted.(interface{ Close() error })
	defer func() { trial.Do(t, closer.Close()) }()
	if got := s.status(restarted, tx); got.State != chains.TxUnknown {
		t.Errorf("%+v", got)
	}
	trial.Do(t, s.Expire())
	s.settle(tx, chains.TxReplaced) // who built it knows
	if got := s.status(restarted, tx); got.State != chains.TxUnknown {
		t.Errorf("who does not know when its block hash began says %+v", got)
	}
	s.Advance(t, 3*time.Minute)
	s.nodes[1].Misbehave(devnet.NodeFault{Down: true})
	if got := s.status(restarted, tx); got.State != chains.TxUnknown {
		t.Errorf("one of two nodes is enough for %+v", got)
	}
	s.nodes[1].Misbehave(devnet.NodeFault{})
	s.Advance(t, 2*time.Minute) // it is asked again
	if got := s.status(restarted, tx); got.State != chains.TxReplaced || got.Reason == "" {
		t.Errorf("%+v", got)
	}
	if err := restarted.Send(t.Context(), tx); fault.CodeOf(err) != fault.InvalidState {
		t.Errorf("sent: %v", err)
	}
}

// A claim whose payment is written in parts goes on where it was when its block hash
// ended: what is on the chain is not written again (§21.5, §21.14).
func TestWrittenPartsAreKept(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, p played) {
		s := newPlayed(t, p)
		e, plan := s.bought(outputs(120)...)
		all := s.check(s.user, plan, s.build(plan))
		if len(all) < 5 {
			t.Fatalf("%d transactions for a large payment", len(all))
		}
		s.send(all[:2]...)
		trial.Do(t, s.Expire())
		plan.Replaces = all
		rest := s.check(s.user, plan, s.build(plan))
		if len(rest) != len(all)-2 {
			t.Errorf("%d transactions after 2 of %d", len(rest), len(all))
		}
		s.send(rest...)
		s.want(e, chains.EscrowClaimed)
		if n := s.notes.writes.Load(); n != 1 {
			t.Errorf("one data account was noted %d times", n)
		}
	})
}
