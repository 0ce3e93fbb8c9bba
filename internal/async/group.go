package async

import (
	"context"
	"fmt"
	"sync"
)

// Group merges identical questions that are asked at the same time; see [Do]. The zero value is ready; it must not be
// copied once used and is safe for concurrent use.
type Group struct {
	mu    sync.Mutex
	calls map[string]*call
}

type call struct {
	*Future[any]
	cancel  context.CancelFunc
	waiting int // callers; Group.mu guards it
}

// Do returns the result of fn, or of the call with the same key that is already
// in progress; that call must return the same type. fn runs in its own goroutine,
// with the values of the first caller's context but not its end: it is cancelled
// when the last waiting caller has gone. A caller whose context ends first gets
// the cause of that. fn should bound its own time; if it panics, the callers get
// an error, see [Guard].
func Do[T any](ctx context.Context, g *Group, key string, fn func(context.Context) (T, error)) (T, error) {
	var zero T
	if ctx.Err() != nil {
		return zero, context.Cause(ctx)
	}
	c := g.join(ctx, key, func(ctx context.Context) (any, error) { return fn(ctx) })
	select {
	case <-c.done:
	case <-ctx.Done():
		g.leave(key, c)
		return zero, context.Cause(ctx)
	}
	if c.err != nil {
		return zero, c.err
	}
	v, ok := c.value.(T)
	if !ok {
		return zero, fmt.Errorf("shared call %q returned a %T", key, c.value)
	}
	return v, nil
}

func (g *Group) join(ctx context.Context, key string, fn func(context.Context) (any, error)) *call {
	g.mu.Lock()
	defer g.mu.Unlock()
	if c, ok := g.calls[key]; ok {
		c.waiting++
		return c
	}
	own, cancel := context.WithCancel(context.WithoutCancel(ctx))
	c := &call{Future: NewFuture[any](), cancel: cancel, waiting: 1}
	if g.calls == nil {
		g.calls = make(map[string]*call)
	}
	g.calls[key] = c
	go func() {
		defer cancel()
		var value any
		err := Guard(func() (err error) { value, err = fn(own); return err })
		g.mu.Lock()
		if g.calls[key] == c {
			delete(g.calls, key)
		}
		g.mu.Unlock()
		c.Set(value, err)
	}()
	return c
}

// leave cancels the call if no caller is waiting for it any more; the next caller then
// starts a new one.
func (g *Group) leave(key string, c *call) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if c.waiting--; c.waiting > 0 {
		return
	}
	c.cancel()
	if g.calls[key] == c {
		delete(g.calls, key)
	}
}
