package metrics

import (
	"context"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/swapper-go/swapper/watchtower"
)

// reporter says how the claims of a watchtower stand; [*watchtower.Tower] is one.
type reporter interface {
	Reports(ctx context.Context) ([]watchtower.Report, error)
}

// Watchtower adds the metrics of a watchtower. It panics if it is called twice.
func (m *Metrics) Watchtower(of reporter) { m.o.Registry.MustRegister(&claims{of: of}) }

// claims collects what a watchtower says.
type claims struct {
	of   reporter
	last kept[[]watchtower.Report]
}

var (
	claimsTotal   = gauge("swapper_watchtower_claims_total", "Claims that have ended: claimed; lost, which cost something and earned nothing; left, which others made or which became impossible, at no cost.", "chain", "outcome")
	claimsSpent   = gauge("swapper_watchtower_spent_total", "What claims have cost, in whole native tokens.", "chain")
	claimsEarned  = gauge("swapper_watchtower_earned_total", "What claims have earned, in whole tokens.", "chain", "token")
	claimsWaiting = gauge("swapper_watchtower_waiting", "Claims that are stored and have not ended.", "chain")
	claimsRefused = gauge("swapper_watchtower_refused", "What could be claimed and is not, because it does not pay by the policy.", "chain")
	claimsLate    = gauge("swapper_watchtower_late_seconds", "How long something that is to be claimed can have been claimed.", "chain")
	claimsBalance = gauge("swapper_watchtower_balance", "What the watchtower's account has, in whole native tokens.", "chain")
)

// Describe implements [prometheus.Collector].
func (c *claims) Describe(to chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{claimsTotal, claimsSpent, claimsEarned, claimsWaiting, claimsRefused, claimsLate, claimsBalance} {
		to <- d
	}
}

// Collect implements [prometheus.Collector].
func (c *claims) Collect(to chan<- prometheus.Metric) {
	for _, r := range c.last.get(c.of.Reports) {
		put := func(d *prometheus.Desc, kind prometheus.ValueType, v float64, labels ...string) {
			to <- prometheus.MustNewConstMetric(d, kind, v, append([]string{r.Chain}, labels...)...)
		}
		put(claimsTotal, prometheus.CounterValue, float64(r.Claims), "claimed")
		put(claimsTotal, prometheus.CounterValue, float64(r.Lost), "lost")
		put(claimsTotal, prometheus.CounterValue, float64(r.Left), "left")
		put(claimsSpent, prometheus.CounterValue, whole(r.Spent, r.Info.Native.Decimals))
		for _, t := range r.Info.Tokens {
			if n := r.Earned[t.Address]; n != nil {
				put(claimsEarned, prometheus.CounterValue, whole(n, t.Decimals), t.Ticker)
			}
		}
		put(claimsWaiting, prometheus.GaugeValue, float64(r.Waiting))
		put(claimsRefused, prometheus.GaugeValue, float64(r.Refused))
		put(claimsLate, prometheus.GaugeValue, r.Late.Seconds())
		if r.Balance != nil {
			put(claimsBalance, prometheus.GaugeValue, whole(r.Balance, r.Info.Native.Decimals))
		}
	}
}
