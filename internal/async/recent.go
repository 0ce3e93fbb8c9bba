package async

import (
	"context"
	"sync"
	"time"
)

// Recent is the last answer to one question. The zero value is ready; it must not
// be copied once used and is safe for concurrent use.
type Recent[T any] struct {
	calls Group
	mu    sync.Mutex
	value T
	at    time.Time
}

// Get returns the last answer if it is younger than age, else that of load,
// which concurrent callers share (see [Do]). Errors are not kept. An age of
// 0 means that no earlier answer will do; a negative one that no call will do that
// was already under way, whose answer may be of before.
func (r *Recent[T]) Get(ctx context.Context, age time.Duration, load func(context.Context) (T, error)) (T, error) {
	r.mu.Lock()
	value, at := r.value, r.at
	r.mu.Unlock()
	if !at.IsZero() && time.Since(at) < age {
		return value, nil
	}
	shared := &r.calls
	if age < 0 {
		shared = new(Group)
	}
	return Do(ctx, shared, "", func(ctx context.Context) (T, error) {
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

// Last returns the last answer, however old; the zero value if there was none.
func (r *Recent[T]) Last() T {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.value
}
