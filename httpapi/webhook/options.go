package webhook

import (
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/swapper-go/swapper"
	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/internal/httpx"
	"github.com/swapper-go/swapper/storage"
)

// Endpoint is a receiver of messages.
type Endpoint struct {
	// Name names the endpoint's records in the store, and the endpoint in logs: 1 to 64
	// letters, digits, hyphens and underscores. It stays when URL and secrets change.
	Name string
	// URL is where messages are posted: https, without user information and fragment.
	URL string
	// Secrets sign each message, see [NewSecret]. One, or several while one replaces
	// another; 4 at most.
	Secrets []string
	// Wants says which swaps the endpoint is told about, by what a change shows of them.
	// nil: all. It must be quick, and give the same answer for all changes of a swap.
	Wants func(swapper.Change) bool
}

// Options configures a [Sender]. Store and Endpoints are required.
type Options struct {
	// Store keeps the messages: the client's own store, whose swaps they do not touch, or
	// another one. Several processes may share it.
	Store     storage.Store
	Endpoints []Endpoint

	// AllowLocal permits http and addresses that are not public: loopback, private
	// networks and so on. Where strangers name endpoints it lets them reach what only this
	// server can reach.
	AllowLocal bool

	Keep   time.Duration    // how long records of what is done are kept; 0: 30 days
	Poll   time.Duration    // how often the store is asked for what other processes did; 0: 5 s
	Now    func() time.Time // the client's clock, for when changes were stored and messages are due; nil: time.Now
	Logger *slog.Logger     // nil: no logs; they name endpoints, never URLs, secrets or whole ids of swaps
}

// maxEndpoints bounds the workers.
const maxEndpoints = 256

// Check reports whether the endpoints can be used, without any request, as [New] does. The
// error names the field, and never repeats a URL or a secret.
func (o Options) Check() error {
	if len(o.Endpoints) > maxEndpoints {
		return fault.Invalid("endpoints", "must be at most %d", maxEndpoints)
	}
	names := map[string]bool{}
	for _, e := range o.Endpoints {
		if err := e.check(o.AllowLocal); err != nil {
			return err
		}
		if names[e.Name] {
			return fault.Invalid("name", "%s names two endpoints", e.Name)
		}
		names[e.Name] = true
	}
	return nil
}

func (o Options) orDefault() (Options, error) {
	if o.Store == nil {
		return o, fault.Invalid("store", "is required")
	}
	if err := o.Check(); err != nil {
		return o, err
	}
	if o.Keep <= 0 {
		o.Keep = 30 * 24 * time.Hour
	}
	if o.Poll <= 0 {
		o.Poll = 5 * time.Second
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	return o, nil
}

// Check reports whether the endpoint can be used, without any request. The error names
// the field, and never repeats a URL or a secret.
func (e Endpoint) Check() error { return e.check(false) }

func (e Endpoint) check(allowLocal bool) error {
	if e.Name == "" || len(e.Name) > 64 || strings.Trim(e.Name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_") != "" {
		return fault.Invalid("name", "must be 1 to 64 letters, digits, hyphens and underscores")
	}
	u, err := url.Parse(e.URL)
	switch {
	case err != nil || u.Host == "" || u.Opaque != "" || len(e.URL) > 2048:
		return fault.Invalid("url", "of the endpoint %s must be an https URL of at most 2048 bytes", e.Name)
	case u.Scheme != "https" && !(allowLocal && u.Scheme == "http"):
		return fault.Invalid("url", "of the endpoint %s must be https; allowLocal accepts http", e.Name)
	case u.User != nil || u.Fragment != "":
		return fault.Invalid("url", "of the endpoint %s must have neither user information nor a fragment", e.Name)
	case httpx.IsOnion(u.Hostname()):
		return fault.Invalid("url", "of the endpoint %s must not be an onion host", e.Name)
	case len(e.Secrets) == 0 || len(e.Secrets) > 4:
		return fault.Invalid("secrets", "of the endpoint %s must be 1 to 4", e.Name)
	}
	for _, s := range e.Secrets {
		if _, err := parseSecret(s); err != nil {
			return fault.Invalid("secrets", "of the endpoint %s: %w", e.Name, err)
		}
	}
	return nil
}

// timeout bounds one request, its reply included.
const timeout = 20 * time.Second

// newClient calls public addresses alone, and follows no redirect.
func newClient(allowLocal bool) *http.Client {
	return &http.Client{Transport: httpx.Guard{AllowLocal: allowLocal}.Transport(), Timeout: timeout,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
}
