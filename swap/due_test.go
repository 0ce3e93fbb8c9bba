package swap

import (
	"testing"
	"time"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/storage/storagetest"
)

func TestDueMoment(t *testing.T) {
	out := &Record{Head: Head{Type: ToBTC, Expiry: 10_000}, Escrow: &EscrowPart{Real: &chains.Escrow{Expiry: 1000}}}
	auto := &Record{Head: Head{Type: FromBTCLNAuto, Expiry: 10_000}, Lightning: &LightningPart{EndsAt: 90_000}, Escrow: &EscrowPart{Real: &chains.Escrow{Expiry: 1000}}}
	for _, c := range []struct {
		name string
		r    *Record
		now  int64
		want Millis
	}{
		{"quote", out, 5_000, 10_001},
		{"refund", out, 10_001, 1_601_001},
		{"over", out, 1_700_000, 0},
		{"payment", auto, 20_000, 90_001},
		{"claim", auto, 100_000, 401_001},
		{"nothing known", &Record{}, 5, 0},
	} {
		if got := dueMoment(c.r, time.UnixMilli(c.now)); got != c.want {
			t.Errorf("%s: %d, want %d", c.name, got, c.want)
		}
	}
}

// What was due while no process was there makes even an old swap's turn come soon.
func TestTurnAfterRestart(t *testing.T) {
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	g := New(Config{Flows: []*Flow{NewToBTC()}, Now: func() time.Time { return now }})
	old := Head{ID: "a", Type: ToBTC, State: outCreated, CreatedAt: At(now.Add(-24 * time.Hour))}
	for name, test := range map[string]struct {
		due  time.Duration
		want time.Duration
	}{
		"nothing ahead":   {0, (10*time.Second + 10*time.Minute) / 2},
		"passed":          {-time.Hour, 5 * time.Second},
		"about to come":   {2 * time.Second, 2 * time.Second},
		"in the distance": {time.Hour, (10*time.Second + 10*time.Minute) / 2},
	} {
		s := &schedule{at: map[string]*turn{}}
		r := &Record{Head: old}
		if test.due != 0 {
			r.Due = At(now.Add(test.due))
		}
		g.reschedule(s, r, 0.5)
		if got := s.at["a"].when.Sub(now); got != test.want {
			t.Errorf("%s: in %s, want %s", name, got, test.want)
		}
	}
}

// The moment is stored with the swap, from the beginning.
func TestDueIsStoredWithANewSwap(t *testing.T) {
	g := toyEngine(t, new(storagetest.Memory), &toyWorld{}, &toyPerformer{}, lamp())
	defer g.Close()
	r := &Record{Head: Head{ID: "a", Type: ToBTC, Expiry: At(time.Now().Add(time.Hour))}}
	if err := g.Create(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	stored, err := g.Load(t.Context(), "a")
	if err != nil || stored.Due != r.Expiry+1 {
		t.Errorf("due %d, want just after %d: %v", stored.Due, r.Expiry, err)
	}
}
