package metrics

import (
	"context"
	"errors"
	"iter"
	"math/big"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"github.com/swapper-go/swapper"
	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/internal/trial"
)

// source says what it is told to.
type source struct {
	stats   *swapper.Stats
	changes []swapper.Change
	asked   int
}

func (s *source) Stats(context.Context) (*swapper.Stats, error) {
	s.asked++
	if s.stats == nil {
		return nil, swapper.ErrClosed
	}
	return s.stats, nil
}

func (s *source) Subscribe(context.Context) iter.Seq2[swapper.Change, error] {
	return func(yield func(swapper.Change, error) bool) {
		for _, c := range s.changes {
			yield(c, nil)
		}
		yield(swapper.Change{}, swapper.ErrClosed)
	}
}

func full() *swapper.Stats {
	return &swapper.Stats{
		Instances: 3, Shards: 21,
		Swaps:    []swapper.SwapCount{{Type: "TO_BTC", Chain: "CITREA", State: 1, Name: "COMMITTED", Count: 2}, {Type: "TO_BTC", Chain: "CITREA", State: 9, Name: "COMMITTED", Count: 1}},
		UnderWay: []swapper.TokenTotal{{Token: "CITREA-CBTC", Amount: big.NewInt(1_500_000_000_000_000_000), Decimals: 18}},
		Effects:  []swapper.EffectCount{{Kind: "send", Running: 1, Waiting: 2}},
		Providers: []swapper.ProviderStats{
			{URL: "https://lp.example", Loaded: true, Strikes: 3, Answered: 5, Refused: 2, Failed: 1, Took: 1500 * time.Millisecond, LastAnswer: time.Unix(100, 0)},
			{URL: "https://lp.example/again", Loaded: true}, {URL: "https://liar.example", Excluded: time.Unix(200, 0)},
		},
		Parts: map[string]swapper.PartStats{"CITREA": {Took: time.Second, Height: 7, Relay: 5, Time: time.Unix(300, 0), Contradictions: []uint64{0, 4}, Subscriptions: []bitcoin.Subscription{{Alive: true, Messages: 9}, {Lost: 2}}}, "bitcoin": {Err: errors.New("https://node.internal/secret is down")}},
	}
}

func scrape(t *testing.T, m *Metrics) string {
	t.Helper()
	w := httptest.NewRecorder()
	m.Handler().ServeHTTP(w, httptest.NewRequest("GET", "/metrics", nil))
	if w.Code != http.StatusOK {
		t.Fatalf("%d %s", w.Code, w.Body)
	}
	return w.Body.String()
}

// The metrics say what the client says, once in five seconds, and nothing of why a
// part does not respond.
func TestSnapshot(t *testing.T) {
	store := filepath.Join(t.TempDir(), "swaps.db")
	trial.Do(t, os.WriteFile(store, make([]byte, 4096), 0o600))
	s := &source{stats: full()}
	m := New(Options{Client: s, Store: store})
	text := scrape(t, m)
	for _, line := range []string{
		`swapper_part_up{part="CITREA"} 1`, `swapper_part_up{part="bitcoin"} 0`, `swapper_part_height{part="CITREA"} 7`, `swapper_part_relay_height{part="CITREA"} 5`, `swapper_part_block_time_seconds{part="CITREA"} 300`,
		`swapper_node_contradictions_total{node="1",part="CITREA"} 0`, `swapper_node_contradictions_total{node="2",part="CITREA"} 4`,
		`swapper_subscription_up{node="1",part="CITREA"} 1`, `swapper_subscription_up{node="2",part="CITREA"} 0`,
		`swapper_subscription_messages_total{node="1",part="CITREA"} 9`, `swapper_subscription_lost_total{node="2",part="CITREA"} 2`,
		`swapper_swaps{chain="CITREA",state="COMMITTED",type="TO_BTC"} 3`, `swapper_money_under_way{token="CITREA-CBTC"} 1.5`,
		`swapper_effects{kind="send",phase="running"} 1`, `swapper_effects{kind="send",phase="waiting"} 2`,
		`swapper_provider_calls_total{outcome="answered",provider="lp.example"} 5`, `swapper_provider_calls_total{outcome="refused",provider="lp.example"} 2`,
		`swapper_provider_calls_total{outcome="failed",provider="lp.example"} 1`, `swapper_provider_call_seconds_total{provider="lp.example"} 1.5`,
		`swapper_provider_strikes_total{provider="lp.example"} 3`, `swapper_provider_excluded{provider="liar.example"} 1`, `swapper_provider_up{provider="liar.example"} 0`,
		`swapper_provider_last_answer_time_seconds{provider="lp.example"} 100`, `swapper_store_bytes 4096`, `swapper_instances 3`, `swapper_shards 21`, `# TYPE swapper_provider_calls_total counter`,
	} {
		if !strings.Contains(text, line+"\n") {
			t.Errorf("lacks %s", line)
		}
	}
	if strings.Contains(text, "node.internal") || strings.Contains(text, "secret") {
		t.Error("the metrics tell why a part is down")
	}
	scrape(t, m)
	if s.asked != 1 {
		t.Errorf("asked %d times within five seconds", s.asked)
	}
	if text := scrape(t, New(Options{Client: &source{}})); strings.Contains(text, "swapper_part_up") {
		t.Error("a client that is closed has parts")
	}
}

