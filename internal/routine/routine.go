// Package routine marks work for which no caller waits. Whoever serves it may put it behind
// what somebody waits for, and gather it for a moment so that more is asked at once.
package routine

import "context"

type key struct{}

// Mark returns a context for work for which no caller waits.
func Mark(ctx context.Context) context.Context { return context.WithValue(ctx, key{}, true) }

// Is reports whether no caller waits for the work of ctx.
func Is(ctx context.Context) bool { return ctx.Value(key{}) != nil }
