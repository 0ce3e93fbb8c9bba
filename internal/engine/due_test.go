package engine

import (
	"testing"
	"time"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/internal/flowtest"
	"github.com/swapper-go/swapper/internal/swap"
	"github.com/swapper-go/swapper/storage"
)

func TestDueMoment(t *testing.T) {
	out := &swap.Record{Head: swap.Head{Type: swap.ToBTC, Expiry: 10_000}, Escrow: &swap.EscrowPart{Real: &chains.Escrow{Expiry: 1000}}}
	auto := &swap.Record{Head: swap.Head{Type: swap.FromBTCLNAuto, Expiry: 10_000}, Lightning: &swap.LightningPart{EndsAt: 90_000}, Escrow: &swap.EscrowPart{Real: &chains.Escrow{Expiry: 1000}}}
	for _, c := range []struct {
		name string
		r    *swap.Record
		now  int64
		want swap.Millis
	}{
		{"quote", out, 5_000, 10_001},
		{"refund", out, 10_001, 1_601_001},
		{"over", out, 1_700_000, 0},
		{"payment", auto, 20_000, 90_001},
		{"claim", auto, 100_000, 401_001},
		{"nothing known", &swap.Record{}, 5, 0},
	} {
		if got := c.r.NextMoment(time.UnixMilli(c.now)); got != c.want {
			t.Errorf("%s: %d, want %d", c.name, got, c.want)
		}
	}
}

// What was due while no process was there makes even an old swap's turn come soon.
func TestTurnAfterRestart(t *testing.T) {
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	g := newEngine(t, Config{Flows: []*swap.Flow{flowtest.Flow(swap.ToBTC)}, Now: func() time.Time { return now }})
	old := swap.Head{ID: "a", Type: swap.ToBTC, State: swap.OutSoftClaimed, CreatedAt: swap.At(now.Add(-24 * time.Hour))}
	for name, test := range map[string]struct {
		due  time.Duration
		want time.Duration
	}{
		"nothing ahead":   {0, (10*time.Second + 10*time.Minute - slack) / 2},
		"passed":          {-time.Hour, 5 * time.Second},
		"about to come":   {2 * time.Second, 2 * time.Second},
		"in the distance": {time.Hour, (10*time.Second + 10*time.Minute - slack) / 2},
	} {
		s := &schedule{at: map[string]*turn{}}
		r := &swap.Record{Head: old}
		if test.due != 0 {
			r.Due = swap.At(now.Add(test.due))
		}
		g.reschedule(s, r, 0.5)
		if got := s.at["a"].when.Sub(now); got != test.want {
			t.Errorf("%s: in %s, want %s", name, got, test.want)
		}
		if got, want := s.at["a"].urgent, test.due == test.want; got != want { // a moment is not waited for behind routine looks
			t.Errorf("%s: urgent %t, want %t", name, got, want)
		}
	}
}

// A quote that nobody has used is looked at ever more rarely, but at the moments at
// which something changes; once something is under way, as often as its state says.
func TestUnusedQuotesAreLookedAtRarely(t *testing.T) {
	start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		name  string
		state int
		age   time.Duration
		sent  bool
		want  time.Duration
	}{
		{"new", swap.OutCreated, 0, false, 30 * time.Second},
		{"old", swap.OutCreated, 5 * time.Minute, false, 5 * time.Minute},
		{"before its expiry", swap.OutCreated, 40 * time.Minute, false, 20*time.Minute + time.Millisecond},
		{"signed", swap.OutCreated, 5 * time.Minute, true, 9 * time.Second},
		{"soft expired", swap.OutSoftExpired, 2 * time.Hour, false, 2 * time.Hour},
		{"expired", swap.OutExpired, 10 * time.Hour, false, 10 * time.Hour},
		{"very old", swap.OutExpired, 60 * 24 * time.Hour, false, 24 * time.Hour},
	} {
		now := start.Add(c.age)
		g := newEngine(t, Config{Flows: []*swap.Flow{flowtest.Flow(swap.ToBTC)}, Now: func() time.Time { return now }})
		r := &swap.Record{Head: swap.Head{ID: "a", Type: swap.ToBTC, State: c.state, CreatedAt: swap.At(start), Expiry: swap.At(start.Add(time.Hour))}, Escrow: &swap.EscrowPart{}}
		r.Due = r.NextMoment(now)
		if c.sent {
			r.Submission = &swap.Submission{Action: swap.ActionInit}
		}
		s := &schedule{at: map[string]*turn{}}
		g.reschedule(s, r, 0)
		if got := s.at["a"].when.Sub(now); got != c.want {
			t.Errorf("%s: in %s, want %s", c.name, got, c.want)
		}
	}
}

// The moment is stored with the swap, from the beginning.
func TestDueIsStoredWithANewSwap(t *testing.T) {
	g := toyEngine(t, new(storage.Memory), &toyReader{}, &toyExecutor{}, lamp())
	r := &swap.Record{Head: swap.Head{ID: "a", Type: swap.ToBTC, Expiry: swap.At(time.Now().Add(time.Hour))}}
	add(t, g, r)
	stored, err := g.Load(t.Context(), "a")
	if err != nil || stored.Due != r.Expiry+1 {
		t.Errorf("due %d, want just after %d: %v", stored.Due, r.Expiry, err)
	}
}
