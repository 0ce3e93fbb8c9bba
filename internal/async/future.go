// Package async is what callers that wait share: a value that becomes known later
// ([Future]), one call for identical questions ([Group]), and its answer for a while
// ([Recent]); and the mark of work for which no caller waits ([Routine]).
package async

import (
	"context"
	"sync"
)

// Future is a value that becomes known later. It is safe for concurrent use; the first
// Set counts. Make one with [NewFuture], [Known] or [Start].
type Future[T any] struct {
	once  sync.Once
	done  chan struct{} // closed after value and err are set
	value T
	err   error
}

// NewFuture returns a future without a value.
func NewFuture[T any]() *Future[T] { return &Future[T]{done: make(chan struct{})} }

// Known returns a future that has its value.
func Known[T any](v T) *Future[T] {
	f := NewFuture[T]()
	f.Set(v, nil)
	return f
}

// Start runs fn in a goroutine of its own, which ends when fn returns; fn must
// return when ctx ends. A panic of fn becomes the future's error, see [Guard].
func Start[T any](ctx context.Context, fn func(context.Context) (T, error)) *Future[T] {
	f := NewFuture[T]()
	go f.run(ctx, fn)
	return f
}

// run sets what fn returns.
func (f *Future[T]) run(ctx context.Context, fn func(context.Context) (T, error)) {
	var v T
	err := Guard(func() (err error) { v, err = fn(ctx); return err })
	f.Set(v, err)
}

// Set gives the future its value, or the reason why there is none.
func (f *Future[T]) Set(v T, err error) {
	f.once.Do(func() {
		f.value, f.err = v, err
		close(f.done)
	})
}

// Wait returns the value once it is known, or the cause of ctx's end if that comes first.
func (f *Future[T]) Wait(ctx context.Context) (T, error) {
	select {
	case <-f.done:
	case <-ctx.Done():
		if !f.IsKnown() {
			var zero T
			return zero, context.Cause(ctx)
		}
	}
	return f.value, f.err
}

// Done is closed when Wait returns the value at once.
func (f *Future[T]) Done() <-chan struct{} { return f.done }

// IsKnown reports whether Wait returns the value at once.
func (f *Future[T]) IsKnown() bool {
	select {
	case <-f.done:
		return true
	default:
		return false
	}
}
