package main

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"maps"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/swapper-go/swapper"
)

// health answers whether the process lives, and whether swaps can be made.
type health struct {
	ready   func(context.Context) error // of the client
	chains  []string                    // ids, of which one is enough to be ready
	log     *slog.Logger
	closing atomic.Bool
	checked readiness
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

func (h *health) register(mux *http.ServeMux) {
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { answer(w, http.StatusOK, body{"status": "ok"}) })
	mux.HandleFunc("GET /readyz", h.readyz)
}

// readyz says whether swaps can be made.
func (h *health) readyz(w http.ResponseWriter, r *http.Request) {
	if h.closing.Load() {
		answer(w, http.StatusServiceUnavailable, body{"status": "closing"})
		return
	}
	err := h.checked.get(r.Context(), func(ctx context.Context) error {
		err := h.ready(ctx)
		if err != nil { // the reason may name hosts: it belongs in the log
			h.log.Warn("not ready", "err", err)
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
	if h.partly(missing) {
		answer(w, http.StatusOK, body{"status": "ready", "notReady": missing})
		return
	}
	answer(w, http.StatusServiceUnavailable, body{"status": "not ready", "notReady": missing})
}

// partly reports whether swaps are possible without what is missing: some of the
// chains, but not all. Turning every caller away would not mend one chain.
func (h *health) partly(missing []string) bool {
	if len(missing) == 0 || len(missing) >= len(h.chains) {
		return false
	}
	for _, part := range missing {
		if !slices.Contains(h.chains, part) {
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
