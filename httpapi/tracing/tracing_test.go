package tracing

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
)

// A span tells the operation and what became of it, begins a trace of ours that is linked to
// the caller's, has the requests to nodes below it, and none of the secrets that a request
// can carry.
func TestSpans(t *testing.T) {
	spans := tracetest.NewSpanRecorder()
	tracer := New(sdk.NewTracerProvider(sdk.WithSpanProcessor(spans)), "api/")
	node := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Traceparent") != "" {
			t.Error("a node is told of the trace")
		}
		w.WriteHeader(http.StatusTooManyRequests)
	}))
	defer node.Close()
	outward := &http.Client{Transport: tracer.Transport("chains", nil)}
	h := tracer.Handler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for _, url := range []string{node.URL + "/access-key-1234?key=access-key-1234", "http://127.0.0.1:1/access-key-1234"} {
			request, _ := http.NewRequestWithContext(r.Context(), "POST", url, nil)
			if answer, err := outward.Do(request); err == nil {
				answer.Body.Close()
			}
		}
		w.WriteHeader(http.StatusBadGateway)
	}))
	r := httptest.NewRequest("GET", "/api/getSwapStatus?secret=preimage-1234&swapId=swap-id-1234", nil)
	r.Header.Set("Traceparent", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01")
	r.Header.Set("Tracestate", "vendor=preimage-1234")
	r.Header.Set("Baggage", "key=preimage-1234")
	r.Header.Set("X-Api-Key", "api-key-1234")
	h.ServeHTTP(httptest.NewRecorder(), r)
	all := spans.Ended()
	if len(all) != 3 {
		t.Fatalf("%d spans", len(all))
	}
	own := all[2]
	if own.Name() != "GET /api/getSwapStatus" || own.SpanContext().TraceID().String() == "0af7651916cd43dd8448eb211c80319c" || own.Parent().IsValid() || own.Status().Code.String() != "Error" {
		t.Errorf("%+v", own)
	}
	if links := own.Links(); len(links) != 1 || links[0].SpanContext.TraceID().String() != "0af7651916cd43dd8448eb211c80319c" || links[0].SpanContext.SpanID().String() != "b7ad6b7169203331" || links[0].SpanContext.TraceState().Len() != 0 {
		t.Errorf("%+v", links)
	}
	for _, s := range all[:2] {
		if s.Name() != "chains POST" || s.Parent().SpanID() != own.SpanContext().SpanID() || s.Status().Code.String() != "Error" {
			t.Errorf("%+v", s)
		}
	}
	for _, s := range all {
		text := fmt.Sprint(s.Name(), s.Attributes(), s.Events(), s.Status(), s.Links(), s.SpanContext().TraceState())
		for _, secret := range []string{"preimage-1234", "swap-id-1234", "access-key-1234", "api-key-1234"} {
			if strings.Contains(text, secret) {
				t.Errorf("%s is in a span: %s", secret, text)
			}
		}
	}
}

// Callers do not decide what is sampled: neither by the flag of their trace nor by its id.
func TestSamplingIsOurs(t *testing.T) {
	for name, c := range map[string]struct {
		sampler     sdk.Sampler
		least, most int // of 200 spans
	}{
		"none":  {sdk.ParentBased(sdk.TraceIDRatioBased(0)), 0, 0},
		"all":   {sdk.ParentBased(sdk.TraceIDRatioBased(1)), 200, 200},
		"a few": {sdk.ParentBased(sdk.TraceIDRatioBased(0.25)), 20, 90},
	} {
		for _, flag := range []string{"00", "01"} {
			spans := tracetest.NewSpanRecorder()
			h := New(sdk.NewTracerProvider(sdk.WithSpanProcessor(spans), sdk.WithSampler(c.sampler)), "/api").Handler(http.NotFoundHandler())
			for i := range 200 {
				r := httptest.NewRequest("GET", "/api/listSwaps", nil)
				r.Header.Set("Traceparent", fmt.Sprintf("00-%032x-b7ad6b7169203331-%s", i%2+1, flag)) // ids that every ratio takes
				h.ServeHTTP(httptest.NewRecorder(), r)
			}
			if n := len(spans.Ended()); n < c.least || n > c.most {
				t.Errorf("%s, flag %s: %d of 200 are sampled", name, flag, n)
			}
		}
	}
}

func TestNamesAreNotMadeUp(t *testing.T) {
	spans := tracetest.NewSpanRecorder()
	h := New(sdk.NewTracerProvider(sdk.WithSpanProcessor(spans)), "/api", "subscribe").Handler(http.NotFoundHandler())
	for _, c := range [][3]string{{"GET", "/api/createSwap", "GET /api/createSwap"}, {"BREW", "/api/createSwap", "_OTHER /api/createSwap"}, {"GET", "/api/subscribe", "GET /api/subscribe"}, {"GET", "/api/ab12", "GET other"},
		{"GET", "/api/" + strings.Repeat("x", 25), "GET other"}, {"GET", "/api/madeUp", "GET other"}, {"GET", "/api/CREATESWAP", "GET other"}, {"GET", "/api/createSwap/", "GET other"}, {"GET", "/secret", "GET other"}, {"GET", "/api/", "GET other"}} {
		h.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(c[0], c[1], nil))
		if got := spans.Ended()[len(spans.Ended())-1].Name(); got != c[2] {
			t.Errorf("%s %s: %q, want %q", c[0], c[1], got, c[2])
		}
	}
}
