package engine

import (
	"testing"
	"time"

	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/internal/lp"
	"github.com/swapper-go/swapper/internal/swap"
)

// A quote of which only its provider knows whether it was paid is deleted when the
// provider says so, or was silent for two weeks; a silent one is not asked all the
// time.
func TestQuoteOfASilentProviderIsKept(t *testing.T) {
	start := time.Unix(1_700_000_000, 0)
	var c scenario
	for _, s := range waysOut() {
		if s.flow.Type == swap.TrustedFromBTCLN {
			c = s
		}
	}
	says := &lp.Status{Code: lp.CodeExpired}
	for _, test := range []struct {
		name string
		lp   *lp.Status
		age  time.Duration
		kept bool
	}{
		{"silent for two days", nil, 48 * time.Hour, true},
		{"silent for three weeks", nil, 21 * 24 * time.Hour, false},
		{"says that it expired", says, 48 * time.Hour, false},
		{"says that it was paid", &lp.Status{Code: lp.CodeGasReceived}, 48 * time.Hour, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			w := &counting{liar: &liar{now: start, truth: &truth{}}}
			g := newEngine(t, Config{Reader: w, Flows: []*swap.Flow{c.flow}, Now: func() time.Time { return w.now }})
			add(t, g, unused(c.record(0, start)))
			w.now = start.Add(10 * time.Hour) // no payment can arrive any more
			if res, err := g.Advance(t.Context(), "a", nil); err != nil || res.Record.State != swap.TrustedLNExpired {
				t.Fatalf("%+v, %v", res, err)
			}
			w.now, w.truth, w.n = start.Add(test.age), &truth{lp: test.lp}, calls{}
			for range 30 {
				w.now = w.now.Add(time.Minute)
				g.Purge(t.Context())
			}
			_, err := g.Load(t.Context(), "a")
			if kept := fault.CodeOf(err) != fault.NotFound; kept != test.kept || w.n.LP > 1 {
				t.Errorf("kept %v, asked %d times; want %v, at most once in half an hour", kept, w.n.LP, test.kept)
			}
		})
	}
}
