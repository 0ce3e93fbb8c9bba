package swap

import (
	"testing"
	"time"

	"github.com/swapper-go/swapper/chains"
)

// A service that did not answer may have paid. What it says to the same request,
// made again, tells nothing of that.
func TestWithdrawalAskedForAgain(t *testing.T) {
	f := newFromBTCLNAuto()
	now := time.Unix(1_700_000_000, 0)
	step := func(r *Record, input Input) *Record {
		next, _ := f.Step(Decision{R: r, Obs: &Observation{}, Input: input, Now: now})
		return next
	}
	for name, test := range map[string]struct {
		before Try
		want   string // outcome, once the service refused
	}{
		"no answer":             {Try{Started: 1, Attempts: 1}, ""},
		"no time for an answer": {Try{Started: 1}, ""},
		"agreed":                {Try{Started: 1, Attempts: 1, Outcome: Done}, ""},
		"refused":               {Try{Started: 1, Attempts: 1, Outcome: Refused}, Refused},
	} {
		t.Run(name, func(t *testing.T) {
			r := &Record{Head: Head{Type: FromBTCLNAuto}, Lightning: &LightningPart{Withdraw: &Withdraw{Asked: true}}, Escrow: &EscrowPart{},
				Tried: map[string]Try{string(CallWithdraw): test.before}}
			if n := len(f.Effects(Decision{R: r, Obs: &Observation{}, Now: now})); n != 0 {
				t.Fatalf("%d effects without being asked", n)
			}
			r = step(r, UseWithdraw{})
			if n := len(f.Effects(Decision{R: r, Obs: &Observation{}, Now: now})); n != 1 {
				t.Fatalf("%d effects", n)
			}
			r = step(r, Outcome{Effect: CallWithdraw, Refused: true, Reason: "withdrawn already"})
			if got := r.Tried[string(CallWithdraw)].Outcome; got != test.want {
				t.Errorf("the outcome is %q, want %q", got, test.want)
			}
		})
	}
}

// A link that a stranger gave, and that did not pay, gives way to the owner's at once, and
// to any once its service has refused; one that the swap was made with gives way to none.
func TestWhichLinkHasThePlace(t *testing.T) {
	pass := func(w *Withdraw, try Try) func() Decision {
		return func() Decision {
			in := autoPass(LnCreated, chains.EscrowFact{})()
			in.R.Lightning.Withdraw, in.R.Lightning.Link = w, "lnurlw://first"
			in.R.Tried = map[string]Try{string(CallWithdraw): try}
			in.Input = UseWithdraw{Link: "lnurlw://mine", With: &Withdraw{Params: WithdrawParams{K1: "mine"}}, ByOwner: true}
			return in
		}
	}
	first := WithdrawParams{K1: "first"}
	given := &Withdraw{Params: first, Asked: true, Given: true}
	byStranger := func(in *Decision) { u := in.Input.(UseWithdraw); u.ByOwner = false; in.Input = u }
	for _, f := range []*Flow{newFromBTCLNAuto(), newFromBTCLN()} {
		takes := takesRow(f, "the LNURL service is asked to pay")
		for name, try := range map[string]Try{"it is asked now": {Started: 1, Busy: 2}, "it did not answer": {Started: 1, Attempts: 1}, "it agreed": {Started: 1, Attempts: 1, Outcome: Done}} {
			needs(t, pass(given, try), takes, changes{
				"a stranger gives it (" + name + ")": byStranger,
				"the swap was made with a link":      func(in *Decision) { in.R.Lightning.Withdraw = &Withdraw{Params: first, Asked: true} },
				"the invoice has expired":            func(in *Decision) { in.R.State = LnSoftExpired },
			})
			next, _ := f.Step(pass(given, try)())
			l := next.Lightning
			if l.Withdraw.Params.K1 != "mine" || !l.Withdraw.Given || !l.Withdraw.Asked || l.Link != "lnurlw://mine" || len(f.Effects(Decision{R: next, Obs: &Observation{}, Now: noon})) != 1 {
				t.Errorf("%s: %+v", name, l)
			}
			// What comes of the first says nothing of the second.
			late, _ := f.Step(Decision{R: next, Obs: &Observation{}, Now: noon, Input: Outcome{Effect: CallWithdraw, Refused: true, Of: "first"}})
			if late.Tried[string(CallWithdraw)].Attempts != 0 {
				t.Errorf("%s: the first's refusal counts", name)
			}
			own, _ := f.Step(Decision{R: next, Obs: &Observation{}, Now: noon, Input: Outcome{Effect: CallWithdraw, Refused: true, Of: "mine"}})
			if own.Tried[string(CallWithdraw)].Outcome != Refused {
				t.Errorf("%s: its own refusal does not count", name)
			}
		}
		allows(t, pass(given, Try{Started: 1, Attempts: 1, Outcome: Refused}), takes, changes{"a stranger gives it after a refusal": byStranger})
	}
}
