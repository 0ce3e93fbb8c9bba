package lp

import (
	"testing"
	"time"

	"github.com/swapper-go/swapper/chains"
)

const end = 1_800_000_000

// Each thing to be done has a last second, by the later of the clocks.
func TestTooLate(t *testing.T) {
	for name, c := range map[string]struct {
		todo Duty
		left int64 // seconds that must be left
	}{
		"sign": {DutySign, 1080}, "open": {DutyOpen, 900}, "finalise": {DutyFinalise, 780}, "claim": {DutyClaim, 600}, "last claim": {DutyLastClaim, 120},
		"sign to pay": {DutySignToPay, 1800}, "open to pay": {DutyOpenToPay, 300},
	} {
		now, last := time.Unix(end-c.left, 999_999_999), end-c.left
		if got := c.todo.Margin(); got != time.Duration(c.left)*time.Second {
			t.Errorf("%s: the margin is %s, want %d s", name, got, c.left)
		}
		if got := c.todo.Before(end); got.Unix() != last {
			t.Errorf("%s: the last moment is %d, want %d", name, got.Unix(), last)
		}
		for what, x := range map[string]struct {
			head int64
			now  time.Time
			late bool
		}{
			"exactly enough":                    {0, now, false},
			"a second less":                     {0, now.Add(time.Second), true},
			"exactly enough by the chain":       {last, now.Add(-time.Hour), false},
			"a second less by the chain":        {last + 1, now.Add(-time.Hour), true},
			"a chain that is behind":            {last - 3600, now, false},
			"a chain that is behind, and later": {last - 3600, now.Add(time.Second), true},
		} {
			if got := c.todo.TooLate(end, chains.Block{Time: x.head}, x.now); got != x.late {
				t.Errorf("%s, %s: too late is %v, want %v", name, what, got, x.late)
			}
		}
	}
}

// What is still to be done takes longer the earlier it is, and what the reference's
// providers leave is enough for all of it.
func TestMargins(t *testing.T) {
	for _, earlier := range []Duty{DutySign, DutyOpen, DutyFinalise, DutyClaim} {
		if earlier.Margin() <= (earlier + 1).Margin() {
			t.Errorf("%d needs %s, and the act after it %s", earlier, earlier.Margin(), (earlier + 1).Margin())
		}
	}
	const honest = 1800 * time.Second // 2,400 s of the escrow less the 600 s of the authorisation
	if DutySign.Margin() >= honest {
		t.Errorf("an honest provider leaves %s at the worst, and %s are demanded", honest, DutySign.Margin())
	}
	for _, c := range []struct {
		state chains.EscrowState
		final bool
		want  Duty
	}{
		{chains.EscrowNone, false, DutyOpen}, {chains.EscrowNone, true, DutyOpen}, {chains.EscrowOpen, false, DutyFinalise}, {chains.EscrowOpen, true, DutyClaim},
		{chains.EscrowClaimed, false, DutyClaim}, {chains.EscrowRefunded, true, DutyClaim},
	} {
		if got := NextDuty(chains.EscrowFact{State: c.state, Final: c.final}); got != c.want {
			t.Errorf("%s, final %v: %d, want %d", c.state, c.final, got, c.want)
		}
	}
}
