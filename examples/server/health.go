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

// health answers whether the process lives, and whether callers may be sent to it.
type health struct {
	ready   func(context.Context) (swapper.Readiness, error) // of the client
	chains  []string                                         // ids, of which one is enough to be ready
	log     *slog.Logger
	closing atomic.Bool
	checked readiness
}

// readiness is what [swapper.Client.Ready] said, and when.
type readiness struct {
	mu   sync.Mutex
	at   time.Time
	said swapper.Readiness
	err  error
}

// readyFor is how long an answer of [swapper.Client.Ready] is good: readyz is for
// everybody, and a flood of questions must not become one of calls to the chains.
const readyFor = 5 * time.Second

// get returns what ready says, asking if the last answer is too old. Callers wait for
// the one that asks, which does not stop when its caller leaves.
func (r *readiness) get(ctx context.Context, ready func(context.Context) (swapper.Readiness, error)) (swapper.Readiness, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.at.IsZero() && time.Since(r.at) < readyFor {
		return r.said, r.err
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 4*time.Second) // time to say which part is silent
	defer cancel()
	r.at = time.Now()
	r.said, r.err = ready(ctx)
	return r.said, r.err
}

func (h *health) register(mux *http.ServeMux) {
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { answer(w, http.StatusOK, body{"status": "ok"}) })
	mux.HandleFunc("GET /readyz", h.readyz)
}

// readyz says whether callers may be sent here: this server may be left out for what it
// lacks itself. What all servers lack alike, such as a provider, turning callers away would
// not mend. It names the chains that have one node; callers are still served.
func (h *health) readyz(w http.ResponseWriter, r *http.Request) {
	if h.closing.Load() {
		answer(w, http.StatusServiceUnavailable, body{"status": "closing"})
		return
	}
	said, err := h.checked.get(r.Context(), func(ctx context.Context) (swapper.Readiness, error) {
		said, err := h.ready(ctx)
		if err != nil { // the reason may name hosts: it belongs in the log
			h.log.Warn("not ready", "err", err)
		}
		return said, err
	})
	b := body{"status": "ready"}
	if len(said.OneNode) > 0 {
		b["oneNode"] = said.OneNode
	}
	if len(said.Unheard) > 0 {
		b["unheard"] = said.Unheard
	}
	if err == nil {
		answer(w, http.StatusOK, b)
		return
	}
	var missing []string
	if e, ok := errors.AsType[*swapper.NotReady](err); ok {
		missing = slices.Sorted(maps.Keys(e.Parts))
	}
	b["notReady"] = missing
	if h.usable(missing) {
		answer(w, http.StatusOK, b)
		return
	}
	b["status"] = "not ready"
	answer(w, http.StatusServiceUnavailable, b)
}

// usable reports whether callers may be sent here without what is missing: with a store that
// can write and one chain at least.
func (h *health) usable(missing []string) bool {
	if len(missing) == 0 || slices.Contains(missing, "store") {
		return false
	}
	return slices.ContainsFunc(h.chains, func(id string) bool { return !slices.Contains(missing, id) })
}

type body map[string]any

func answer(w http.ResponseWriter, status int, b any) {
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(b) // a caller that is gone needs no answer
}
