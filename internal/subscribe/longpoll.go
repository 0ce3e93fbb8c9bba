package subscribe

import (
	"context"
	"time"
)

// LongPoll is how a node is heard that answers a question when something has happened. It begins,
// and returns what waits for the next answer, which bounds its own time and is called again and
// again, at most five times a second, until it fails.
type LongPoll func(ctx context.Context) (next func(context.Context) (News, error), err error)

// polled is what a [LongPoll] has begun.
type polled struct {
	next func(context.Context) (News, error)
	last time.Time // when it was called
}

func (l LongPoll) open(ctx context.Context) (listener, error) {
	next, err := l(ctx)
	return &polled{next: next}, err
}

// news implements listener.
func (p *polled) news(ctx context.Context, _ time.Duration) (News, error) {
	sleep(ctx, gap-time.Since(p.last))
	p.last = time.Now()
	return p.next(ctx)
}
