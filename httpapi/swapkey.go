package httpapi

import (
	"context"
	"net/http"
	"net/netip"
	"slices"

	"github.com/swapper-go/swapper"
	"github.com/swapper-go/swapper/fault"
)

// swapKeyHeader carries the key of the swap that a request is about. The member swapKey of
// a JSON body does the same; a query string does not, because it ends up in logs.
const (
	swapKeyHeader = "Swap-Key"
	swapKeyMember = "swapKey"
)

// withSwapKey adds the key in a request's header to its input.
func withSwapKey(r *http.Request, input value) (value, error) {
	_, inInput := find(input.members, swapKeyMember)
	if inInput && r.Method != http.MethodPost {
		return input, fault.Invalid(swapKeyMember, "must be in the header %s, or in the body of a POST, never in a URL", swapKeyHeader)
	}
	switch given := r.Header.Values(swapKeyHeader); {
	case len(given) == 0 || input.kind != kindObject:
	case len(given) > 1 || inInput:
		return input, fault.Invalid(swapKeyMember, "is given twice")
	default:
		input.members = append(slices.Clip(input.members), member{swapKeyMember, value{kind: kindString, text: given[0]}})
	}
	return input, nil
}

// created is a new swap as it goes over the wire, with the key that prints as *** elsewhere.
type created struct {
	swapper.SwapOutputBase
	SwapKey string `json:"swapKey,omitempty"`
}

// making adapts an operation that makes a swap.
func making[In any](f func(swapper.Service, context.Context, In) (*swapper.CreateSwapOutput, error)) func(swapper.Service, context.Context, In) (any, error) {
	return func(s swapper.Service, ctx context.Context, in In) (any, error) {
		out, err := one(f)(s, ctx, in)
		if err != nil {
			return nil, err
		}
		made := out.(*swapper.CreateSwapOutput)
		return &created{made.SwapOutputBase, made.SwapKey.Reveal()}, nil
	}
}

// named returns the request's context with who calls.
func (h *handler) named(r *http.Request) context.Context {
	name := ""
	if h.Caller != nil {
		name = h.Caller(r)
	}
	return swapper.WithAddress(swapper.WithCaller(r.Context(), name), h.Address(r))
}

// peer is the address of a connection. Behind a proxy, which says so by a header, it is not
// that of the caller.
func peer(r *http.Request) netip.Addr {
	for _, name := range []string{"X-Forwarded-For", "Forwarded", "X-Real-Ip", "Via"} {
		if r.Header.Get(name) != "" {
			return netip.Addr{}
		}
	}
	at, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil {
		return netip.Addr{}
	}
	return at.Addr()
}

// keysKept is how many swaps' keys a remote client remembers; the latest used stay.
const keysKept = 65_536

// keep remembers the key of a swap that was made.
func (c *client) keep(made *swapper.CreateSwapOutput, err error) (*swapper.CreateSwapOutput, error) {
	if err == nil && made.SwapKey != "" {
		c.keys.Add(made.SwapID, made.SwapKey)
	}
	return made, err
}

// keyFor returns the key of a swap: the given one, or the one that this client was told
// when it created the swap.
func (c *client) keyFor(swapID string, given swapper.Secret) swapper.Secret {
	if given != "" {
		return given
	}
	kept, _ := c.keys.Get(swapID)
	return kept
}
