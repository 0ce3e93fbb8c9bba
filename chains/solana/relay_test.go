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

// The relay has the payment's block and a tip above it, but not all confirmations: the
// header is the relay's own, and what is missing is brought (§21.6).
func TestConfirmationsThatTheRelayLacks(t *testing.T) {
	t.Parallel()
	s := newScene(t, wire.V1)
	c := chains.Condition{Kind: chains.Onchain, Script: script(1), Sats: 120_000, Confirmations: 4}
	op := s.PayBitcoin(t, c.Script, int64(c.Sats), 0)
	s.MineBitcoin(t, 1)
	s.SyncRelay(t)
	e := s.out(s.user, c, devnet.WBTC)
	s.run(s.user, s.opening(s.user, e))
	plan := s.plan(s.user, chains.Step{Kind: chains.StepClaimBitcoin, Escrow: e, Payment: s.payment(op, c)})
	if _, err := s.k.Build(t.Context(), plan); err == nil {
		t.Error("a claim with two of four confirmations is built")
	}
	s.MineBitcoin(t, 2)
	if txs := s.run(s.user, plan); len(txs) != 3 { // headers, the payment, the claim
		t.Errorf("%d transactions", len(txs))
	}
	s.want(e, chains.EscrowClaimed)
}

// A fork that takes several transactions to outweigh the relay's stale branch.
func TestRelayOnALongStaleBranch(t *testing.T) {
	t.Parallel()
	for _, version := range []string{wire.V1, wire.V2} {
		s := newScene(t, version)
		s.MineBitcoin(t, 6)
		s.SyncRelay(t)
		s.ReorgBitcoin(t, 6)
		c := chains.Condition{Kind: chains.Onchain, Script: script(1), Sats: 120_000, Confirmations: 1}
		op := s.PayBitcoin(t, c.Script, int64(c.Sats), 0)
		e := s.out(s.user, c, devnet.WBTC)
		s.run(s.user, s.opening(s.user, e))
		plan := s.plan(s.user, chains.Step{Kind: chains.StepClaimBitcoin, Escrow: e, Payment: s.payment(op, c)})
		if txs := s.run(s.user, plan); len(txs) < 4 {
			t.Errorf("%s: %d transactions", version, len(txs))
		}
		s.want(e, chains.EscrowClaimed)
	}
}

// What the program would refuse now is refused before it costs a fee; what one node
// does not take, another does.
func TestRefusals(t *testing.T) {
	t.Parallel()
	s := newScene(t, wire.V1)
	e := s.in(s.user, lock(20), devnet.WBTC)
	s.run(s.user, s.opening(s.user, e))
	refund := s.plan(s.user, chains.Step{Kind: chains.StepRefundAuth, Escrow: e, Auth: s.lp.AuthorizeRefund(t, e, s.Time().Add(time.Hour))})
	txs := s.check(s.user, refund, s.build(refund))
	s.nodes[0].Misbehave(devnet.NodeFault{Fail: []string{"sendTransaction"}})
	lpClaim := s.plan(s.lp, chains.Step{Kind: chains.StepClaimSecret, Escrow: e, Preimage: secret(20)})
	claim := s.check(s.lp, lpClaim, s.build(lpClaim))
	s.send(claim...)
	s.nodes[0].Misbehave(devnet.NodeFault{})
	err := s.k.Admit(t.Context(), refund, txs)
	refusedWith(t, "a refund after the claim", err, "the program would refuse the transaction now")
	if fault.CodeOf(err) != fault.InvalidState {
		t.Errorf("code %s", fault.CodeOf(err))
	}
	// Sent all the same, it is executed without effect, and says why.
	trial.Do(t, s.chain.Send(t.Context(), txs[0]))
	for end := time.Now().Add(time.Minute); ; time.Sleep(5 * time.Millisecond) {
		got := s.status(s.chain, txs[0])
		if got.State == chains.TxReverted {
			if got.Reason == "" || got.Block.Hash == "" {
				t.Errorf("%+v", got)
			}
			return
		}
		if time.Now().After(end) {
			t.Fatalf("%+v", got)
		}
	}
}
