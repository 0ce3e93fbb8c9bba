package swap

import (
	"math/big"
	"slices"
	"testing"
	"time"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/internal/lp"
)

// A row of a table stores what it is about: transactions, authorisations, addresses,
// amounts and problems. What a reorganisation takes back is not kept.
func TestWhatRowsStore(t *testing.T) {
	auth := &chains.Auth{Signature: "0xrefund"}
	tall := func(f chains.EscrowFact) chains.EscrowFact {
		f.Head = chains.Block{Height: 100, Time: noon.Unix()}
		return f
	}
	seen := func(in *Decision) { in.R.Seen = Seen{Chain: 90, At: ago(time.Hour)} }
	withdrawal := func(f chains.WithdrawalFact) func(*Decision) {
		return func(in *Decision) {
			f.Head = chains.Block{Height: 100, Time: noon.Unix()}
			in.Obs.Withdrawal = known(f)
		}
	}
	confirmed := func(n uint32) func(*Decision) {
		return func(in *Decision) { in.Obs.Payment = known(&bitcoin.Tx{ID: bitcoin.Hash{9}, Confirmations: n}) }
	}
	adjusted := func(total int64, fee *big.Int) func(*Decision) {
		return func(in *Decision) {
			in.R.Problem, in.R.Terms.FeeSats = "something else", big.NewInt(7)
			in.Obs.LP = known(lp.Status{Code: lp.CodeGasReceived, AdjustedAmount: big.NewInt(40), AdjustedTotal: big.NewInt(total), AdjustedSats: fee})
		}
	}
	for name, c := range map[string]struct {
		flow  *Flow
		pass  func() Decision
		state int
		holds func(r *Record) bool
	}{
		"a claim that was a refund": {newToBTCLN(), passOf(outPass(OutClaimed, tall(chains.EscrowFact{State: chains.EscrowRefunded, RefundTx: "0xr", Opened: chains.Block{Height: 91}, Finished: chains.Block{Height: 95}})), all(seen, func(in *Decision) {
			in.R.Escrow.ClaimTx = "0xc"
		})), OutRefunded, func(r *Record) bool { return r.Escrow.ClaimTx == "" && r.Escrow.RefundTx == "0xr" }},
		"a claim that is undone": {newToBTCLN(), passOf(outPass(OutClaimed, tall(chains.EscrowFact{State: chains.EscrowOpen, InitTx: "0xi"})), all(seen, func(in *Decision) {
			in.R.Escrow.ClaimTx = "0xc"
		})), OutCommitted, func(r *Record) bool { return r.Escrow.ClaimTx == "" && r.Escrow.InitTx == "0xi" }},
		"an authorisation to refund": {newToBTCLN(), passOf(outPass(OutCommitted, chains.EscrowFact{State: chains.EscrowOpen}), func(in *Decision) {
			in.Obs.LP, in.Obs.Refund = known(lp.Status{Code: lp.CodeRefund, Auth: auth}), known(struct{}{})
		}), OutRefundable, func(r *Record) bool { return r.Escrow.Refund == auth }},
		"an opening that comes too late": {newToBTCLN(), passOf(outPass(OutSoftExpired, chains.EscrowFact{Auth: chains.AuthOver}), func(in *Decision) {
			in.R.Submission = &Submission{Action: ActionInit, Since: ago(time.Hour), Txs: []SignedTx{{Signed: chains.Signed{ID: "0x1", From: "me"}}}}
			in.Obs.Txs = known(map[string]chains.TxStatus{"0x1": {State: chains.TxPending}})
		}), OutExpired, func(r *Record) bool { return r.Submission.Closed && r.Submission.Reason != "" }},
		"an escrow that is delivered": {newFromBTCLNAuto(), passOf(autoPass(LnCreated, chains.EscrowFact{}), func(in *Decision) {
			in.R.Problem = "it was late before"
			in.Obs.Delivered = known(&chains.Escrow{Hash: []byte{7}, ClaimHash: in.R.Escrow.Expected.ClaimHash, Expiry: noon.Add(24 * time.Hour).Unix()})
		}), LnPaid, func(r *Record) bool { return r.Problem == "" && r.Escrow.Real != nil && r.Escrow.Real.Hash[0] == 7 }},
		"an escrow that is delivered too late": {newFromBTCLNAuto(), passOf(autoPass(LnCreated, chains.EscrowFact{}), func(in *Decision) {
			in.Obs.Delivered = known(&chains.Escrow{Hash: []byte{7}, ClaimHash: in.R.Escrow.Expected.ClaimHash, Expiry: noon.Unix()})
		}), LnCreated, func(r *Record) bool { return r.Problem != "" && r.Escrow.Real == nil }},
		"a link that pays": {newFromBTCLNAuto(), passOf(autoPass(LnCreated, chains.EscrowFact{}), func(in *Decision) {
			in.Input = UseWithdraw{Link: "lnurlw://x", With: &Withdraw{}}
		}), LnCreated, func(r *Record) bool {
			return r.Lightning.Link == "lnurlw://x" && r.Lightning.Withdraw != nil && r.Lightning.Withdraw.Asked
		}},
		"a payout that was advanced, not claimed": {newSPVFromBTC(), passOf(spvPass(SPVClaimed), all(func(in *Decision) { in.R.Vault.ClaimTx = "0xc" }, withdrawal(chains.WithdrawalFact{State: chains.WithdrawalFronted, FrontTx: "0xf"}))),
			SPVFronted, func(r *Record) bool { return r.Vault.ClaimTx == "" && r.Vault.FrontTx == "0xf" }},
		"a claim of a vault that is undone": {newSPVFromBTC(), passOf(spvPass(SPVFronted), all(func(in *Decision) { in.R.Vault.FrontTx = "0xf" }, withdrawal(chains.WithdrawalFact{}))),
			SPVConfirmed, func(r *Record) bool { return r.Vault.ClaimTx == "" && r.Vault.FrontTx == "" }},
		"enough confirmations": {newSPVFromBTC(), passOf(spvPass(SPVBroadcasted), confirmed(2)),
			SPVConfirmed, func(r *Record) bool { return r.Bitcoin.ConfirmedAt == At(noon) }},
		"enough confirmations, again": {newSPVFromBTC(), passOf(spvPass(SPVBroadcasted), all(confirmed(2), func(in *Decision) { in.R.Bitcoin.ConfirmedAt = 5 })),
			SPVConfirmed, func(r *Record) bool { return r.Bitcoin.ConfirmedAt == 5 }},
		"too few confirmations again": {newSPVFromBTC(), passOf(spvPass(SPVConfirmed), all(confirmed(1), func(in *Decision) { in.R.Bitcoin.ConfirmedAt = 5 })),
			SPVBroadcasted, func(r *Record) bool { return r.Bitcoin.ConfirmedAt == 0 }},
		"a refusal of the provider's": {newSPVFromBTC(), passOf(spvPass(SPVSigned), func(in *Decision) {
			in.Input, in.R.Tried = Outcome{Effect: PostPSBT, Refused: true, Reason: "no vault"}, map[string]Try{string(PostPSBT): {Started: 1}}
		}), SPVDeclined, func(r *Record) bool { return r.Problem == "no vault" }},
		"a payment that the user signed": {newTrustedFromBTC(), passOf(trustedBTCPass(TrustedBTCCreated), func(in *Decision) {
			in.Input = Submit{Action: ActionFund, PSBT: psbtOf()}
			in.R.Tried = map[string]Try{string(Broadcast): {Outcome: Refused, Attempts: 3}}
		}), TrustedBTCCreated, func(r *Record) bool {
			_, tried := r.Tried[string(Broadcast)]
			return r.Submission.PSBT == bitcoin.Hash{9} && r.Submission.Action == ActionFund && r.Submission.Since == At(noon) && slices.Equal(r.Bitcoin.Tx, []byte{1}) && !tried
		}},
		"a refund address": {newTrustedFromBTC(), passOf(trustedBTCPass(TrustedBTCRefundable), func(in *Decision) { in.Input = RefundTo{"bc1q"} }),
			TrustedBTCRefundable, func(r *Record) bool { return r.Gas.RefundTo == "bc1q" }},
		"a refund": {newTrustedFromBTC(), passOf(trustedBTCPass(TrustedBTCRefundable), func(in *Decision) {
			in.Obs.LP, in.Obs.Refunded = known(lp.Status{Code: lp.CodeGasRefunded, TxID: "ab"}), known(RefundedFact{Confirmations: 1, Sats: 1})
		}), TrustedBTCRefunded, func(r *Record) bool { return r.Gas.RefundTx == "ab" }},
		"a refund that is undone": {newTrustedFromBTC(), passOf(trustedBTCPass(TrustedBTCRefunded), func(in *Decision) {
			in.R.Gas.RefundTx, in.R.Ended = "ab", ago(time.Hour)
			in.Obs.Refunded = known(RefundedFact{})
		}), TrustedBTCRefundable, func(r *Record) bool { return r.Gas.RefundTx == "" && r.Ended == 0 }},
		"a deep refund that pays nothing": {newTrustedFromBTC(), passOf(trustedBTCPass(TrustedBTCRefunded), func(in *Decision) {
			in.R.Gas.RefundTx, in.R.Ended = "ab", ago(time.Hour)
			in.Obs.Refunded = known(RefundedFact{Confirmations: 1000})
		}), TrustedBTCRefundable, func(r *Record) bool { return r.Gas.RefundTx == "" && !r.Settled && r.Ended == 0 }},
		"a deep refund that pays": {newTrustedFromBTC(), passOf(trustedBTCPass(TrustedBTCRefunded), func(in *Decision) {
			in.R.Gas.RefundTx, in.R.Ended = "ab", ago(time.Hour)
			in.Obs.Refunded = known(RefundedFact{Confirmations: 1000, Sats: 1})
		}), TrustedBTCRefunded, func(r *Record) bool { return r.Gas.RefundTx == "ab" && r.Settled }},
		"a refund's depth in another state": {newTrustedFromBTC(), passOf(trustedBTCPass(TrustedBTCRefundable), func(in *Decision) {
			in.R.Ended = ago(time.Hour)
			in.Obs.Refunded = known(RefundedFact{Confirmations: 1000, Sats: 1})
		}), TrustedBTCRefundable, func(r *Record) bool { return !r.Settled }},
		"another amount, at the agreed rate": {newTrustedFromBTC(), passOf(trustedBTCPass(TrustedBTCCreated), adjusted(80, big.NewInt(3))), TrustedBTCCreated, func(r *Record) bool {
			return r.Terms.Input.Raw.Int64() == 40 && r.Terms.Output.Raw.Int64() == 80 && r.Terms.SwapFee.Raw.Int64() == 3 && r.Terms.FeeSats.Int64() == 3 && r.Problem == ""
		}},
		"another amount, for less": {newTrustedFromBTC(), passOf(trustedBTCPass(TrustedBTCCreated), adjusted(79, nil)), TrustedBTCCreated, func(r *Record) bool {
			return r.Terms.Output.Raw.Int64() == 79 && r.Terms.FeeSats.Int64() == 7 && r.Problem != "" && r.Problem != "something else"
		}},
	} {
		t.Run(name, func(t *testing.T) {
			next, row := c.flow.Step(c.pass())
			if next == nil || next.State != c.state || !c.holds(next) {
				t.Errorf("%+v by %+v", next, row)
			}
		})
	}
}

