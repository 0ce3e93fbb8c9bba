package swapper

import (
	"context"
	"sync"

	"github.com/swapper-go/swapper/swap"
)

// ErrClosed is the error of every method of a [Client] after Close, and of calls
// that Close cuts off. Compare with errors.Is. Its code is [CodeInternal].
var ErrClosed = swap.ErrClosed

// life is the calls that a client has under way. The zero value is a client that
// is open. It is safe for concurrent use.
type life struct {
	mu     sync.Mutex
	closed bool
	cancel map[*byte]context.CancelCauseFunc // of the calls under way
	calls  sync.WaitGroup
}

// begin registers a call. Its context ends with the caller's, or with the client;
// end must be called with the call's error, which becomes [ErrClosed] if it is
// Close that ended it.
func (l *life) begin(caller context.Context) (ctx context.Context, end func(*error), err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return nil, nil, ErrClosed
	}
	ctx, cancel := context.WithCancelCause(caller)
	if l.cancel == nil {
		l.cancel = map[*byte]context.CancelCauseFunc{}
	}
	key := new(byte)
	l.cancel[key] = cancel
	l.calls.Add(1)
	return ctx, func(err *error) {
		if *err != nil && context.Cause(ctx) == ErrClosed {
			*err = ErrClosed
		}
		l.mu.Lock()
		delete(l.cancel, key)
		l.mu.Unlock()
		cancel(nil)
		l.calls.Done()
	}, nil
}

// close ends the calls that are under way, waits for them and lets none begin.
func (l *life) close() {
	l.mu.Lock()
	l.closed = true
	for _, cancel := range l.cancel {
		cancel(ErrClosed)
	}
	l.mu.Unlock()
	l.calls.Wait()
}

// over reports whether the client was closed.
func (l *life) over() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.closed
}
