// Package routine marks work that nobody waits for. Whoever serves it may put it behind
// what somebody waits for, and gather it for a moment so that more is asked at once.
package routine

import "context"

type key struct{}

// Mark returns a context for work that nobody waits for.
func Mark(ctx context.Context) context.Context { return context.WithValue(ctx, key{}, true) }

// Is reports whether nobody waits for the work of ctx.
func Is(ctx context.Context) bool { return ctx.Value(key{}) != nil }
