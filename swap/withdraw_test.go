package swap

import (
	"testing"
	"time"
)

// A service that did not answer may have paid. What it says to the same request,
// made again, tells nothing of that.
func TestWithdrawalAskedForAgain(t *testing.T) {
	f := newFromBTCLNAuto()
	now := time.Unix(1_700_000_000, 0)
	step := func(r *Record, input Input) *Record {
		next, _ := f.Step(In{R: r, Obs: &Observation{}, Input: input, Now: now})
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
			if n := len(f.Effects(In{R: r, Obs: &Observation{}, Now: now})); n != 0 {
				t.Fatalf("%d effects without being asked", n)
			}
			r = step(r, UseWithdraw{})
			if n := len(f.Effects(In{R: r, Obs: &Observation{}, Now: now})); n != 1 {
				t.Fatalf("%d effects", n)
			}
			r = step(r, Outcome{Effect: CallWithdraw, Refused: true, Reason: "withdrawn already"})
			if got := r.Tried[string(CallWithdraw)].Outcome; got != test.want {
				t.Errorf("the outcome is %q, want %q", got, test.want)
			}
		})
	}
}
