package price

import (
	"context"
	"errors"
	"math/big"
	"sync"
	"time"

	"github.com/swapper-go/swapper/internal/httpx"
	"github.com/swapper-go/swapper/internal/retry"
	"github.com/swapper-go/swapper/tokens"
)

// failover asks one of several sources; see [Redundant].
type failover struct {
	sources []Source
	retry   retry.Policy

	mu sync.Mutex
	up []health // guarded by mu
}

type health int

const (
	unknown health = iota
	up
	down
)

// straggler is how long an answer is waited for after another source's has been
// taken: it still tells whether the source works.
const straggler = 10 * time.Second

// Redundant returns a [Source] that queries one of several others, preferring one
// that worked last time, and the rest if that fails; the first response counts. It
// costs one request where [Median] costs one per source, but trusts a single source.
// Those that come first are preferred. Failed
// rounds are repeated, up to five in all with growing pauses, unless the
// decisive failure was an HTTP status (protocol: swap-flows-spv-and-core.md
// C9.3).
func Redundant(sources ...Source) Source {
	return &failover{sources: sources, up: make([]health, len(sources)), retry: retry.Policy{Final: pointless}}
}

// Name implements [Source].
func (r *failover) Name() string { return names(r.sources) }

// Price implements [Source].
func (r *failover) Price(ctx context.Context, t tokens.Token) (*big.Int, error) {
	return redundant(ctx, r, func(ctx context.Context, s Source) (*big.Int, error) {
		p, err := s.Price(ctx, t)
		if err != nil {
			return nil, err
		}
		return p, sane(p)
	})
}

// USDPerSat implements [Source].
func (r *failover) USDPerSat(ctx context.Context) (float64, error) {
	return redundant(ctx, r, func(ctx context.Context, s Source) (float64, error) {
		v, err := s.USDPerSat(ctx)
		if err != nil {
			return 0, err
		}
		return v, saneUSD(v)
	})
}

// pointless reports whether repeating a round cannot help now: a service that
// limits its callers or does not know the token.
func pointless(err error) bool { return statusAnswer(err) || errors.Is(err, ErrUnknownToken) }

func statusAnswer(err error) bool {
	_, ok := errors.AsType[*httpx.StatusError](err)
	return ok
}

func redundant[T any](ctx context.Context, r *failover, ask func(context.Context, Source) (T, error)) (T, error) {
	return retry.Do(ctx, r.retry, func(ctx context.Context) (T, error) {
		if i := r.working(); i >= 0 {
			v, err := ask(ctx, r.sources[i])
			if r.note(ctx, i, err); err == nil || ctx.Err() != nil {
				return v, err
			}
		}
		return first(ctx, r, r.candidates(), ask)
	})
}

// working is the first source that answered last time, or -1.
func (r *failover) working() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	for i, h := range r.up {
		if h == up {
			return i
		}
	}
	return -1
}

// candidates are the sources that are not down; if all are, all start anew.
func (r *failover) candidates() []int {
	r.mu.Lock()
	defer r.mu.Unlock()
	var list []int
	for i, h := range r.up {
		if h != down {
			list = append(list, i)
		}
	}
	if list == nil {
		for i := range r.up {
			r.up[i] = unknown
			list = append(list, i)
		}
	}
	return list
}

// note records whether a source answered. An unknown token or a cancelled request
// does not count against it.
func (r *failover) note(ctx context.Context, i int, err error) {
	if err != nil && (errors.Is(err, ErrUnknownToken) || ctx.Err() != nil) {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.up[i] = up
	if err != nil {
		r.up[i] = down
	}
}

// first asks sources at once and takes the first answer. The others end within
// the straggler time and only leave their mark.
func first[T any](ctx context.Context, r *failover, list []int, ask func(context.Context, Source) (T, error)) (T, error) {
	type result struct {
		i     int
		value T
		err   error
	}
	own, cancel := context.WithCancel(context.WithoutCancel(ctx))
	results := make(chan result, len(list))
	var all sync.WaitGroup
	for _, i := range list {
		all.Go(func() {
			v, err := ask(own, r.sources[i])
			r.note(own, i, err)
			results <- result{i, v, err}
		})
	}
	go func() {
		all.Wait()
		cancel()
	}()
	var zero T
	failed := make([]error, len(r.sources))
	for range list {
		select {
		case a := <-results:
			if a.err == nil {
				time.AfterFunc(straggler, cancel)
				return a.value, nil
			}
			failed[a.i] = a.err
		case <-ctx.Done():
			cancel()
			return zero, context.Cause(ctx)
		}
	}
	return zero, decisive(failed)
}

// decisive picks the error to return: the first that is not an HTTP status
// or an unknown token, else the first status, else the first.
func decisive(failed []error) error {
	var status, any error
	for _, err := range failed {
		switch {
		case err == nil:
		case !pointless(err):
			return err
		case status == nil && statusAnswer(err):
			status = err
		case any == nil:
			any = err
		}
	}
	if status != nil {
		return status
	}
	if any != nil {
		return any
	}
	return errors.New("no price source is configured")
}
