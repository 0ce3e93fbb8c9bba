package swap

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/internal/lp"
)

// heldPass is a pass over a FROM_BTCLN swap whose LP delivered an escrow that ends in an
// hour; it is stored from PR_PAID on.
func heldPass(state int, f chains.EscrowFact) func() Decision {
	return func() Decision {
		hash := sha256.Sum256(autoPreimage[:])
		e := &chains.Escrow{ClaimHash: hash[:], Hash: []byte{1}, Expiry: noon.Add(time.Hour).Unix()}
		r := &Record{
			Head:      Head{Type: FromBTCLN, State: state, Signer: "me", LP: LP{URL: "https://lp"}, Expiry: ago(-10 * time.Minute), CreatedAt: ago(time.Minute), Seen: Seen{Chain: 90, At: ago(time.Minute)}},
			Lightning: &LightningPart{Invoice: "lnbc1", Hash: hex.EncodeToString(hash[:]), Preimage: autoPreimage, EndsAt: ago(-2 * time.Hour)},
			Escrow:    &EscrowPart{Expected: &chains.Escrow{ClaimHash: hash[:]}, FeeRate: "7"},
		}
		in := Decision{R: r, Obs: &Observation{}, Now: noon}
		f.Head = chains.Block{Height: 100, Time: noon.Unix()}
		if state == LnCreated {
			in.Obs.LP = known(lp.Status{Code: lp.CodeDone, Escrow: json.RawMessage("{}"), Auth: &chains.Auth{Signature: "aa"}})
			in.Obs.Delivered, in.Obs.Init, in.Obs.Found = known(e), known(ago(-9*time.Minute)), known(f)
			return in
		}
		r.Escrow.Real, r.Escrow.Init = e, &chains.Auth{Signature: "aa"}
		in.Obs.Escrow = known(f)
		return in
	}
}

func expiresIn(d time.Duration) func(*Decision) {
	return func(in *Decision) {
		e := *in.R.Escrow.Real
		e.Expiry = noon.Add(d).Unix()
		in.R.Escrow.Real = &e
	}
}

// The LP's escrow is taken only whole: the agreed one, authorised, on no chain yet, and
// with time to claim it.
func TestWhatTheLPMustDeliver(t *testing.T) {
	f := newFromBTCLN()
	checkRows(t, f, []row{{why: "the provider holds the payment and authorized the agreed escrow", pass: heldPass(LnCreated, chains.EscrowFact{}), without: changes{
		"the escrow is another one":         func(in *Decision) { in.Obs.Delivered.Err = &lp.LPError{} },
		"the authorization is not verified": func(in *Decision) { in.Obs.Init = Fact[Millis]{} },
		"the authorization is no good":      func(in *Decision) { in.Obs.Init.Err = &chains.AuthError{Reason: "forged"} },
		"the chain does not answer":         func(in *Decision) { in.Obs.Found = failed(in.Obs.Found.Value) },
		"the escrow is open already":        func(in *Decision) { in.Obs.Found.Value.State = chains.EscrowOpen },
		"the escrow was claimed":            func(in *Decision) { in.Obs.Found.Value.State = chains.EscrowClaimed },
		"a second is missing":               func(in *Decision) { in.Now = lp.DutySign.Before(in.Obs.Delivered.Value.Expiry).Add(time.Second) },
		"the chain's clock leaves a second less": func(in *Decision) {
			in.Obs.Found.Value.Head.Time = lp.DutySign.Before(in.Obs.Delivered.Value.Expiry).Unix() + 1
		},
	}, with: changes{
		"exactly enough is left":         func(in *Decision) { in.Now = lp.DutySign.Before(in.Obs.Delivered.Value.Expiry) },
		"a provider leaves half an hour": func(in *Decision) { in.Obs.Delivered.Value.Expiry = noon.Add(30 * time.Minute).Unix() },
	}}})
	next, _ := f.Step(heldPass(LnCreated, chains.EscrowFact{})())
	if e := next.Escrow; e.Real == nil || e.Init == nil || next.Expiry != ago(-9*time.Minute) || next.MayPurge() {
		t.Errorf("after it: %+v, expires %d", e, next.Expiry)
	}
	for says, change := range map[string]func(*Decision){
		"differs from the agreed one": func(in *Decision) { in.Obs.Delivered = Fact[*chains.Escrow]{Asked: true, Err: &lp.LPError{}} },
		"is not valid":                func(in *Decision) { in.Obs.Init.Err = &chains.AuthError{Reason: "forged"} },
		"is already open":             func(in *Decision) { in.Obs.Found.Value.State = chains.EscrowOpen },
		"too little time":             func(in *Decision) { in.Obs.Delivered.Value.Expiry = noon.Add(605 * time.Second).Unix() },
	} {
		in := passOf(heldPass(LnCreated, chains.EscrowFact{}), change)()
		next, _ := f.Step(in)
		v := f.View(Decision{R: next, Obs: &Observation{}, Now: noon})
		if !strings.Contains(next.Problem, says) || v.Action != nil || v.Blocked == nil || f.IsUnpaid(next) {
			t.Errorf("%s: problem %q, action %v", says, next.Problem, v.Action)
		}
	}
	late := passOf(heldPass(LnCreated, chains.EscrowFact{}), func(in *Decision) { in.Obs.Init.Err = &chains.AuthError{Late: true} })()
	if next, _ := f.Step(late); next.Problem != "" { // our clock may be the wrong one
		t.Errorf("late: %q", next.Problem)
	}
}

