package main

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"maps"
	"math"
	"net/http"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/swapper-go/swapper"
	"github.com/swapper-go/swapper/httpapi"
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
	chains  []string // ids, of which one is enough to be ready
	checked readiness
}

// handler puts the operations behind, from the outside in: access log, CORS,
// authentication, rate limit. A preflight needs no key, and a refusal can be read
// by the page that caused it.
func (s *service) handler(ops swapper.Service, base string, c *cors) http.Handler {
	inner := http.NewServeMux()
	httpapi.Mount(inner, base, ops, httpapi.WithLogger(s.log))
	if strings.Trim(base, "/") != "" {
		inner.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) {
			answer(w, http.StatusNotFound, body{"error": "not found", "code": "unsupported"})
		})
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { answer(w, http.StatusOK, body{"status": "ok"}) })
	mux.HandleFunc("GET /readyz", s.readyz)
	mux.Handle("/", c.wrap(s.protect(inner)))
	return s.logged(mux)
}

// protect lets a request through whose caller is known and within its limit.
// Failed logins have a bucket of their own, which a valid key never meets: others
// may share its address, behind one gateway or by a wrong key left in a script.
func (s *service) protect(next http.Handler) http.Handler {
	const failed = "" // no entry has this name
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		client := clientOf(r, s.trusted)
		e, ok := s.gate.admit(r.Header)
		if !ok {
			if ok, retry := s.limits.allow(failed, client, &s.global); !ok {
				tooMany(w, retry)
				return
			}
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
		next.ServeHTTP(w, r.WithContext(swapper.WithCaller(r.Context(), e.caller(r.Header, client))))
	})
}

// readiness is what [swapper.Client.Ready] said, and when.
type readiness struct {
	mu  sync.Mutex
	at  time.Time
	err error
}

// readyFor is how long an answer of [swapper.Client.Ready] is good: readyz is for
// everybody, and a flood of questions must not become one of calls to the chains.
const readyFor = 5 * time.Second

// get returns what ready says, asking if the last answer is too old. Callers wait for
// the one that asks, which does not stop when its caller leaves.
func (r *readiness) get(ctx context.Context, ready func(context.Context) error) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.at.IsZero() && time.Since(r.at) < readyFor {
		return r.err
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 4*time.Second) // time to say which part is silent
	defer cancel()
	r.at = time.Now()
	r.err = ready(ctx)
	return r.err
}

// readyz says whether swaps can be made.
func (s *service) readyz(w http.ResponseWriter, r *http.Request) {
	if s.closing.Load() {
		answer(w, http.StatusServiceUnavailable, body{"status": "closing"})
		return
	}
	err := s.checked.get(r.Context(), func(ctx context.Context) error {
		err := s.ready(ctx)
		if err != nil { // the reason may name hosts: it belongs in the log
			s.log.Warn("not ready", "err", err)
		}
		return err
	})
	if err == nil {
		answer(w, http.StatusOK, body{"status": "ready"})
		return
	}
	var missing []string
	if e, ok := errors.AsType[*swapper.NotReady](err); ok {
		missing = slices.Sorted(maps.Keys(e.Parts))
	}
	if s.partly(missing) {
		answer(w, http.StatusOK, body{"status": "ready", "notReady": missing})
		return
	}
	answer(w, http.StatusServiceUnavailable, body{"status": "not ready", "notReady": missing})
}

// partly reports whether swaps are possible without what is missing: some of the
// chains, but not all. Turning every caller away would not mend one chain.
func (s *service) partly(missing []string) bool {
	if len(missing) == 0 || len(missing) >= len(s.chains) {
		return false
	}
	for _, part := range missing {
		if !slices.Contains(s.chains, part) {
			return false
		}
	}
	return true
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
