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

// A span tells the operation and what became of it, belongs to the caller's trace, has
// the requests to nodes below it, and none of the secrets that a request can carry.
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
	r.Header.Set("X-Api-Key", "api-key-1234")
	h.ServeHTTP(httptest.NewRecorder(), r)
	all := spans.Ended()
	if len(all) != 3 {
		t.Fatalf("%d spans", len(all))
	}
	own := all[2]
	if own.Name() != "GET /api/getSwapStatus" || own.SpanContext().TraceID().String() != "0af7651916cd43dd8448eb211c80319c" || own.Parent().SpanID().String() != "b7ad6b7169203331" || own.Status().Code.String() != "Error" {
		t.Errorf("%+v", own)
	}
	for _, s := range all[:2] {
		if s.Name() != "chains POST" || s.Parent().SpanID() != own.SpanContext().SpanID() || s.Status().Code.String() != "Error" {
			t.Errorf("%+v", s)
		}
	}
	for _, s := range all {
		text := fmt.Sprint(s.Name(), s.Attributes(), s.Events(), s.Status())
		for _, secret := range []string{"preimage-1234", "swap-id-1234", "access-key-1234", "api-key-1234"} {
			if strings.Contains(text, secret) {
				t.Errorf("%s is in a span: %s", secret, text)
			}
		}
	}
}

func TestNamesAreNotMadeUp(t *testing.T) {
	spans := tracetest.NewSpanRecorder()
	h := New(sdk.NewTracerProvider(sdk.WithSpanProcessor(spans)), "/api").Handler(http.NotFoundHandler())
	for _, c := range [][3]string{{"GET", "/api/createSwap", "GET /api/createSwap"}, {"BREW", "/api/createSwap", "_OTHER /api/createSwap"}, {"GET", "/api/ab12", "GET other"}, {"GET", "/api/" + strings.Repeat("x", 25), "GET other"}, {"GET", "/secret", "GET other"}, {"GET", "/api/", "GET other"}} {
		h.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(c[0], c[1], nil))
		if got := spans.Ended()[len(spans.Ended())-1].Name(); got != c[2] {
			t.Errorf("%s %s: %q, want %q", c[0], c[1], got, c[2])
		}
	}
}