// Every attempt at an effect is noted with its reason, and puts the next one off.
func TestAttemptsAreNoted(t *testing.T) {
	for name, o := range map[string]Outcome{"done": {Done: true}, "refused": {Refused: true, Reason: "no"}, "unknown": {Reason: "gone"}} {
		in := outPass(OutCommitted, chains.EscrowFact{State: chains.EscrowOpen})()
		o.Effect = SetRefund
		in.Input = o
		next, _ := newToBTCLN().Step(in)
		if try := next.Tried[string(SetRefund)]; try.Attempts != 1 || try.Reason != o.Reason || try.NotBefore <= At(noon) {
			t.Errorf("%s: %+v", name, try)
		}
	}
}

// The first final answer of an end that was read from elsewhere begins the time until
// it is believed; the end that is known is not put off by later answers.
func TestEndsAreConfirmed(t *testing.T) {
	for _, c := range []struct {
		ended, want Millis
		settled     bool
	}{
		{0, At(noon), false},
		{ago(settleAfter - time.Millisecond), ago(settleAfter - time.Millisecond), false},
		{ago(settleAfter), ago(settleAfter), true},
	} {
		next := &Record{Head: Head{Ended: c.ended}}
		Decision{Now: noon}.settle(next)
		if next.Ended != c.want || next.Settled != c.settled {
			t.Errorf("ended at %d: %d, settled %v", c.ended, next.Ended, next.Settled)
		}
	}
}

