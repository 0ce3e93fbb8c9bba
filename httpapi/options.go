package httpapi

import (
	"log/slog"
	"net/http"
	"strings"
)

// DefaultBasePath is the base path of the interface (docs/api.md).
const DefaultBasePath = "/api"

// Option is an option of [New] and [Mount].
type Option func(*options)

type options struct {
	base          string // "" or /like/this
	acceptUnknown bool
	deadlines     Deadlines
	logger        *slog.Logger
	caller        func(*http.Request) string
}

// BasePath makes the handler answer below a base path, as in "/api". Slashes at
// the ends do not matter; "" and "/", the default, are the root. [Mount] sets it.
func BasePath(base string) Option {
	return func(o *options) {
		o.base = ""
		if base = strings.Trim(base, "/"); base != "" {
			o.base = "/" + base
		}
	}
}

// AcceptUnknown makes the handler ignore input fields and parameters that it does
// not know, as the reference does, instead of refusing them by name.
func AcceptUnknown() Option {
	return func(o *options) { o.acceptUnknown = true }
}

// WithDeadlines sets how long the operations may take.
func WithDeadlines(d Deadlines) Option {
	return func(o *options) { o.deadlines = d }
}

// WithLogger sets where internal errors are logged; slog.Default() if not given.
func WithLogger(l *slog.Logger) Option {
	return func(o *options) { o.logger = l }
}

// WithCaller says who sends a request, for servers with more than one caller:
// name returns any text that tells them apart, as the account that the
// authentication in front of the handler found out, and never what the caller
// could choose to be another. Idempotency keys are kept apart by it, see
// [swapper.WithCaller]. Without this option all callers share one set of keys, and
// who repeats another's request with its key gets the id of its swap.
func WithCaller(name func(*http.Request) string) Option {
	return func(o *options) { o.caller = name }
}
