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

// hooks collects what a sender says.
type hooks struct {
	of   stateLister
	last kept[[]webhook.State]
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
	for _, s := range h.last.get(h.of.States) {
		to <- prometheus.MustNewConstMetric(hookWaiting, prometheus.GaugeValue, float64(s.Waiting), s.Name)
		to <- prometheus.MustNewConstMetric(hookFailures, prometheus.GaugeValue, float64(s.Failures), s.Name)
		to <- prometheus.MustNewConstMetric(hookGone, prometheus.GaugeValue, yes(s.Gone), s.Name)
		to <- prometheus.MustNewConstMetric(hookGivenUp, prometheus.CounterValue, float64(s.GivenUp), s.Name)
	}
}

// kept is the last answer to a question that is asked once in five seconds at most.
type kept[T any] struct {
	mu   sync.Mutex
	at   time.Time
	last T
}

// get returns the answer, the zero value if there was none.
func (k *kept[T]) get(ask func(context.Context) (T, error)) T {
	k.mu.Lock()
	defer k.mu.Unlock()
	if !k.at.IsZero() && time.Since(k.at) < fresh {
		return k.last
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	answer, err := ask(ctx)
	if err != nil {
		answer = *new(T)
	}
	k.last, k.at = answer, time.Now()
	return answer
}
