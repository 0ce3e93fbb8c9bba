package metrics

import (
	"context"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/swapper-go/swapper/httpapi/webhook"
)

// stateLister says how the endpoints of webhooks do; [*webhook.Sender] is one.
type stateLister interface {
	States(ctx context.Context) ([]webhook.State, error)
}

// Webhooks adds the metrics of a sender of webhooks. It panics if it is called twice.
func (m *Metrics) Webhooks(of stateLister) { m.o.Registry.MustRegister(&hooks{of: of}) }

// hooks collects what a sender says, once in five seconds at most.
type hooks struct {
	of stateLister

	mu   sync.Mutex
	at   time.Time
	last []webhook.State
}

var (
	hookWaiting  = gauge("swapper_webhook_waiting", "Swaps about which an endpoint is still to be told; 1000 stands for that many or more.", "endpoint")
	hookFailures = gauge("swapper_webhook_failures", "Attempts in a row that an endpoint did not take, of this process.", "endpoint")
	hookGone     = gauge("swapper_webhook_gone", "1 if an endpoint has answered 410 for an hour and is left alone.", "endpoint")
	hookGivenUp  = gauge("swapper_webhook_given_up_total", "Messages that an endpoint never took, of this process.", "endpoint")
)

// Describe implements [prometheus.Collector].
func (h *hooks) Describe(to chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{hookWaiting, hookFailures, hookGone, hookGivenUp} {
		to <- d
	}
}

// Collect implements [prometheus.Collector].
func (h *hooks) Collect(to chan<- prometheus.Metric) {
	for _, s := range h.get() {
		to <- prometheus.MustNewConstMetric(hookWaiting, prometheus.GaugeValue, float64(s.Waiting), s.Name)
		to <- prometheus.MustNewConstMetric(hookFailures, prometheus.GaugeValue, float64(s.Failures), s.Name)
		to <- prometheus.MustNewConstMetric(hookGone, prometheus.GaugeValue, yes(s.Gone), s.Name)
		to <- prometheus.MustNewConstMetric(hookGivenUp, prometheus.CounterValue, float64(s.GivenUp), s.Name)
	}
}

// get returns how the endpoints do, nothing if the store does not say.
func (h *hooks) get() []webhook.State {
	h.mu.Lock()
	defer h.mu.Unlock()
	if !h.at.IsZero() && time.Since(h.at) < fresh {
		return h.last
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	states, err := h.of.States(ctx)
	if err != nil {
		states = nil
	}
	h.last, h.at = states, time.Now()
	return states
}