// The block of the last transaction that was mined is known, and what a submission
// hands in renews no other one's attempts.
func TestWhereSubmissionsAreMined(t *testing.T) {
	in := outPass(OutSoftExpired, chains.EscrowFact{})()
	in.R.Submission = &Submission{Action: ActionInit, Since: ago(time.Minute), Txs: []SignedTx{{Signed: chains.Signed{ID: "0x1", From: "me"}}, {Signed: chains.Signed{ID: "0x2", From: "me"}}}}
	in.Obs.Txs = known(map[string]chains.TxStatus{"0x1": {State: chains.TxConfirmed, Block: chains.Block{Height: 120}}, "0x2": {State: chains.TxConfirmed, Block: chains.Block{Height: 119}}})
	if next, _ := newToBTCLN().Step(in); next.Submission.Block != 120 || !next.Submission.Closed || next.Submission.Moved != At(noon) {
		t.Errorf("%+v", next.Submission)
	}
}

// What becomes of a claim that was signed is noted by every type, and the transactions
// that the chain shows.
func TestClaimsThatFailAreNoted(t *testing.T) {
	claim := func(in *Decision) {
		in.R.Submission = &Submission{Action: actionClaim, Since: ago(time.Second), Txs: []SignedTx{{Signed: chains.Signed{ID: "0x1", From: "me"}}}}
		in.Obs.Txs = known(map[string]chains.TxStatus{"0x1": {State: chains.TxReverted, Reason: "out of gas"}})
	}
	for name, c := range map[string]struct {
		flow *Flow
		pass func() Decision
	}{
		"from lightning": {newFromBTCLNAuto(), passOf(autoPass(LnCommitted, chains.EscrowFact{State: chains.EscrowOpen, InitTx: "0xi"}), claim)},
		"vault":          {newSPVFromBTC(), passOf(spvPass(SPVConfirmed), all(claim, func(in *Decision) { in.Obs.Payment = known(&bitcoin.Tx{ID: bitcoin.Hash{9}, Confirmations: 2}) }))},
	} {
		next, _ := c.flow.Step(c.pass())
		if s := next.Submission; !s.Closed || s.Reason != "out of gas" {
			t.Errorf("%s: %+v", name, s)
		}
		if next.Escrow != nil && next.Escrow.InitTx != "0xi" {
			t.Errorf("%s: opened by %q", name, next.Escrow.InitTx)
		}
	}
}

