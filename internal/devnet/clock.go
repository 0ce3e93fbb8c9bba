package devnet

import (
	"sync/atomic"
	"time"
)

// Clock runs with the system's clock, ahead of it by what was added. It is safe
// for concurrent use.
type Clock struct{ ahead atomic.Int64 }

// Now returns the time.
func (c *Clock) Now() time.Time { return time.Now().Add(time.Duration(c.ahead.Load())) }

// Add moves the clock ahead. It never goes back.
func (c *Clock) Add(d time.Duration) { c.ahead.Add(int64(max(d, 0))) }