// Opening and claim are signed together, and the claim, which carries the preimage, is
// sent only while that very escrow is open, final, and lasts for more than ten minutes.
func TestClaimIsHeldBack(t *testing.T) {
	f := newFromBTCLN()
	paid := heldPass(LnPaid, chains.EscrowFact{Auth: chains.AuthGood})
	offered := func(in Decision) bool { s, ok := f.View(in).Action.(*Sign); return ok && len(s.Plan.Steps) == 2 }
	needs(t, paid, offered, changes{
		"the preimage is not known":         func(in *Decision) { in.R.Lightning.Preimage = chains.Preimage{} },
		"the authorization is late":         func(in *Decision) { in.Obs.Escrow.Value.Auth = chains.AuthLate },
		"the escrow would end too soon":     expiresIn(lp.DutySign.Margin() - time.Second),
		"another submission is in progress": busyWith(ActionInit),
	})
	plan := f.View(paid()).Action.(*Sign).Plan
	if plan.Steps[0].Kind != chains.StepInit || plan.Steps[1].Kind != chains.StepClaimSecret || plan.Steps[1].Preimage != autoPreimage || plan.FeeRate != "7" || plan.Steps[1].Public {
		t.Errorf("plan %+v", plan)
	}
	submit := Submit{Action: ActionInit, Txs: []SignedTx{{Signed: chains.Signed{ID: "0x1", From: "me"}}, {Signed: chains.Signed{ID: "0x2", From: "me", Step: 1, Reveals: true}}}}
	checkRows(t, f, []row{{why: "the user signed", pass: passOf(paid, func(in *Decision) { in.Input = submit }), without: changes{
		"the authorization is late":         func(in *Decision) { in.Obs.Escrow.Value.Auth = chains.AuthLate },
		"the chain does not answer":         func(in *Decision) { in.Obs.Escrow = failed(in.Obs.Escrow.Value) },
		"the escrow would end too soon":     expiresIn(lp.DutyOpen.Margin() - time.Second),
		"another submission is in progress": busyWith(ActionInit),
		"it is the claim alone":             func(in *Decision) { in.Input = signed(actionClaim) },
	}, with: changes{"signing took a while": expiresIn(lp.DutyOpen.Margin())}}})
	sending := passOf(heldPass(LnCommitted, chains.EscrowFact{State: chains.EscrowOpen, Final: true}), func(in *Decision) {
		in.R.Submission = &Submission{Action: ActionInit, Since: At(in.Now), Txs: append([]SignedTx{}, submit.Txs...)}
		in.R.Submission.Txs[0].Sent = true
	})
	claims := func(in Decision) bool {
		es := f.Effects(in)
		return len(es) == 1 && es[0].Kind == SendTx && es[0].Step == 1 && es[0].Reveals
	}
	needs(t, sending, claims, changes{
		"the escrow is not final":         func(in *Decision) { in.Obs.Escrow.Value.Final = false },
		"the chain does not answer":       func(in *Decision) { in.Obs.Escrow = failed(in.Obs.Escrow.Value) },
		"the escrow is not open":          func(in *Decision) { in.Obs.Escrow.Value.State = chains.EscrowNone },
		"the escrow was refunded":         func(in *Decision) { in.Obs.Escrow.Value.State = chains.EscrowRefunded },
		"less than ten minutes are left":  expiresIn(chains.ClaimGrace - time.Second),
		"the chain's clock leaves less":   func(in *Decision) { in.Obs.Escrow.Value.Head.Time = in.R.Escrow.Real.Expiry - 599 },
		"the opening is not confirmed":    func(in *Decision) { in.R.Submission.Txs[0].Sent = false },
		"the swap is not seen to be open": inState(LnPaid),
	})
	if e := f.Effects(sending())[0]; !e.Until.Equal(time.Unix(sending().R.Escrow.Real.Expiry, 0).Add(-chains.ClaimGrace)) {
		t.Errorf("sent until %s", e.Until)
	}
	// Once others may know it, only the claim helps.
	public := passOf(sending, func(in *Decision) { in.R.Lightning.Revealed = At(noon) })
	allows(t, public, claims, changes{
		"the escrow is not final": func(in *Decision) { in.Obs.Escrow.Value.Final = false },
		"it is late":              expiresIn(time.Second),
	})
	if v := f.View(sending()); v.Action == nil {
		t.Error("nothing is shown while the claim is held back")
	} else if _, ok := v.Action.(*Wait); !ok {
		t.Errorf("shown is %T", v.Action)
	}
}

// What opens the escrow is refused without the chain's word on its authorisation, so it is
// not offered either, and the reason is told.
func TestOpeningNeedsTheChainsWord(t *testing.T) {
	f := newFromBTCLN()
	offers := func(in Decision) bool { s, ok := f.View(in).Action.(*Sign); return ok && s.For == ActionInit }
	silent := func(in *Decision) { in.Obs.Escrow = failed(in.Obs.Escrow.Value) }
	pass := heldPass(LnPaid, chains.EscrowFact{Auth: chains.AuthGood})
	needs(t, pass, offers, changes{"the chain does not answer": silent})
	in := pass()
	silent(&in)
	if f.View(in).Blocked == nil {
		t.Error("the opening is not offered, and nobody is told why")
	}
}
