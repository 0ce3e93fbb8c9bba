package httpapi

import (
	"log/slog"
	"strings"
)

// DefaultBasePath is the base path of the interface (SPEC.md §1).
const DefaultBasePath = "/api"

// Option is an option of [New] and [Mount].
type Option func(*options)

type options struct {
	base          string // "" or /like/this
	acceptUnknown bool
	deadlines     Deadlines
	logger        *slog.Logger
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
