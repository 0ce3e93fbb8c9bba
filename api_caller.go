package swapper

import "context"

type callerKey struct{}

// WithCaller returns a context that says on whose behalf an operation is called:
// any text that tells callers apart, as an account's number. Idempotency keys
// belong to a caller: the same key of another one is another key, so that nobody
// gets at another's swap by guessing or repeating it. Without a name all callers
// are one. Names are stored as hashes only.
//
// Over HTTP the server names the caller, see httpapi.WithCaller; what a remote
// client has in its context does not travel.
func WithCaller(ctx context.Context, name string) context.Context {
	return context.WithValue(ctx, callerKey{}, name)
}

// CallerOf returns the name that [WithCaller] gave, "" if there is none.
func CallerOf(ctx context.Context) string {
	name, _ := ctx.Value(callerKey{}).(string)
	return name
}
