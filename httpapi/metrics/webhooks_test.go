package metrics

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/swapper-go/swapper/httpapi/webhook"
)

// endpoints says how some endpoints do.
type endpoints struct {
	states []webhook.State
	asked  int
}

func (e *endpoints) States(ctx context.Context) ([]webhook.State, error) {
	e.asked++
	if _, bounded := ctx.Deadline(); !bounded {
		return nil, errors.New("without a deadline")
	}
	if e.states == nil {
		return nil, errors.New("the store is away")
	}
	return e.states, nil
}

func someEndpoints() *endpoints {
	return &endpoints{states: []webhook.State{{Name: "shop", Waiting: 7, Failures: 4, Problem: "HTTP status 500", GivenUp: 2}, {Name: "books", Gone: true, Waiting: 1000}}}
}

// An endpoint that fails, or is gone, is seen.
func TestWebhooks(t *testing.T) {
	m, e := New(Options{Registry: prometheus.NewRegistry()}), someEndpoints()
	m.Webhooks(e)
	text := scrape(t, m)
	for _, line := range []string{
		`swapper_webhook_waiting{endpoint="shop"} 7`, `swapper_webhook_failures{endpoint="shop"} 4`, `swapper_webhook_gone{endpoint="shop"} 0`, `swapper_webhook_given_up_total{endpoint="shop"} 2`,
		`swapper_webhook_waiting{endpoint="books"} 1000`, `swapper_webhook_failures{endpoint="books"} 0`, `swapper_webhook_gone{endpoint="books"} 1`, `swapper_webhook_given_up_total{endpoint="books"} 0`,
		`# TYPE swapper_webhook_given_up_total counter`,
	} {
		if !strings.Contains(text, line+"\n") {
			t.Errorf("lacks %s in %s", line, text)
		}
	}
	if scrape(t, m); e.asked != 1 {
		t.Errorf("asked %d times within five seconds", e.asked)
	}
	away := New(Options{Registry: prometheus.NewRegistry()})
	away.Webhooks(&endpoints{})
	if text := scrape(t, away); strings.Contains(text, "swapper_webhook") {
		t.Errorf("a store that is away: %s", text)
	}
}
