package httpapi

import (
	"log/slog"
	"net/http"
	"net/netip"
	"strings"
)

// Options are the options of [New] and [Mount]. The zero value means the defaults.
type Options struct {
	// BasePath is the path below which the handler serves, such as "/api". Leading and trailing
	// slashes do not matter; "" and "/" mean the root. [Mount] sets it.
	BasePath string
	// AcceptUnknown makes the handler ignore unknown input fields and parameters, as the
	// reference does, instead of refusing them by name.
	AcceptUnknown bool
	// Deadlines says how long the operations may take.
	Deadlines Deadlines
	// Logger is where internal errors are logged; nil is slog.Default().
	Logger *slog.Logger
	// Caller says who sends a request, for servers with more than one caller: it returns
	// any text that identifies the caller, such as the account determined by the
	// authentication in front of the handler, and never something that the caller can
	// choose freely. A swap belongs to the caller who created it, and so do idempotency
	// keys, see [swapper.WithCaller]. Without it, and where the name is "", a caller is
	// known by its address; such callers share one set of idempotency keys, and repeating
	// another one's request with its key returns the id of its swap.
	Caller func(*http.Request) string
	// Address says from which network address a request comes, for callers without a
	// name: whoever calls from where a swap was created owns it, as [swapper.WithAddress]
	// says. Behind a reverse proxy it must read what the proxy says, and nothing that the
	// caller can. Without it, it is the address of the connection, and none if the request
	// says that it came through a proxy; a proxy that adds no header makes one owner of all
	// its callers. The zero address owns nothing: it leaves the swap's key as the only proof.
	Address func(*http.Request) netip.Addr
	// Operations are served beside those of the service.
	Operations []Operation
}

// cleanBase returns "" or a base path /like/this.
func cleanBase(base string) string {
	if base = strings.Trim(base, "/"); base != "" {
		return "/" + base
	}
	return ""
}
