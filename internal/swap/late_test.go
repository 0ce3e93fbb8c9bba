package swap

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/internal/lp"
)

// signedBoth puts what opens and what claims an escrow under way; opened says that the
// first is confirmed.
func signedBoth(opened bool) func(*Decision) {
	return func(in *Decision) {
		in.R.Submission = &Submission{Action: ActionInit, Since: At(in.Now), Txs: []SignedTx{
			{Signed: chains.Signed{ID: "0x1", From: "me"}, Sent: opened}, {Signed: chains.Signed{ID: "0x2", From: "me", Step: 1, Reveals: true}}}}
	}
}

// sends reports whether a step of what was signed is sent.
func sends(f *Flow, step int) func(Decision) bool {
	return func(in Decision) bool {
		return slices.ContainsFunc(f.Effects(in), func(e Effect) bool { return e.Kind == SendTx && e.Step == step })
	}
}

// An opening stakes the deposit, so it is not sent any more once its claim would be held
// back: the nodes or the process may have been away since it was signed.
func TestOpeningIsNotSentLate(t *testing.T) {
	f := newFromBTCLN()
	pass := passOf(heldPass(LnPaid, chains.EscrowFact{Auth: chains.AuthGood}), signedBoth(false))
	needs(t, pass, sends(f, 0), changes{
		"the escrow ends too soon": expiresIn(lp.DutyOpen.Margin() - time.Second),
		"the chain's clock leaves a second less": func(in *Decision) {
			in.Obs.Escrow.Value.Head.Time = lp.DutyOpen.Before(in.R.Escrow.Real.Expiry).Unix() + 1
		},
		"a reorganisation took it back, and it is late": func(in *Decision) {
			in.R.Tried = map[string]Try{"send:0": {Attempts: 1, Outcome: Done}}
			expiresIn(time.Minute)(in)
		},
	})
	allows(t, pass, sends(f, 0), changes{"exactly enough is left": expiresIn(lp.DutyOpen.Margin()), "the chain does not answer": func(in *Decision) { in.Obs.Escrow = failed(in.Obs.Escrow.Value) }})
	in := pass()
	expiresIn(lp.DutyOpen.Margin() - time.Second)(&in)
	if v := f.View(in); v.Action != nil || v.Blocked == nil {
		t.Errorf("what was signed is not sent any more, and is shown as %v, %v", v.Action, v.Blocked)
	}

	// FROM_BTC stakes it as well, to be paid for the bitcoin that is sent afterwards.
	btc := newFromBTC()
	pays := passOf(depositPass(InCreated), func(in *Decision) {
		in.R.Submission = &Submission{Action: ActionInit, Since: At(in.Now), Txs: []SignedTx{{Signed: chains.Signed{ID: "0x1", From: "me"}}}}
	})
	last := func(in Decision) time.Time { return lp.DutyOpenToPay.Before(in.R.payUntil()) }
	needs(t, pays, sends(btc, 0), changes{
		"too little time would be left to pay": func(in *Decision) { in.Now = last(*in).Add(time.Second) },
		"the chain's clock leaves too little":  func(in *Decision) { in.Obs.Escrow.Value.Head.Time = last(*in).Unix() + 1 },
	})
	allows(t, pays, sends(btc, 0), changes{"exactly enough is left": func(in *Decision) { in.Now = last(*in) }})
}

// Between the last moment to be asked and the last moment to open, what was signed in
// time is taken, and nobody is asked any more.
func TestNobodyIsAskedToOpenLate(t *testing.T) {
	f := newFromBTCLN()
	pass := heldPass(LnPaid, chains.EscrowFact{Auth: chains.AuthGood})
	for left, want := range map[time.Duration]struct{ asked, taken bool }{
		lp.DutySign.Margin(): {true, true}, lp.DutySign.Margin() - time.Second: {false, true},
		lp.DutyOpen.Margin(): {false, true}, lp.DutyOpen.Margin() - time.Second: {false, false},
	} {
		in := pass()
		expiresIn(left)(&in)
		v := f.View(in)
		if asked, taken := v.Action != nil, v.Signable() != nil; asked != want.asked || taken != want.taken || asked == (v.Blocked != nil) {
			t.Errorf("%s left: asked %v, taken %v, told %v; want %v", left, asked, taken, v.Blocked, want)
		}
	}
}

// The automatic type takes an escrow that lasts for what is still to be done with it: one
// that is open and final needs the claim alone. The chain is asked before it is refused.
func TestAutomaticEscrowsThatAreShort(t *testing.T) {
	f := newFromBTCLNAuto()
	delivered := func(left time.Duration, found *chains.EscrowFact) Decision {
		in := autoPass(LnCreated, chains.EscrowFact{})()
		in.Obs.Delivered = known(&chains.Escrow{Hash: []byte{1}, Expiry: noon.Add(left).Unix()})
		if found != nil {
			found.Head.Time = noon.Unix()
			in.Obs.Found = known(*found)
		}
		return in
	}
	for name, c := range map[string]struct {
		found *chains.EscrowFact
		need  time.Duration
	}{
		"the chain was not asked": {nil, lp.DutyOpen.Margin()},
		"it is not open":          {&chains.EscrowFact{}, lp.DutyOpen.Margin()},
		"it is open":              {&chains.EscrowFact{State: chains.EscrowOpen}, lp.DutyFinalise.Margin()},
		"it is open for good":     {&chains.EscrowFact{State: chains.EscrowOpen, Final: true}, lp.DutyClaim.Margin()},
	} {
		for _, short := range []time.Duration{0, time.Second} {
			next, _ := f.Step(delivered(c.need-short, c.found))
			if taken := next.State == LnPaid; taken != (short == 0) || taken != (next.Problem == "") {
				t.Errorf("%s, %s left: taken %v, problem %q", name, c.need-short, taken, next.Problem)
			}
		}
	}
	in := delivered(lp.DutyOpen.Margin()-time.Second, nil)
	in.Obs.LP = known(lp.Status{Code: lp.CodeDone})
	if q := f.Ask(in).Found; q == nil || q.Escrow != in.Obs.Delivered.Value {
		t.Errorf("asked is %+v", q)
	}
	in = delivered(lp.DutyOpen.Margin(), nil)
	in.Obs.LP = known(lp.Status{Code: lp.CodeDone})
	if q := f.Ask(in).Found; q != nil {
		t.Errorf("an escrow with time left is asked for: %+v", q)
	}
}

