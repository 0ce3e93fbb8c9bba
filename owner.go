package swapper

import (
	"context"
	"net/netip"
	"strconv"
	"strings"

	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/internal/engine"
	"github.com/swapper-go/swapper/internal/swap"
)

// call is what a context says of who calls.
type call struct {
	name    string
	address netip.Addr
}

type callerKey struct{}

func callOf(ctx context.Context) (call, bool) {
	c, ok := ctx.Value(callerKey{}).(call)
	return c, ok
}

// WithCaller returns a context that says on whose behalf an operation is
// called. The name is any text that identifies the caller, such as an account
// number; "" is a caller without a name, see [WithAddress]. Names are stored only as
// hashes.
//
// A swap belongs to the caller who created it. Other callers are shown it discreetly
// (docs/api.md, "Whose swap it is"), unless they have its key. A call whose context
// names no caller is the service itself, which owns every swap.
//
// Idempotency keys belong to a caller too: the same key from another caller
// is a different key, so a caller cannot reach another one's swap by guessing
// or repeating its key. Calls without a name share one namespace.
//
// Over HTTP the server names the caller, see Caller of httpapi.Options; a name in a
// remote client's context is not transmitted.
func WithCaller(ctx context.Context, name string) context.Context {
	c, _ := callOf(ctx)
	c.name = name
	return context.WithValue(ctx, callerKey{}, c)
}

// WithAddress returns a context that says from which network address an operation is
// called. For a caller without a name it takes the place of the name: whoever calls from
// the address from which a swap was created owns it. Of IPv6 the first 64 bits count. It
// proves as little as an address does: whoever shares the line, or the proxy, has the same
// one. The zero address has no owner.
func WithAddress(ctx context.Context, address netip.Addr) context.Context {
	c, _ := callOf(ctx)
	c.address = address
	return context.WithValue(ctx, callerKey{}, c)
}

// CallerOf returns the name set by [WithCaller], or "".
func CallerOf(ctx context.Context) string {
	c, _ := callOf(ctx)
	return c.name
}

// AddressOf returns the address set by [WithAddress], or the zero address.
func AddressOf(ctx context.Context) netip.Addr {
	c, _ := callOf(ctx)
	return c.address
}

// identity is the text by which the owner of a swap is known; "" for a caller of whom
// nothing is known.
func (c call) identity() string {
	if c.name != "" {
		return "name " + strconv.Quote(c.name)
	}
	a := c.address.Unmap().WithZone("")
	if !a.IsValid() {
		return ""
	}
	if a.Is6() {
		if network, err := a.Prefix(64); err == nil {
			return "address " + network.String()
		}
	}
	return "address " + a.String()
}

// newOwner is the identity that a new swap gets; "" for the service.
func newOwner(ctx context.Context) string {
	c, _ := callOf(ctx)
	return c.identity()
}

// owns returns what says whether a call comes from a swap's owner, by who calls or by
// the swap's key, or from the service itself.
func owns(ctx context.Context, key Secret) func(*swap.Record) bool {
	c, called := callOf(ctx)
	if !called {
		return func(*swap.Record) bool { return true }
	}
	who := c.identity()
	key = Secret(strings.ToLower(key.Reveal()))
	return func(r *swap.Record) bool { return r.OwnedBy(who, key.Reveal()) }
}

// handedIn compares what is submitted with what its sender was asked for, and notes
// whether that is the swap's owner.
type handedIn struct {
	engine.Checker
	owned func(*swap.Record) bool
}

// Check implements [engine.Checker]. A wallet may have asked with the swap's key and hand in
// without it, or the other way round, so that what the other view asks for is taken too.
func (h handedIn) Check(ctx context.Context, r *swap.Record, a swap.Action, signed []string) (swap.Submit, error) {
	owned := h.owned(r)
	asked, other := a, swap.Discreet(a)
	if !owned {
		asked, other = other, asked
	}
	in, err := h.Checker.Check(ctx, r, asked, signed)
	if asked != other && fault.CodeOf(err) == fault.InvalidInput {
		if in2, err2 := h.Checker.Check(ctx, r, other, signed); err2 == nil {
			in, err = in2, nil
		}
	}
	in.ByOwner = owned
	return in, err
}
