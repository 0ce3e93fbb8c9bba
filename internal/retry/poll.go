package retry

import (
	"context"
	"time"
)

// slowest is the longest pause of a [Poll] whose calls fail.
const slowest = 2 * time.Minute

// Poll calls ask at once and then after each pause, until ctx ends or ask returns a final
// error, and returns that or ctx's. A failure ends nothing: it is told to failed, unless ctx
// has ended, and doubles the pause, up to two minutes, until a call succeeds.
func Poll(ctx context.Context, pause time.Duration, ask func() (failure, final error), failed func(error)) error {
	wait := pause
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-timer.C:
		}
		switch failure, final := ask(); {
		case final != nil:
			return final
		case failure == nil:
			wait = pause
		case ctx.Err() == nil:
			failed(failure)
			wait = min(2*wait, slowest)
		}
		timer.Reset(wait)
	}
}
