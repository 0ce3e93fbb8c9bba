package e2e

import (
	"sync/atomic"
	"time"
)

// clock is the local network's time: the real one and what a test skipped.
type clock struct{ skipped atomic.Int64 }

func (c *clock) now() time.Time { return time.Now().Add(time.Duration(c.skipped.Load())) }

func (c *clock) skip(d time.Duration) { c.skipped.Add(int64(d)) }
