package loopback

import (
	"sync"
	"time"
)

// Every calls tick that often, until stop is called, which waits for its end and may be called
// more than once.
func Every(pause time.Duration, tick func()) (stop func()) {
	ended := make(chan struct{})
	var ticking sync.WaitGroup
	ticking.Go(func() {
		ticker := time.NewTicker(pause)
		defer ticker.Stop()
		for {
			select {
			case <-ended:
				return
			case <-ticker.C:
				tick()
			}
		}
	})
	return sync.OnceFunc(func() {
		close(ended)
		ticking.Wait()
	})
}
