package devnet

import (
	"context"
	"sync"
	"time"
)

// Clock runs with the system's clock, ahead of it by what was added. It is safe
// for concurrent use.
type Clock struct {
	mu    sync.Mutex
	ahead time.Duration
	moved chan struct{} // closed when the clock is moved; nil while no caller waits
}

// Now returns the time.
func (c *Clock) Now() time.Time { return time.Now().Add(c.Ahead()) }

// Ahead returns how far the clock is ahead of the system's.
func (c *Clock) Ahead() time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.ahead
}

// Add moves the clock ahead. It never goes back.
func (c *Clock) Add(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ahead += max(d, 0)
	if c.moved != nil {
		close(c.moved)
		c.moved = nil
	}
}

// Moved waits until the clock is ahead by more than known, or ctx ends, and
// returns how far it is ahead.
func (c *Clock) Moved(ctx context.Context, known time.Duration) time.Duration {
	for {
		c.mu.Lock()
		ahead := c.ahead
		if c.moved == nil {
			c.moved = make(chan struct{})
		}
		moved := c.moved
		c.mu.Unlock()
		if ahead > known {
			return ahead
		}
		select {
		case <-moved:
		case <-ctx.Done():
			return ahead
		}
	}
}