// Prometheus's own rules for names, units and help are kept.
func TestLint(t *testing.T) {
	registry := prometheus.NewRegistry()
	m := New(Options{Client: &source{stats: full(), changes: []swapper.Change{{From: -1}}}, Store: "/", Registry: registry})
	m.Webhooks(someEndpoints())
	m.Observe(http.NotFoundHandler()).ServeHTTP(httptest.NewRecorder(), httptest.NewRequest("GET", "/", nil))
	_ = m.Follow(t.Context())
	problems := trial.Must(testutil.GatherAndLint(registry))(t)
	for _, p := range problems {
		t.Errorf("%s: %s", p.Metric, p.Text)
	}
}

// Strangers cannot make up labels: there are as many series as operations and statuses.
func TestRequestsAreCountedByOperation(t *testing.T) {
	m := New(Options{BasePath: "api/", Registry: prometheus.NewRegistry()})
	h := m.Observe(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Query().Get("do") {
		case "panic":
			panic(http.ErrAbortHandler)
		case "late":
			w.WriteHeader(http.StatusTeapot)
			w.WriteHeader(http.StatusOK)
		case "write":
			_, _ = w.Write([]byte("x"))
		}
	}))
	ask := func(path string) {
		defer func() { _ = recover() }()
		h.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest("GET", path, nil))
	}
	for _, path := range []string{"/api/parseAddress", "/api/parseAddress?do=write&secret=abcdef", "/api/getSwapStatus?do=late", "/api/createSwap?do=panic", "/api/nothing", "/api/" + strings.Repeat("x", 1000), "/other", "/apiparseAddress"} {
		ask(path)
	}
	text := scrape(t, m)
	for _, line := range []string{
		`swapper_http_requests_total{operation="parseAddress",status="200"} 2`, `swapper_http_requests_total{operation="getSwapStatus",status="418"} 1`,
		`swapper_http_requests_total{operation="createSwap",status="500"} 1`, `swapper_http_requests_total{operation="other",status="200"} 4`,
		`swapper_http_request_seconds_count{operation="other"} 4`, `swapper_http_requests_in_flight 0`,
	} {
		if !strings.Contains(text, line+"\n") {
			t.Errorf("lacks %s in\n%s", line, text)
		}
	}
	if strings.Contains(text, "xxxx") || strings.Contains(text, "abcdef") {
		t.Error("a stranger's text is in a label")
	}
	if len(m.operations.Names) != 12 {
		t.Errorf("operations: %v", m.operations)
	}
}

func TestChangesAreCounted(t *testing.T) {
	change := func(from, to int, name string) swapper.Change {
		c := swapper.Change{From: from}
		c.Swap.SwapType, c.Swap.State = "TO_BTC", swapper.SwapState{Number: to, Name: name}
		c.Swap.Quote.InputAmount.Chain, c.Swap.Quote.OutputAmount.Chain = "CITREA", "BITCOIN"
		return c
	}
	m := New(Options{Client: &source{changes: []swapper.Change{change(0, 1, "PAID"), change(1, 1, "PAID"), change(0, 1, "PAID")}}, Registry: prometheus.NewRegistry()})
	if err := m.Follow(t.Context()); !errors.Is(err, swapper.ErrClosed) {
		t.Error(err)
	}
	if got := testutil.ToFloat64(m.changes.WithLabelValues("TO_BTC", "CITREA", "PAID")); got != 2 {
		t.Errorf("%v changes, want 2", got)
	}
}

// Requests to nodes are told apart by host and outcome, never by path.
func TestTransport(t *testing.T) {
	server := httptest.NewServer(http.NotFoundHandler())
	defer server.Close()
	m := New(Options{Registry: prometheus.NewRegistry()})
	client := &http.Client{Transport: m.Transport("chains", nil)}
	answer := trial.Must(client.Get(server.URL + "/v2/0123456789abcdef?key=fedcba"))(t)
	answer.Body.Close()
	server.Close()
	if _, err := client.Get(server.URL); err == nil {
		t.Error("a server that is closed has answered")
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	r, _ := http.NewRequestWithContext(ended, "GET", server.URL, nil)
	if _, err := client.Do(r); err == nil {
		t.Error("a request that was given up")
	}
	text := scrape(t, m)
	for _, line := range []string{`swapper_upstream_requests_total{host="127.0.0.1",outcome="404",part="chains"} 1`, `swapper_upstream_requests_total{host="127.0.0.1",outcome="error",part="chains"} 1`, `swapper_upstream_request_seconds_count{host="127.0.0.1",part="chains"} 2`} {
		if !strings.Contains(text, line+"\n") {
			t.Errorf("lacks %s in\n%s", line, text)
		}
	}
	if strings.Contains(text, "0123456789abcdef") || strings.Contains(text, "fedcba") {
		t.Error("the metrics tell an access key")
	}
}
