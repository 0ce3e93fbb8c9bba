// Package tracing makes OpenTelemetry spans of the operations of a swap service and of
// its requests to nodes.
//
// Spans hold methods, statuses and the names of operations and hosts; never a query,
// a path beyond the operation, a header or a body: those may hold preimages, swap ids
// and access keys.
package tracing

import (
	"context"
	"net/http"
	"strings"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"

	"github.com/swapper-go/swapper/httpapi/internal/recorder"
	"github.com/swapper-go/swapper/internal/httpx"
)

// scope is the name of what makes the spans.
const scope = "github.com/swapper-go/swapper/httpapi/tracing"

// Tracer makes spans. It is safe for concurrent use; make it with [New].
type Tracer struct {
	tracer trace.Tracer
	base   string
}

// New returns a tracer. base is the base path of the operations, as in httpapi.Mount.
func New(provider trace.TracerProvider, base string) *Tracer {
	if base = strings.Trim(base, "/"); base != "" {
		base = "/" + base
	}
	return &Tracer{provider.Tracer(scope), base}
}

// Handler makes a span of each request that next answers. The traceparent header of a
// caller makes it a part of the caller's trace (W3C Trace Context).
func (t *Tracer) Handler(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ctx := propagation.TraceContext{}.Extract(r.Context(), propagation.HeaderCarrier(r.Header))
		name := t.operation(r.URL.Path)
		method := known(r.Method)
		ctx, span := t.tracer.Start(ctx, method+" "+name, trace.WithSpanKind(trace.SpanKindServer),
			trace.WithAttributes(attribute.String("http.request.method", method), attribute.String("http.route", name)))
		defer span.End()
		seen := recorder.New(w)
		next.ServeHTTP(seen, r.WithContext(ctx))
		status := seen.Status
		if status == 0 {
			status = http.StatusOK
		}
		span.SetAttributes(attribute.Int("http.response.status_code", status))
		if status >= http.StatusInternalServerError {
			span.SetStatus(codes.Error, http.StatusText(status))
		}
	})
}

// operation is the name of what is asked for. Only words of letters are names of
// operations; anything else may be a secret that somebody has put into a path.
func (t *Tracer) operation(path string) string {
	name, ok := strings.CutPrefix(path, t.base+"/")
	if !ok || name == "" || len(name) > 24 || strings.ContainsFunc(name, func(c rune) bool { return (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') }) {
		return "other"
	}
	return t.base + "/" + name
}

// known keeps methods that strangers make up out of the names of spans.
func known(method string) string {
	switch method {
	case http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete, http.MethodOptions:
		return method
	}
	return "_OTHER"
}

// Transport makes a span of each request to the nodes of a part, such as chains or
// bitcoin. next nil is [http.DefaultTransport], with more kept connections. Trace headers are not sent: who runs the
// nodes has no part in the trace.
func (t *Tracer) Transport(part string, next http.RoundTripper) http.RoundTripper {
	if next == nil {
		next = httpx.Transport(64)
	}
	return roundTripper(func(r *http.Request) (*http.Response, error) {
		ctx, span := t.tracer.Start(r.Context(), part+" "+known(r.Method), trace.WithSpanKind(trace.SpanKindClient),
			trace.WithAttributes(attribute.String("http.request.method", known(r.Method)), attribute.String("server.address", r.URL.Hostname())))
		defer span.End()
		answer, err := next.RoundTrip(r.WithContext(ctx))
		switch {
		case err != nil:
			why := "no answer" // the error may name the whole URL
			if ctx.Err() == context.Canceled {
				why = "given up"
			}
			span.SetStatus(codes.Error, why)
		default:
			span.SetAttributes(attribute.Int("http.response.status_code", answer.StatusCode))
			if answer.StatusCode >= http.StatusBadRequest {
				span.SetStatus(codes.Error, http.StatusText(answer.StatusCode))
			}
		}
		return answer, err
	})
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }
