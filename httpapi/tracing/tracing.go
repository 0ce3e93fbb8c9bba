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
	"reflect"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"

	"github.com/swapper-go/swapper"
	"github.com/swapper-go/swapper/internal/httpx"
)

// scope is the name of what makes the spans.
const scope = "github.com/swapper-go/swapper/httpapi/tracing"

// Tracer makes spans. It is safe for concurrent use; make it with [New].
type Tracer struct {
	tracer     trace.Tracer
	operations httpx.Operations
}

// New returns a tracer. base is the base path of the operations, as in httpapi.Mount;
// more are the names of further operations, such as those of httpapi.Options.Operations.
func New(provider trace.TracerProvider, base string, more ...string) *Tracer {
	return &Tracer{provider.Tracer(scope), httpx.NewOperations(reflect.TypeFor[swapper.Service](), base, more...)}
}

// Handler makes a span of each request that next answers. It begins a trace, unless the
// request's context has a span: callers decide neither what is sampled nor by which id. The
// traceparent header of a caller (W3C Trace Context) becomes a link to the caller's span.
func (t *Tracer) Handler(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		name := "other"
		if operation, ok := t.operations.Of(r.URL.Path); ok {
			name = t.operations.Path(operation)
		}
		method := known(r.Method)
		ctx, span := t.tracer.Start(r.Context(), method+" "+name, trace.WithSpanKind(trace.SpanKindServer), trace.WithLinks(caller(r)...),
			trace.WithAttributes(attribute.String("http.request.method", method), attribute.String("http.route", name)))
		defer span.End()
		seen := httpx.Record(w)
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

// caller is the span that a request says to belong to, none if it says nothing. The rest of
// what it says (flags, state) is a stranger's text.
func caller(r *http.Request) []trace.Link {
	said := trace.SpanContextFromContext(propagation.TraceContext{}.Extract(context.Background(), propagation.HeaderCarrier(r.Header)))
	if !said.IsValid() {
		return nil
	}
	return []trace.Link{{SpanContext: trace.NewSpanContext(trace.SpanContextConfig{TraceID: said.TraceID(), SpanID: said.SpanID(), Remote: true})}}
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