// Only what carries a preimage is sent as what reveals one.
func TestOnlyClaimsReveal(t *testing.T) {
	for _, reveals := range []bool{false, true} {
		in := autoPass(LnCommitted, chains.EscrowFact{State: chains.EscrowOpen, Final: true})()
		in.R.Submission = &Submission{Action: actionClaim, Since: ago(time.Second), Txs: []SignedTx{{Signed: chains.Signed{ID: "0x1", From: "me", Reveals: reveals}}}}
		effects := sendNext(in, func(Decision) bool { return true })
		if len(effects) != 1 || effects[0].Reveals != reveals || effects[0].Until.IsZero() == reveals {
			t.Errorf("reveals %v: %+v", reveals, effects)
		}
	}
}

// The claim of an escrow that is not final is not handed out: it would show the
// preimage while the escrow can still vanish.
func TestPreimageIsWithheldUntilTheEscrowIsFinal(t *testing.T) {
	f := newFromBTCLNAuto()
	pass := passOf(autoPass(LnCommitted, chains.EscrowFact{State: chains.EscrowOpen, Final: true}), func(in *Decision) { in.R.Escrow.OpenedAt = ago(time.Hour) })
	offers := func(in Decision) bool {
		s, ok := f.View(in).Signable().(*Sign)
		return ok && s.For == actionClaim
	}
	needs(t, pass, offers, changes{
		"the escrow is not final":      func(in *Decision) { in.Obs.Escrow.Value.Final = false },
		"the chain does not answer":    func(in *Decision) { in.Obs.Escrow = failed(in.Obs.Escrow.Value) },
		"there is no time left":        tooLate,
		"the preimage is not known":    func(in *Decision) { in.R.Lightning.Preimage = chains.Preimage{} },
		"the escrow is not there":      func(in *Decision) { in.Obs.Escrow.Value.State = chains.EscrowNone },
		"the escrow was claimed":       func(in *Decision) { in.Obs.Escrow.Value.State = chains.EscrowClaimed },
		"a claim is on its way":        busyWith(actionClaim),
		"the escrow was not delivered": func(in *Decision) { in.R.Escrow.Real = nil },
	})
	in := pass()
	in.Obs.Escrow.Value.Final = false
	if v := f.View(in); v.Blocked == nil {
		t.Error("nobody is told why there is nothing to sign")
	}
}

