package async

import (
	"context"
	"time"
)

type routine struct{}

// Routine returns a context for work for which no caller waits. Whoever serves it may put it
// behind what somebody waits for, and gather it for a moment so that more is asked at once.
func Routine(ctx context.Context) context.Context { return context.WithValue(ctx, routine{}, true) }

// IsRoutine reports whether no caller waits for the work of ctx.
func IsRoutine(ctx context.Context) bool { return ctx.Value(routine{}) != nil }

type patience struct{}

// Patient marks the context of routine work that may wait for so long to be done together with
// other work.
func Patient(ctx context.Context, most time.Duration) context.Context {
	return context.WithValue(ctx, patience{}, most)
}

// PatienceOf returns what [Patient] has set last; 0 if nothing.
func PatienceOf(ctx context.Context) time.Duration {
	most, _ := ctx.Value(patience{}).(time.Duration)
	return most
}
