package httpapi

import (
	"log/slog"
	"net/http"
	"net/netip"
	"strings"
)

// Option is an option of [New] and [Mount].
type Option func(*options)

type options struct {
	base          string // "" or /like/this
	acceptUnknown bool
	deadlines     Deadlines
	logger        *slog.Logger
	caller        func(*http.Request) string
	address       func(*http.Request) netip.Addr
	others        []other
}

// BasePath makes the handler serve below a base path such as "/api". Leading
// and trailing slashes do not matter; "" and "/", the default, mean the root.
// [Mount] sets it.
func BasePath(base string) Option {
	return func(o *options) {
		o.base = ""
		if base = strings.Trim(base, "/"); base != "" {
			o.base = "/" + base
		}
	}
}

// AcceptUnknown makes the handler ignore unknown input fields and parameters,
// as the reference does, instead of refusing them by name.
func AcceptUnknown() Option {
	return func(o *options) { o.acceptUnknown = true }
}

// WithDeadlines sets how long the operations may take.
func WithDeadlines(d Deadlines) Option {
	return func(o *options) { o.deadlines = d }
}

// WithLogger sets where internal errors are logged; the default is
// slog.Default().
func WithLogger(l *slog.Logger) Option {
	return func(o *options) { o.logger = l }
}

// WithCaller says who sends a request, for servers with more than one caller:
// name returns any text that identifies the caller, such as the account
// determined by the authentication in front of the handler, and never something
// that the caller can choose freely. A swap belongs to the caller who created it, and so do
// idempotency keys, see [swapper.WithCaller]. Without this option, and where the
// name is "", a caller is known by its address ([WithAddress]); such callers share one set
// of idempotency keys, and repeating another one's request with its key returns
// the id of its swap.
func WithCaller(name func(*http.Request) string) Option {
	return func(o *options) { o.caller = name }
}

// WithAddress says from which network address a request comes, for callers without a name:
// whoever calls from where a swap was created owns it, as [swapper.WithAddress] says. Behind
// a reverse proxy use [github.com/swapper-go/swapper/httpapi/proxy.Trusted.Client]. Without
// this option it is the address of the connection, and none if the request says that it came
// through a proxy; a proxy that adds no header makes one owner of all its callers. The zero
// address owns nothing: an option that returns it leaves the swap's key as the only proof.
func WithAddress(client func(*http.Request) netip.Addr) Option {
	return func(o *options) { o.address = client }
}