// An answer of an LP's that means nothing ends a swap that waits for the LP's payout;
// the engine looks on, and a payout that is seen brings the swap back.
func TestUnknownAnswersOfProviders(t *testing.T) {
	for name, c := range map[string]struct {
		flow  *Flow
		pass  func() Decision
		state int
	}{
		"gas for bitcoin":   {newTrustedFromBTC(), trustedBTCPass(TrustedBTCCreated), TrustedBTCFailed},
		"gas for lightning": {newTrustedFromBTCLN(), trustedLNPass(TrustedLNPaid), TrustedLNFailed},
	} {
		why := takesRow(c.flow, "the provider gave an unknown answer")
		needs(t, passOf(c.pass, says(424_242)), why, changes{"the provider did not answer": lpSilent, "it is a known one": says(lp.CodeGasReceived)})
		if next, _ := c.flow.Step(passOf(c.pass, says(424_242))()); next.State != c.state || next.Settled {
			t.Errorf("%s: state %d, settled %v", name, next.State, next.Settled)
		}
	}
}

// A payout is doubted when the chain shows that it failed or pays too little, and not
// before it shows anything.
func TestPayoutDoubts(t *testing.T) {
	full, short := big.NewInt(100), big.NewInt(99)
	for name, c := range map[string]struct {
		change func(*Decision)
		want   bool
	}{
		"paid":                       {payout(chains.TxConfirmed, full), false},
		"the chain cannot tell":      {payout(chains.TxConfirmed, nil), false},
		"too little":                 {payout(chains.TxConfirmed, short), true},
		"too little, not mined":      {payout(chains.TxPending, short), false},
		"too little, not known":      {payout(chains.TxUnknown, short), false},
		"reverted":                   {payout(chains.TxReverted, full), true},
		"too little, says no answer": {func(in *Decision) { payout(chains.TxConfirmed, short)(in); in.Obs.GasTx = failed(in.Obs.GasTx.Value) }, false},
		"reverted, says no answer":   {func(in *Decision) { payout(chains.TxReverted, short)(in); in.Obs.GasTx = failed(in.Obs.GasTx.Value) }, false},
		"nothing was asked":          {func(*Decision) {}, false},
	} {
		if got := payoutDoubt(passOf(trustedLNPass(TrustedLNPaid), c.change)()) != nil; got != c.want {
			t.Errorf("%s: doubted %v", name, got)
		}
	}
	f := newTrustedFromBTCLN()
	pays := func(in Decision) bool { _, ok := f.View(in).Action.(*Pay); return ok }
	needs(t, trustedLNPass(TrustedLNCreated), pays, changes{
		"the quote has ended": func(in *Decision) { in.Now = in.R.Expiry.Time() },
	})
	for _, state := range []int{TrustedLNCreated, TrustedLNPaid} {
		in := passOf(trustedLNPass(state), payout(chains.TxReverted, full))()
		if v := f.View(in); v.Blocked == nil {
			t.Errorf("state %d: a payout that was reverted is not told", state)
		}
	}
}
