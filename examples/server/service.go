package main

import (
	"log/slog"
	"net/http"
	"strings"

	"github.com/swapper-go/swapper"
	"github.com/swapper-go/swapper/examples/server/internal/auth"
	"github.com/swapper-go/swapper/examples/server/internal/serve"
	"github.com/swapper-go/swapper/httpapi"
	"github.com/swapper-go/swapper/httpapi/limit"
	"github.com/swapper-go/swapper/httpapi/metrics"
	"github.com/swapper-go/swapper/httpapi/tracing"
)

// usualRequests are the requests that are answered at once if the file does not say
// how many.
const usualRequests, usualPerSender = 512, 32

// service is what stands around the operations.
type service struct {
	base      string
	unknown   bool // members of requests are passed over
	admission *admission
	places    limit.Places
	cors      func(http.Handler) http.Handler
	metrics   *metrics.Metrics // nil: nothing is measured
	tracer    *tracing.Tracer  // nil: nothing is traced
	health    *health
	log       *slog.Logger
}

// handler puts the operations behind, from the outside in: traces, metrics, access log,
// CORS, authentication, rate limit, places. A preflight needs no key, and a refusal can
// be read by the page that caused it.
func (s *service) handler(ops swapper.Service, more ...httpapi.Operation) http.Handler {
	inner := http.NewServeMux()
	httpapi.Mount(inner, s.base, ops, httpapi.Options{AcceptUnknown: s.unknown, Logger: s.log, Caller: auth.Caller, Operations: more})
	if strings.Trim(s.base, "/") != "" {
		base := "/" + strings.Trim(s.base, "/")
		inner.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) {
			answer(w, http.StatusNotFound, body{"error": "not found: the operations are below " + base + ", and " + base + "/docs describes them", "code": "unsupported"})
		})
	}
	refused := limit.Requests(s.admission.guesses, s.admission.refused, nil)(http.HandlerFunc(auth.Refused))
	known := auth.Require(s.admission.chain, refused)
	rates := limit.Requests(limit.New(nil), s.admission.allowed, httpapi.Cost(s.base))
	h := s.cors(known(named(spared(rates(s.inPlaces(inner))))))
	h = serve.LogAccess(serve.AccessLog{Logger: s.log, Client: s.admission.client.Client})(h)
	if s.metrics != nil {
		h = s.metrics.Observe(h)
	}
	if s.tracer != nil {
		h = s.tracer.Handler(h)
	}
	mux := http.NewServeMux()
	s.health.register(mux) // checks come every few seconds: none of this is for them
	mux.Handle("/", h)
	return mux
}

// inPlaces bounds what is answered at once, but for streams, which have bounds of their
// own.
func (s *service) inPlaces(next http.Handler) http.Handler {
	bounded := limit.InFlight(s.places, s.admission.sender)(next)
	streams := "/" + strings.Trim(s.base, "/") + "/subscribe"
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == streams {
			next.ServeHTTP(w, r)
			return
		}
		bounded.ServeHTTP(w, r)
	})
}

// spared keeps the connections that are left when strangers have all others to callers
// who are known, and to checks of health.
func spared(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if id, _ := auth.Of(r.Context()); serve.Crowded(r.Context()) && id.Kind == auth.KindAnonymous {
			w.Header().Set("Retry-After", "1")
			answer(w, http.StatusServiceUnavailable, body{"error": "too many connections are open; try again shortly", "code": "busy", "retryAfter": 1})
			return
		}
		next.ServeHTTP(w, r)
	})
}

// named writes into the access log by which entry a request was admitted.
func named(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if id, ok := auth.Of(r.Context()); ok {
			attrs := []slog.Attr{slog.String("entry", id.Entry)}
			if id.Kind == auth.KindKey && id.Subject != "" {
				attrs = append(attrs, slog.String("holder", id.Subject))
			}
			serve.Add(r.Context(), attrs...)
		}
		next.ServeHTTP(w, r)
	})
}

// nodes sees the requests to chains and servers on their way.
type nodes struct {
	metrics *metrics.Metrics
	tracer  *tracing.Tracer
}

func (n nodes) transport(part string) http.RoundTripper {
	out := kept()
	if n.metrics != nil {
		out = n.metrics.Transport(part, out)
	}
	if n.tracer != nil {
		out = n.tracer.Transport(part, out)
	}
	return out
}

// kept is the default transport that keeps the connections to a node that are used at
// once: the default keeps two of them, and a busy service would connect anew all the time.
func kept() http.RoundTripper {
	t, ok := http.DefaultTransport.(*http.Transport)
	if !ok {
		return http.DefaultTransport
	}
	t = t.Clone()
	t.MaxIdleConns, t.MaxIdleConnsPerHost = 256, 64
	return t
}
