package main

import (
	"context"
	"net"
	"net/http"
	"net/netip"
	"strings"

	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/httpapi/webhook"
)

// adminConfig is what the operator alone reaches.
type adminConfig struct {
	Listen string
	Hosts  []string // names by which it is asked for, beside addresses, localhost and that of listen
}

// endpoints is the part of a [webhook.Sender] that the operator uses.
type endpoints interface {
	States(ctx context.Context) ([]webhook.State, error)
	Enable(ctx context.Context, name string) error
}

// admin is for the operator: metrics, backups of the store, endpoints of webhooks. b and h are
// nil where there is none.
func (s *service) admin(c *adminConfig, b *backups, h endpoints) http.Handler {
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", s.metrics.Handler())
	if b != nil {
		mux.Handle("POST /backup", b)
	}
	if h != nil {
		mux.HandleFunc("GET /webhooks", func(w http.ResponseWriter, r *http.Request) {
			states, err := h.States(r.Context())
			if err != nil {
				s.log.Error("the endpoints of webhooks could not be read", "err", err)
				answer(w, http.StatusInternalServerError, body{"error": "the endpoints could not be read; the log says why"})
				return
			}
			answer(w, http.StatusOK, states)
		})
		mux.HandleFunc("POST /webhooks/enable", func(w http.ResponseWriter, r *http.Request) {
			name := r.URL.Query().Get("endpoint")
			switch err := h.Enable(r.Context(), name); {
			case fault.CodeOf(err) == fault.NotFound:
				answer(w, http.StatusNotFound, body{"error": err.Error()})
			case err != nil:
				s.log.Error("an endpoint of webhooks could not be enabled", "endpoint", name, "err", err)
				answer(w, http.StatusInternalServerError, body{"error": "the endpoint could not be enabled; the log says why"})
			default:
				s.log.Info("an endpoint of webhooks was enabled", "endpoint", name)
				answer(w, http.StatusOK, body{"enabled": name})
			}
		})
	}
	all := http.NewServeMux()
	s.health.register(all)
	all.Handle("/", c.ours(mux))
	return all
}

// ours refuses what a page in the operator's browser can cause: requests across origins, and
// those of a page whose name was made to lead to this address. There are no keys that would
// stop either.
func (c *adminConfig) ours(next http.Handler) http.Handler {
	names := map[string]bool{"localhost": true}
	for _, name := range append([]string{c.Listen}, c.Hosts...) {
		names[hostOf(name)] = true
	}
	delete(names, "") // of ":3001"
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		host, origin, site := hostOf(r.Host), r.Header.Get("Origin"), r.Header.Get("Sec-Fetch-Site")
		_, err := netip.ParseAddr(host) // an address leads nowhere else
		switch {
		case err != nil && !names[host]:
			answer(w, http.StatusForbidden, body{"error": "this name is not one by which the operator's address is asked for: use its IP address, or add the name to admin.hosts"})
		case origin != "" && !strings.EqualFold(origin, "http://"+r.Host), site != "" && site != "same-origin" && site != "none":
			answer(w, http.StatusForbidden, body{"error": "pages of other origins may not ask for this"})
		default:
			next.ServeHTTP(w, r)
		}
	})
}

// hostOf is the host of host:port or of a host alone, in lower case, without brackets and the
// last dot.
func hostOf(text string) string {
	if host, _, err := net.SplitHostPort(text); err == nil {
		text = host
	}
	return strings.ToLower(strings.TrimSuffix(strings.Trim(text, "[]"), "."))
}
