package lp

import (
	"context"
	"sync"

	"github.com/swapper-go/swapper/fault"
)

// Future is a value that becomes known later: a fee rate or a price that all
// requests of a quote round share, and that a streamed request sends once it is
// there. It is safe for concurrent use; the first Set counts.
type Future[T any] struct {
	once  sync.Once
	done  chan struct{}
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
// return when ctx ends. A panic of fn becomes the future's error.
func Start[T any](ctx context.Context, fn func(context.Context) (T, error)) *Future[T] {
	f := NewFuture[T]()
	go func() {
		defer func() {
			if p := recover(); p != nil {
				var zero T
				f.Set(zero, fault.New(fault.Internal, "a response could not be decoded: %v", p))
			}
		}()
		f.Set(fn(ctx))
	}()
	return f
}

// Set gives the future its value, or the reason why there is none.
func (f *Future[T]) Set(v T, err error) {
	f.once.Do(func() {
		f.value, f.err = v, err
		close(f.done)
	})
}

// Wait returns the value once it is known, or the cause of ctx's end.
func (f *Future[T]) Wait(ctx context.Context) (T, error) {
	select {
	case <-f.done:
		return f.value, f.err
	default:
	}
	select {
	case <-f.done:
		return f.value, f.err
	case <-ctx.Done():
		var zero T
		return zero, context.Cause(ctx)
	}
}

// known reports whether Wait would return at once.
func (f *Future[T]) known() bool {
	select {
	case <-f.done:
		return true
	default:
		return false
	}
}
