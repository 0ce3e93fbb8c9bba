package httpx

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"
)

// RetryPolicy says how often and how fast a call is repeated. The zero value is the
// network's usual one: five calls in all, waits of 0.5, 1, 2 and 4 s between
// them, each lengthened at random by up to a quarter so that many clients do not
// return at once (protocol: utilities.md §13). A Policy is not changed by use
// and may be shared.
type RetryPolicy struct {
	Calls    int                  // calls in all, the first included; 0 means 5, 1 means no repetition
	Delay    time.Duration        // wait after the first call; 0 means 500 ms
	Constant bool                 // every wait is Delay; else each is twice the one before
	Final    func(err error) bool // true: err is an answer, repeating is pointless; nil: every error may pass

	Jitter func(wait time.Duration) time.Duration              // the wait to use for a nominal one; nil: up to a quarter longer
	Sleep  func(ctx context.Context, wait time.Duration) error // nil: a timer that ends early with the context's cause
}

// Retry calls call until it succeeds, returns a final error, or the policy's calls
// are used up; the result is that of the last call. Once ctx is done, a failed
// call is not repeated and the error is the cause of the cancellation; a call
// that succeeds all the same keeps its value.
func Retry[T any](ctx context.Context, p RetryPolicy, call func(ctx context.Context) (T, error)) (T, error) {
	calls, wait, sleep, jitter := p.Calls, p.Delay, p.Sleep, p.Jitter
	if calls <= 0 {
		calls = 5
	}
	if wait <= 0 {
		wait = 500 * time.Millisecond
	}
	if sleep == nil {
		sleep = timer
	}
	if jitter == nil {
		jitter = quarter
	}
	for n := 1; ; n++ {
		v, err := call(ctx)
		if err == nil {
			return v, nil
		}
		if ctx.Err() != nil {
			return v, cancelled(ctx, err)
		}
		if n >= calls || p.Final != nil && p.Final(err) {
			return v, err
		}
		if sleep(ctx, jitter(wait)) != nil {
			return v, cancelled(ctx, err)
		}
		if !p.Constant && wait < longest/2 {
			wait *= 2
		}
	}
}

// longest keeps the doubling from overflowing.
const longest = 24 * time.Hour

// cancelled says why the context ended, and what failed last unless that was
// only the cancellation itself.
func cancelled(ctx context.Context, last error) error {
	cause := context.Cause(ctx)
	switch {
	case cause == nil: // a Sleep of the caller's gave up without the context
		return last
	case errors.Is(last, cause), errors.Is(last, ctx.Err()):
		return cause
	}
	return fmt.Errorf("%w (last error: %v)", cause, last)
}

func quarter(wait time.Duration) time.Duration {
	return wait + rand.N(wait/4+1)
}

func timer(ctx context.Context, wait time.Duration) error {
	t := time.NewTimer(wait)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