// An open escrow that cannot be claimed safely any more costs the deposit, unless its
// user chooses the risk, which is said.
func TestLastClaimIsAChoice(t *testing.T) {
	f := newFromBTCLN()
	late := passOf(heldPass(LnHTLCExpired, chains.EscrowFact{State: chains.EscrowOpen, Final: true}), expiresIn(9*time.Minute))
	offered := func(in Decision) bool {
		s, ok := f.View(in).Action.(*Sign)
		return ok && s.For == actionLastClaim && !s.AnySigner && len(s.Plan.Steps) == 1 && s.Plan.Steps[0].Public && s.Plan.Steps[0].Preimage == autoPreimage &&
			strings.Contains(s.Description, "lost") && strings.Contains(s.Description, noon.Add(9*time.Minute).UTC().Format(time.RFC3339))
	}
	cannot := changes{
		"the escrow is not final":      func(in *Decision) { in.Obs.Escrow.Value.Final = false },
		"the escrow is not open":       func(in *Decision) { in.Obs.Escrow.Value.State = chains.EscrowNone },
		"the escrow was refunded":      func(in *Decision) { in.Obs.Escrow.Value.State = chains.EscrowRefunded },
		"the chain does not answer":    func(in *Decision) { in.Obs.Escrow = failed(in.Obs.Escrow.Value) },
		"no block could hold it":       expiresIn(lp.DutyLastClaim.Margin() - time.Second),
		"the chain's clock is at it":   func(in *Decision) { in.Obs.Escrow.Value.Head.Time = in.R.Escrow.Real.Expiry },
		"the swap is in another state": inState(LnPaid),
	}
	needs(t, late, offered, cannot)
	needs(t, late, offered, changes{"the preimage is not known": func(in *Decision) { in.R.Lightning.Preimage = chains.Preimage{} }, "one is under way": busyWith(actionLastClaim)})
	allows(t, late, offered, changes{"a claim that was signed along is held back": signedBoth(true)})
	in := late()
	in.R.Lightning.Preimage = chains.Preimage{}
	if v := f.View(in); v.Blocked == nil {
		t.Error("nobody is told that the preimage would help")
	}

	// It shows the preimage, so one of several nodes is not enough.
	settled := newFromBTCLN()
	settled.onSettledFacts()
	in = late()
	in.Obs.Escrow.Value.Unsettled = true
	if v := settled.View(in); v.Action != nil || v.Blocked == nil {
		t.Errorf("by the word of one node it offers %T", v.Action)
	}

	// It is a choice: what was signed for a safe claim is not sent, and this is.
	chosen := passOf(late, func(in *Decision) {
		in.R.Submission = &Submission{Action: actionLastClaim, Since: At(in.Now), Txs: []SignedTx{{Signed: chains.Signed{ID: "0x3", From: "me", Reveals: true}}}}
	})
	needs(t, chosen, sends(f, 0), cannot)
	safe := changes{"the claim that was signed along": signedBoth(true), "a claim that was signed when it was safe": func(in *Decision) { in.R.Submission.Action = actionClaim }}
	for name, change := range safe {
		in := chosen()
		change(&in)
		if effects := f.Effects(in); len(effects) != 0 {
			t.Errorf("%s is sent: %v", name, effects)
		}
	}
	if e := f.Effects(chosen())[0]; !e.Reveals || !e.Until.Equal(lp.DutyLastClaim.Before(noon.Add(9*time.Minute).Unix())) {
		t.Errorf("sent until %s, reveals %v", e.Until, e.Reveals)
	}
	checkRows(t, f, []row{{why: "the user chose to claim, though it may be lost", pass: passOf(late, func(in *Decision) { in.Input = signed(actionLastClaim) }), without: changes{
		"it is for the safe claim":  func(in *Decision) { in.Input = signed(actionClaim) },
		"no block could hold it":    expiresIn(lp.DutyLastClaim.Margin() - time.Second),
		"one is under way":          busyWith(actionLastClaim),
		"the chain does not answer": func(in *Decision) { in.Obs.Escrow = failed(in.Obs.Escrow.Value) },
	}, with: changes{"a claim that was signed along is held back": func(in *Decision) { signedBoth(true)(in) }}}})

	// The automatic type stakes no deposit: not claiming costs nothing.
	auto := autoPass(LnHTLCExpired, chains.EscrowFact{State: chains.EscrowOpen, Final: true})()
	expiresIn(9 * time.Minute)(&auto)
	if v := newFromBTCLNAuto().View(auto); v.Action != nil {
		t.Errorf("FROM_BTCLN_AUTO offers %T", v.Action)
	}
}
