package swap

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/internal/lp"
	"github.com/swapper-go/swapper/internal/trial"
)

// A quote that ended unused asks for nothing, and takes late what it asked to be signed.
func TestEndedQuoteAsksForNothing(t *testing.T) {
	sign, fund := &Sign{}, &Fund{}
	for name, c := range map[string]struct {
		a, late Action
	}{"transactions": {sign, sign}, "a PSBT": {fund, fund}, "a payment": {&Pay{}, nil}, "patience": {&Wait{}, nil}, "nothing": {nil, nil}} {
		v := View{Row: StateRow{Pending: true}, Action: c.a, Blocked: errors.New("x"), Steps: []Step{
			{Type: stepPayment, Status: shownAwaiting}, {Type: stepPayment, Status: shownReceived}, {Type: stepSettlement, Status: shownAwaiting}, {Type: stepPayment, Status: shownInactive}}}
		v.End()
		if !v.Row.Finished || !v.Row.Expired || v.Row.Pending || v.Action != nil || v.Blocked != nil || v.Late != c.late {
			t.Errorf("%s: %+v", name, v)
		}
		for i, want := range []StepStatus{shownSoftExpired, shownReceived, shownAwaiting, shownInactive} {
			if v.Steps[i].Status != want {
				t.Errorf("%s: step %d is %s", name, i, v.Steps[i].Status)
			}
		}
		if v.Signable() != c.late {
			t.Errorf("%s: signable is %+v", name, v.Signable())
		}
	}
	pay := &Pay{Fund: fund}
	for name, c := range map[string]struct {
		v    View
		want Action
	}{
		"transactions":          {View{Action: sign, Late: fund}, sign},
		"a payment with a PSBT": {View{Action: pay}, fund},
		"a payment without one": {View{Action: &Pay{}}, nil},
		"nothing":               {View{}, nil},
	} {
		got := c.v.Signable()
		if p, plain := got.(*Pay); plain && p.Fund == nil {
			got = nil
		}
		if got != c.want {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

// A quote is over at its end, if nobody used it and the table has not ended it.
func TestWhenAQuoteIsOver(t *testing.T) {
	f := newToBTCLN()
	over := func(in Decision) bool { return f.Over(in.R, in.Now) }
	pass := passOf(outPass(OutCreated, chains.EscrowFact{}), func(in *Decision) { in.Now, in.R.NotPaid = in.R.Expiry.Time(), true })
	needs(t, pass, over, changes{
		"nobody has said so":          func(in *Decision) { in.R.NotPaid = false },
		"nobody has said so for long": func(in *Decision) { in.R.NotPaid, in.Now = false, in.Now.Add(24*time.Hour-time.Millisecond) },
		"its time is not over":        func(in *Decision) { in.Now = in.Now.Add(-time.Millisecond) },
		"it has no end":               func(in *Decision) { in.R.Expiry = 0 },
		"transactions are on the way": busyWith(ActionInit),
		"the escrow was opened":       func(in *Decision) { in.R.Escrow.InitTx = "0x1" },
		"it is open":                  inState(OutCommitted),
		"it is finished":              inState(OutExpired),
		"nobody knows its state":      inState(99),
	})
	allows(t, pass, over, changes{
		"the quote has softly expired": inState(OutSoftExpired),
		"nobody has said so for a day": func(in *Decision) { in.R.NotPaid, in.Now = false, in.Now.Add(24*time.Hour) },
	})
	if (&Flow{States: f.States}).Over(&Record{Head: Head{State: OutCreated, Expiry: 1}}, noon) {
		t.Error("a type that knows no unused quotes has one")
	}
	if row, ok := f.State(99); ok || row.Name != "" {
		t.Errorf("state 99 is %+v", row)
	}
}

// TestCancelledQuoteIsNotPaid takes back what asks for a payment once the LP says that it
// takes none, before the quote expires.
func TestCancelledQuoteIsNotPaid(t *testing.T) {
	unheld := passOf(heldPass(LnCreated, chains.EscrowFact{}), func(in *Decision) { *in.Obs = Observation{} })
	for _, c := range []struct {
		f       *Flow
		pass    func() Decision
		waiting int
	}{
		{newFromBTCLN(), unheld, lp.CodeUnpaid},
		{newFromBTCLNAuto(), autoPass(LnCreated, chains.EscrowFact{}), lp.CodeUnpaid},
		{newTrustedFromBTCLN(), trustedLNPass(TrustedLNCreated), lp.CodeGasUnpaid},
		{newTrustedFromBTC(), trustedBTCPass(TrustedBTCCreated), lp.CodeGasUnpaid},
	} {
		for code, withheld := range map[int]bool{c.waiting: false, lp.CodeExpired: true} {
			v := c.f.View(passOf(c.pass, says(code))())
			if _, asked := v.Action.(*Pay); asked == withheld || (v.Blocked == ErrCancelled) != withheld {
				t.Errorf("%s, the LP says %d: %+v, blocked by %v; want it withheld: %v", c.f.Type, code, v.Action, v.Blocked, withheld)
			}
		}
	}
}

// TestWhoSaysThatNothingWasPaid lists, by type, the answers after the expiry that end an
// unused quote. Silence ends none, nor does an answer that was asked for before.
func TestWhoSaysThatNothingWasPaid(t *testing.T) {
	nothing := func(in *Decision) { *in.Obs = Observation{} }
	chain := changes{
		"the chain is silent":     nothing,
		"the chain shows nothing": func(in *Decision) { in.Obs = &Observation{Escrow: known(chains.EscrowFact{})} },
	}
	none := chains.EscrowFact{}
	for _, c := range []struct {
		f     *Flow
		pass  func() Decision
		facts changes
		ends  string
	}{
		{newToBTC(), outPass(OutSoftExpired, none), chain, "the chain shows nothing"},
		{newToBTCLN(), outPass(OutSoftExpired, none), chain, "the chain shows nothing"},
		{newFromBTC(), depositPass(InSoftExpired), chain, "the chain shows nothing"},
		{newFromBTCLN(), heldPass(LnSoftExpired, none), changes{"the LP is silent": nothing, "expired": says(lp.CodeExpired), "unpaid": says(lp.CodeUnpaid), "held": says(lp.CodeDone)}, "expired, unpaid"},
		{newFromBTCLNAuto(), autoPass(LnSoftExpired, none), changes{"the LP is silent": nothing, "expired": says(lp.CodeExpired), "unpaid, or held": says(lp.CodeUnpaid), "held": says(lp.CodeDone)}, "expired"},
		{newTrustedFromBTCLN(), trustedLNPass(TrustedLNCreated), changes{"the LP is silent": nothing, "unpaid": says(lp.CodeGasUnpaid), "held": says(lp.CodeGasReceived)}, "unpaid"},
		{newTrustedFromBTC(), trustedBTCPass(TrustedBTCCreated), changes{"Bitcoin is silent": nothing,
			"Bitcoin shows nothing": receives(), "Bitcoin shows a payment": receives(&bitcoin.Tx{})}, "Bitcoin shows nothing"},
	} {
		f := c.f
		f.onSettledFacts()
		for name, fact := range c.facts {
			pass := passOf(c.pass, func(in *Decision) {
				if f.Type == FromBTCLN {
					in.R.Escrow.Real = nil
				}
				in.Now = in.R.Expiry.Time()
				fact(in)
			})
			over := func(in Decision) bool { next, _ := f.Step(in); return f.Over(next, in.Now) }
			in := pass()
			if got, want := over(in), strings.Contains(c.ends, name); got != want {
				t.Errorf("%s, %s: over is %v, want %v", f.Type, name, got, want)
			}
			if !strings.Contains(c.ends, name) {
				continue
			}
			early := pass()
			early.Now = early.Now.Add(-time.Millisecond)
			if next, _ := f.Step(early); next.NotPaid {
				t.Errorf("%s, %s: it counts before the expiry", f.Type, name)
			}
			if in.Obs.LP.Known() {
				in.Obs.LP.Value.Age = time.Second
				if over(in) {
					t.Errorf("%s, %s: it counts though it was asked for before the expiry", f.Type, name)
				}
			} else if in.Obs.Escrow.Known() {
				in.Obs.Escrow.Value.Unsettled = true
				if ask := f.Ask(in); over(in) || ask.Escrow == nil || !ask.Escrow.Settled {
					t.Errorf("%s, %s: one of several nodes ends it, or the others are not asked: %+v", f.Type, name, ask.Escrow)
				}
			}
		}
	}
	if f := newSPVFromBTC(); f.NotPaid != nil {
		t.Error("a vault swap is paid by what is handed in here alone")
	}
}

// A step into a finished state notes when; one out of it forgets that, and that
// nobody looks any more.
func TestStepNotesTheEnd(t *testing.T) {
	f := newToBTCLN()
	claimed := passOf(outPass(OutCommitted, chains.EscrowFact{State: chains.EscrowClaimed, Result: make([]byte, 32)}), func(in *Decision) { in.R.Settled = true })
	next, row := f.Step(claimed())
	if row == nil || next.State != OutClaimed || next.Ended != At(noon) || next.Settled {
		t.Errorf("%+v by %+v", next, row)
	}
	in := outPass(OutClaimed, chains.EscrowFact{State: chains.EscrowOpen})()
	in.R.Ended, in.R.Settled = ago(time.Hour), true
	in.R.Seen = Seen{Chain: 90, At: ago(time.Minute)}
	if next, row := f.Step(in); row == nil || next.Ended != 0 || next.Settled {
		t.Errorf("%+v by %+v", next, row)
	}
	in = outPass(OutCommitted, chains.EscrowFact{State: chains.EscrowOpen})()
	if next, row := f.Step(in); row != nil || next.Ended != 0 {
		t.Errorf("%+v by %+v", next, row)
	}
}

// What is stored is read back for the very swap, by a version that knows it.
func TestDecodeRefuses(t *testing.T) {
	r := &Record{Head: Head{ID: "a", Type: ToBTCLN}}
	body := trial.Must(r.Encode())(t)
	if got, err := Decode("a", 7, body); err != nil || got.Version != 7 || got.Schema != schema {
		t.Errorf("%+v, %v", got, err)
	}
	changed := func(body []byte, member string, v any) []byte {
		var m map[string]any
		trial.Do(t, json.Unmarshal(body, &m))
		if _, there := m[member]; !there {
			t.Fatalf("no member %s in %s", member, body)
		}
		m[member] = v
		return trial.Must(json.Marshal(m))(t)
	}
	newer := changed(body, "schema", schema+1)
	for name, text := range map[string][]byte{"not JSON": []byte("{"), "of no type": changed(body, "type", 99), "of a form that is not known": changed(body, "terms", []int{}),
		"newer": newer, "newer, of a form that is not known": changed(newer, "terms", []int{}), "newer, of a type that is not known": changed(newer, "type", 99)} {
		got, err := Decode("a", 7, text)
		if err == nil || errors.Is(err, errNewer) != strings.HasPrefix(name, "newer") {
			t.Errorf("%s: %+v, %v", name, got, err)
		} else if errors.Is(err, errNewer) && !strings.Contains(err.Error(), "run the version that wrote it or a newer one") {
			t.Errorf("%s: %v does not say what to do", name, err)
		}
	}
	if got, err := Decode("secret id", 7, body); err == nil || strings.Contains(err.Error(), "secret") {
		t.Errorf("of another swap: %+v, %v", got, err)
	}
}

// A copy shares nothing that a step changes.
func TestCloneSharesNothing(t *testing.T) {
	r := &Record{Lightning: &LightningPart{Withdraw: &Withdraw{}}, Submission: &Submission{Txs: make([]SignedTx, 1)}, Tried: map[string]Try{"x": {}},
		Escrow: &EscrowPart{}, Bitcoin: &BitcoinPart{}, Vault: &VaultPart{}, Gas: &GasPart{}}
	c := r.Clone()
	c.Lightning.Hash, c.Lightning.Withdraw.Asked, c.Submission.Closed, c.Submission.Txs[0].Sent = "x", true, true, true
	c.Tried["x"] = Try{Attempts: 1}
	c.Escrow.InitTx, c.Bitcoin.Sats, c.Vault.FrontTx, c.Gas.Paid = "x", 1, "x", true
	if r.Lightning.Hash != "" || r.Lightning.Withdraw.Asked || r.Submission.Closed || r.Submission.Txs[0].Sent || r.Tried["x"].Attempts != 0 ||
		r.Escrow.InitTx != "" || r.Bitcoin.Sats != 0 || r.Vault.FrontTx != "" || r.Gas.Paid {
		t.Errorf("%+v", r)
	}
	if c := new(Record).Clone(); c.Tried != nil || c.Submission != nil || c.Lightning != nil {
		t.Errorf("%+v", c)
	}
}

func TestTypesAndEffects(t *testing.T) {
	for _, f := range Flows() {
		if !f.Type.Valid() || f.Type.String() == "" {
			t.Errorf("%d is %q", f.Type, f.Type)
		}
	}
	for _, none := range []Type{-1, Type(len(typeNames)), 99} {
		if none.Valid() || none.String() == "" {
			t.Errorf("%d is valid, and %q", int(none), none)
		}
	}
	for _, kind := range []EffectKind{SendTx, PostPSBT, Broadcast, Publish, CallWithdraw, SetRefund} {
		if got := (Effect{Kind: kind}).ToLP(); got != (kind == PostPSBT || kind == SetRefund) {
			t.Errorf("%s goes to the provider: %v", kind, got)
		}
	}
	for signer, c := range map[string]struct {
		caller string
		any    bool
	}{"me": {"other", false}, "other": {"other", true}, "Me": {"", true}} {
		a := &Sign{AnySigner: c.any, Plan: chains.Plan{Signer: signer}}
		want := signer
		if c.any && c.caller != "" {
			a.Plan.Signer, want = "me", c.caller
		}
		if got := a.PlanFor(Caller{Signer: c.caller}).Signer; got != want {
			t.Errorf("%q signs in the place of %q, want %q", got, a.Plan.Signer, want)
		}
	}
	for kind, name := range map[string]string{actionClaim: "Automatic settlement", ActionRefund: "Awaiting LP payout"} {
		if w := (&Sign{For: kind}).Delayed(); w.Name != name || w.PollSeconds <= 0 {
			t.Errorf("%s: %+v", kind, w)
		}
	}
}

// What a swap from bitcoin into a vault shows, step by step.
func TestSPVSteps(t *testing.T) {
	f := newSPVFromBTC()
	confirmed := func(n uint32) func(*Decision) {
		return func(in *Decision) { in.Obs.Payment = known(&bitcoin.Tx{ID: bitcoin.Hash{9}, Confirmations: n}) }
	}
	waits := func(in *Decision) { in.Obs.ETA = known(77) }
	for name, c := range map[string]struct {
		pass   func() Decision
		status StepStatus
		wait   int // expected seconds of a wait; -2 for no wait
	}{
		"posted":                      {spvPass(SPVSigned), "", -2},
		"seen":                        {passOf(spvPass(SPVBroadcasted), all(confirmed(1), waits)), shownReceived, 77},
		"seen, nobody knows how long": {passOf(spvPass(SPVBroadcasted), confirmed(1)), shownReceived, -1},
		"has all confirmations":       {passOf(spvPass(SPVBroadcasted), all(confirmed(2), waits)), shownConfirmed, -2},
		"has more":                    {passOf(spvPass(SPVBroadcasted), confirmed(3)), shownConfirmed, -2},
	} {
		in := c.pass()
		v := f.View(in)
		if c.status != "" && v.Steps[0].Status != c.status {
			t.Errorf("%s: payment %s", name, v.Steps[0].Status)
		}
		w, ok := v.Action.(*Wait)
		if c.wait != -2 && (!ok || w.ExpectedSeconds != c.wait) {
			t.Errorf("%s: %+v", name, v.Action)
		}
		if in.R.Posted() && v.Steps[0].InitTx != (bitcoin.Hash{9}).String() {
			t.Errorf("%s: payment %q", name, v.Steps[0].InitTx)
		}
	}
}

// What a swap from bitcoin on trust shows, of what goes wrong before all.
func TestTrustedBTCShown(t *testing.T) {
	f := newTrustedFromBTC()
	refused := func(in *Decision) {
		in.R.Submission, in.R.Tried = &Submission{PSBT: bitcoin.Hash{9}}, map[string]Try{string(Broadcast): {Outcome: Refused, Reason: "dust"}}
	}
	blocked := func(in Decision) bool { return f.View(in).Blocked != nil }
	needs(t, passOf(trustedBTCPass(TrustedBTCCreated), refused), blocked, changes{
		"it went out":           func(in *Decision) { in.R.Tried = map[string]Try{string(Broadcast): {Outcome: Done}} },
		"a payment was seen":    func(in *Decision) { in.R.Bitcoin.TxID = bitcoin.Hash{1} },
		"nothing was handed in": func(in *Decision) { in.R.Submission = nil },
	})
	needs(t, passOf(trustedBTCPass(TrustedBTCCreated), func(in *Decision) { in.R.Problem = "less" }), blocked, changes{"nothing is wrong": func(in *Decision) { in.R.Problem = "" }})
	both := passOf(trustedBTCPass(TrustedBTCCreated), all(refused, func(in *Decision) { in.R.Problem = "less" }))
	if v := f.View(both()); v.Blocked == nil || !strings.Contains(v.Blocked.Error(), "less") {
		t.Errorf("of two things %v is said", v.Blocked)
	}
	for name, c := range map[string]struct {
		change func(*Decision)
		status StepStatus
	}{
		"a payment was confirmed": {func(in *Decision) { in.R.Bitcoin.TxID, in.R.Bitcoin.ConfirmedAt = bitcoin.Hash{9}, 5 }, shownConfirmed},
		"the provider pays out":   {all(says(lp.CodeGasPending), func(in *Decision) { in.R.Bitcoin.TxID = bitcoin.Hash{9} }), shownConfirmed},
		"a payment waits":         {func(in *Decision) { in.R.Bitcoin.TxID = bitcoin.Hash{9} }, shownReceived},
	} {
		in := trustedBTCPass(TrustedBTCCreated)()
		c.change(&in)
		if v := f.View(in); v.Steps[0].Status != c.status || !isZero(in.R.Bitcoin.TxID) && v.Steps[0].InitTx != in.R.Bitcoin.TxID.String() {
			t.Errorf("%s: %+v", name, v.Steps[0])
		}
	}
}
