// Package metrics exports the metrics of a swap service to Prometheus: its operations, the
// swaps and the money in them, the liquidity providers, the chains and their nodes, and
// the store.
//
//	m := metrics.New(metrics.Options{Client: client, BasePath: "/api", Store: store.Path()})
//	mux.Handle("/metrics", m.Handler())
//	api := m.Observe(httpapi.New(client, httpapi.Options{}))
//	go m.Follow(ctx)
//
// docs/operate.md lists every metric and the alerts that matter. No label holds a swap's
// id, a user's address or a secret, and no request can invent a label's value: requests
// for anything but the operations are counted as "other".
package metrics

import (
	"context"
	"iter"
	"net/http"
	"reflect"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/swapper-go/swapper"
	"github.com/swapper-go/swapper/internal/httpx"
)

// teller is the part of a [swapper.Client] that metrics are made of.
type teller interface {
	Stats(ctx context.Context) (*swapper.Stats, error)
	Subscribe(ctx context.Context) iter.Seq2[swapper.Change, error]
}

// Options are what [New] makes metrics of.
type Options struct {
	Client   teller // nil: HTTP alone is measured
	BasePath string // of the operations, as in httpapi.Mount
	// Operations are the names of further operations, such as those of
	// httpapi.Options.Operations.
	Operations []string
	Store      string // file whose size is reported; "": none
	// Registry takes the metrics; nil: a registry of their own, with those of the
	// process and of Go's runtime.
	Registry *prometheus.Registry
}

// Metrics measures one service. It is safe for concurrent use; make it with [New].
type Metrics struct {
	o          Options
	operations httpx.Operations
	requests   *prometheus.CounterVec
	seconds    *prometheus.HistogramVec
	inFlight   prometheus.Gauge
	upstream   *prometheus.CounterVec
	waited     *prometheus.HistogramVec
	changes    *prometheus.CounterVec
}

// Label of what is not an operation.
const other = "other"

// New registers the metrics. It panics if the registry has them already.
func New(o Options) *Metrics {
	if o.Registry == nil {
		o.Registry = prometheus.NewRegistry()
		o.Registry.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}), collectors.NewBuildInfoCollector())
	}
	m := &Metrics{
		o: o, operations: httpx.NewOperations(reflect.TypeFor[swapper.Service](), o.BasePath, o.Operations...),
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "swapper_http_requests_total",
			Help: "Requests that were answered, by operation and HTTP status."}, []string{"operation", "status"}),
		seconds: prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: "swapper_http_request_seconds",
			Help: "Time until a request was answered, by operation.", Buckets: []float64{.005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30, 60, 600}}, []string{"operation"}),
		inFlight: prometheus.NewGauge(prometheus.GaugeOpts{Name: "swapper_http_requests_in_flight",
			Help: "Requests that are being answered."}),
		upstream: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "swapper_upstream_requests_total",
			Help: "Requests to nodes and servers, by part, host and outcome: an HTTP status, or error."}, []string{"part", "host", "outcome"}),
		waited: prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: "swapper_upstream_request_seconds",
			Help: "Time until the header of an answer, by part and host.", Buckets: []float64{.01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10}}, []string{"part", "host"}),
		changes: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "swapper_swap_changes_total",
			Help: "Swaps that came into a state, by type, chain and state."}, []string{"type", "chain", "state"}),
	}
	o.Registry.MustRegister(m.requests, m.seconds, m.inFlight, m.upstream, m.waited, m.changes)
	if o.Client != nil || o.Store != "" {
		o.Registry.MustRegister(&snapshot{client: o.Client, store: o.Store})
	}
	return m
}

// Handler answers with the metrics. It asks the chains whether they respond, at most
// once in five seconds, and takes five seconds at most. It is not for strangers:
// what is under way, and with whom, is the operator's business.
func (m *Metrics) Handler() http.Handler {
	return promhttp.HandlerFor(m.o.Registry, promhttp.HandlerOpts{ErrorHandling: promhttp.ContinueOnError, MaxRequestsInFlight: 10})
}

// Observe measures the requests that next answers.
func (m *Metrics) Observe(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		operation := m.operation(r.URL.Path)
		seen := httpx.Record(w)
		began := time.Now()
		m.inFlight.Inc()
		defer func() {
			m.inFlight.Dec()
			status := seen.Status
			if status == 0 {
				status = http.StatusOK // the server's own, for an empty answer
				if p := recover(); p != nil {
					status = http.StatusInternalServerError
					defer panic(p)
				}
			}
			m.requests.WithLabelValues(operation, strconv.Itoa(status)).Inc()
			m.seconds.WithLabelValues(operation).Observe(time.Since(began).Seconds())
		}()
		next.ServeHTTP(seen, r)
	})
}

func (m *Metrics) operation(path string) string {
	if name, ok := m.operations.Of(path); ok {
		return name
	}
	return other
}

// Follow counts the changes of swaps until ctx ends, or the client is closed, and
// returns why.
func (m *Metrics) Follow(ctx context.Context) error {
	for c, err := range m.o.Client.Subscribe(ctx) {
		if err != nil {
			return err
		}
		if c.From != c.Swap.State.Number {
			m.changes.WithLabelValues(string(c.Swap.SwapType), chainOf(c.Swap), c.Swap.State.Name).Inc()
		}
	}
	return nil // not reached: an error is last
}

// chainOf returns the smart chain of a swap.
func chainOf(s swapper.ListSwapOutput) string {
	for _, chain := range []string{s.Quote.InputAmount.Chain, s.Quote.OutputAmount.Chain} {
		if chain != "BITCOIN" && chain != "LIGHTNING" {
			return chain
		}
	}
	return ""
}

// Transport measures requests to the nodes of a part, such as chains or bitcoin. next
// nil is [http.DefaultTransport], with more kept connections. Only the host of a URL becomes a label: paths may
// hold access keys.
func (m *Metrics) Transport(part string, next http.RoundTripper) http.RoundTripper {
	if next == nil {
		next = httpx.Transport(64)
	}
	return roundTripper(func(r *http.Request) (*http.Response, error) {
		began := time.Now()
		answer, err := next.RoundTrip(r)
		outcome := "error"
		if err == nil {
			outcome = strconv.Itoa(answer.StatusCode)
		} else if r.Context().Err() == context.Canceled {
			return answer, err // the caller gave up: this says nothing of the backend
		}
		m.upstream.WithLabelValues(part, r.URL.Hostname(), outcome).Inc()
		m.waited.WithLabelValues(part, r.URL.Hostname()).Observe(time.Since(began).Seconds())
		return answer, err
	})
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }
