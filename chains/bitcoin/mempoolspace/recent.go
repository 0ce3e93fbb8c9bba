package mempoolspace

import (
	"context"
	"sync"
	"time"

	"github.com/swapper-go/swapper/internal/flight"
)

// recent keeps one answer for a short time.
type recent[T any] struct {
	mu    sync.Mutex
	value T
	at    time.Time
}

// get returns the answer if it is younger than age, else that of load, which
// concurrent callers share.
func (r *recent[T]) get(ctx context.Context, g *flight.Group, key string, age time.Duration, load func(context.Context) (T, error)) (T, error) {
	r.mu.Lock()
	value, at := r.value, r.at
	r.mu.Unlock()
	if !at.IsZero() && time.Since(at) < age {
		return value, nil
	}
	return flight.Do(ctx, g, key, func(ctx context.Context) (T, error) {
		asked := time.Now() // the answer is as old as the question
		v, err := load(ctx)
		if err == nil {
			r.mu.Lock()
			r.value, r.at = v, asked
			r.mu.Unlock()
		}
		return v, err
	})
}

// aged is a fact and when it was learned.
type aged[T any] struct {
	value T
	at    time.Time
}

// fresh returns the value of a cache hit that is not too old.
func fresh[T any](a aged[T], ok bool) (T, bool) {
	return a.value, ok && time.Since(a.at) < finalAge
}
