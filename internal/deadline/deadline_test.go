package deadline

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
		"sign": {Sign, 1080}, "open": {Open, 900}, "finalise": {Finalise, 780}, "claim": {Claim, 600}, "last claim": {LastClaim, 120},
		"sign to pay": {SignToPay, 1800}, "open to pay": {OpenToPay, 300},
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
	for _, earlier := range []Duty{Sign, Open, Finalise, Claim} {
		if earlier.Margin() <= (earlier + 1).Margin() {
			t.Errorf("%d needs %s, and the act after it %s", earlier, earlier.Margin(), (earlier + 1).Margin())
		}
	}
	const honest = 1800 * time.Second // 2,400 s of the escrow less the 600 s of the authorisation
	if Sign.Margin() >= honest {
		t.Errorf("an honest provider leaves %s at the worst, and %s are demanded", honest, Sign.Margin())
	}
	for _, c := range []struct {
		state chains.EscrowState
		final bool
		want  Duty
	}{
		{chains.EscrowNone, false, Open}, {chains.EscrowNone, true, Open}, {chains.EscrowOpen, false, Finalise}, {chains.EscrowOpen, true, Claim},
		{chains.EscrowClaimed, false, Claim}, {chains.EscrowRefunded, true, Claim},
	} {
		if got := Next(chains.EscrowFact{State: c.state, Final: c.final}); got != c.want {
			t.Errorf("%s, final %v: %d, want %d", c.state, c.final, got, c.want)
		}
	}
}

// An authorisation lasts to its last second.
func TestAuthorizationLimits(t *testing.T) {
	now := time.Unix(1_760_000_000, 0)
	grace := int64(chains.AuthGrace / time.Second)
	for late, want := range map[int64]int64{-1: 0, 0: now.UnixMilli(), 1: now.UnixMilli() + 1000} {
		a := chains.Auth{Timeout: now.Unix() + grace + late}
		if got := UsableUntil(a, now); got != want {
			t.Errorf("%d s after: usable until %d, want %d", late, got, want)
		}
		if got := Usable(a, now); got != (late >= 0) {
			t.Errorf("%d s after: long enough %v", late, got)
		}
	}
	for late, over := range map[int64]bool{0: false, 1: true} {
		if Over(chains.Auth{Timeout: 50}, 50+late) != over {
			t.Errorf("%d s after the timeout it is over: %v", late, !over)
		}
	}
}
