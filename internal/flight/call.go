package flight

import "context"

// Call is the outcome of a call in progress. Any number of goroutines may wait for
// it; one ends it. Make one with [NewCall].
type Call[T any] struct {
	done  chan struct{} // closed after value and err are set
	value T
	err   error
}

// NewCall returns a call that has not ended.
func NewCall[T any]() *Call[T] { return &Call[T]{done: make(chan struct{})} }

// Wait returns the outcome once there is one, or the cause of the context's end if
// that comes first.
func (c *Call[T]) Wait(ctx context.Context) (T, error) {
	select {
	case <-c.done:
		return c.value, c.err
	case <-ctx.Done():
		var zero T
		return zero, context.Cause(ctx)
	}
}

// Ended reports whether the outcome is there.
func (c *Call[T]) Ended() bool {
	select {
	case <-c.done:
		return true
	default:
		return false
	}
}

// End sets the outcome. It must be called once.
func (c *Call[T]) End(value T, err error) {
	c.value, c.err = value, err
	close(c.done)
}
