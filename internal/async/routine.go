package async

import "context"

type routine struct{}

// Routine returns a context for work for which no caller waits. Whoever serves it may put it
// behind what somebody waits for, and gather it for a moment so that more is asked at once.
func Routine(ctx context.Context) context.Context { return context.WithValue(ctx, routine{}, true) }

// IsRoutine reports whether no caller waits for the work of ctx.
func IsRoutine(ctx context.Context) bool { return ctx.Value(routine{}) != nil }
