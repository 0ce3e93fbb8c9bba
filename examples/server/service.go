package main

import (
	"context"
	"encoding/json"
	"log/slog"
	"math"
	"net/http"
	"net/netip"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/swapper-go/swapper"
	"github.com/swapper-go/swapper/httpapi"
	"github.com/swapper-go/swapper/internal/recent"
)

// service is what stands around the operations.
type service struct {
	gate    gate
	limits  *limiter
	global  limit
	trusted []netip.Prefix
	log     *slog.Logger
	ready   func(context.Context) error
	closing atomic.Bool
	checked recent.Value[struct{}]
}

// handler puts the operations behind, from the outside in: access log, CORS,
// authentication, rate limit. A preflight needs no key, and a refusal can be read
// by the page that caused it.
func (s *service) handler(ops swapper.Service, base string, c *cors) http.Handler {
	inner := http.NewServeMux()
	httpapi.Mount(inner, base, ops, httpapi.WithLogger(s.log))
	if strings.Trim(base, "/") != "" {
		inner.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) {
			answer(w, http.StatusNotFound, body{"error": "there is nothing at this path", "code": "unsupported"})
		})
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { answer(w, http.StatusOK, body{"status": "ok"}) })
	mux.HandleFunc("GET /readyz", s.readyz)
	mux.Handle("/", c.wrap(s.protect(inner)))
	return s.logged(mux)
}

// protect lets a request through whose caller is known and within its limit.
// Failed logins have a bucket too, and a full one is answered before any key is
// looked at.
func (s *service) protect(next http.Handler) http.Handler {
	const failed = "" // no entry has this name
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		client := clientOf(r, s.trusted)
		if full, retry := s.limits.blocked(failed, client, &s.global); full {
			tooMany(w, retry)
			return
		}
		e, ok := s.gate.admit(r.Header)
		if !ok {
			s.limits.allow(failed, client, &s.global)
			answer(w, http.StatusUnauthorized, body{"error": "Unauthorized", "code": "unauthorized"})
			return
		}
		if seen, ok := w.(*recorder); ok {
			seen.entry = e.name
		}
		if ok, retry := s.limits.allow(e.name, client, e.limit); !ok {
			tooMany(w, retry)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// readyz is for everybody, so what it finds is good for five seconds: a flood of
// questions must not become one of calls to the chains.
func (s *service) readyz(w http.ResponseWriter, r *http.Request) {
	ctx, cancel := context.WithTimeout(r.Context(), 5*time.Second)
	defer cancel()
	if s.closing.Load() {
		answer(w, http.StatusServiceUnavailable, body{"status": "closing"})
		return
	}
	_, err := s.checked.Get(ctx, 5*time.Second, func(ctx context.Context) (struct{}, error) { return struct{}{}, s.ready(ctx) })
	if err != nil { // the reason may name hosts: it belongs in the log
		s.log.Warn("not ready", "err", err)
		answer(w, http.StatusServiceUnavailable, body{"status": "not ready"})
		return
	}
	answer(w, http.StatusOK, body{"status": "ready"})
}

type body map[string]any

func answer(w http.ResponseWriter, status int, b body) {
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(b) // a caller that is gone needs no answer
}

func tooMany(w http.ResponseWriter, retry time.Duration) {
	seconds := int64(math.Ceil(retry.Seconds()))
	w.Header().Set("Retry-After", strconv.FormatInt(seconds, 10))
	answer(w, http.StatusTooManyRequests, body{"error": "Rate limit exceeded", "code": "rate_limited", "retryAfter": seconds})
}

// recorder notes what the access log tells of an answer.
type recorder struct {
	http.ResponseWriter
	status int
	bytes  int64
	entry  string
}

func (w *recorder) WriteHeader(status int) {
	if w.status == 0 {
		w.status = status
	}
	w.ResponseWriter.WriteHeader(status)
}

func (w *recorder) Write(p []byte) (int, error) {
	if w.status == 0 {
		w.status = http.StatusOK
	}
	n, err := w.ResponseWriter.Write(p)
	w.bytes += int64(n)
	return n, err
}

// Unwrap lets the operations move the deadline of their connection.
func (w *recorder) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// logged writes the access log. The query is left out: it may carry a preimage.
func (s *service) logged(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		seen := &recorder{ResponseWriter: w}
		start := time.Now()
		defer func() {
			s.log.Info("request", "method", r.Method, "path", r.URL.Path, "status", seen.status, "bytes", seen.bytes,
				"took", time.Since(start), "client", clientOf(r, s.trusted), "entry", seen.entry)
		}()
		next.ServeHTTP(seen, r)
	})
}
