package mempoolspace

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/internal/httpx"
)

// finalError is a definite answer: no other URL is asked and nothing is retried.
type finalError struct{ error }

func (e finalError) Unwrap() error { return e.error }

// notFound is the answer that something does not exist.
func notFound(format string, args ...any) error {
	return finalError{fmt.Errorf(format+": %w", append(args, bitcoin.ErrNotFound)...)}
}

// ask queries the URLs until one gives a valid answer. call may send several
// requests to its source, checks the responses, and returns a finalError for a
// negative answer; any other error counts as a failure of the source.
//
// The best source is asked first; the next one when it fails or is slow. If all
// fail, the round is repeated by the retry policy, unless all of them refused
// the request (4xx). The error says how each one failed. protocol: bitcoin.md
// §3.2 and §20 row 10.
func ask[T any](ctx context.Context, c *Client, what string, call func(context.Context, *source) (T, error)) (T, error) {
	return repeat(ctx, c, what, func(ctx context.Context) (T, error) { return round(ctx, c, what, call) })
}

// askInTurn is ask for one of many questions that come at once. A round waits until fewer
// are under way than one URL takes, so that none is believed slow because of our own queue;
// what waits to be repeated holds no place. call asks nothing else in turn.
func askInTurn[T any](ctx context.Context, c *Client, what string, call func(context.Context, *source) (T, error)) (T, error) {
	return repeat(ctx, c, what, func(ctx context.Context) (T, error) {
		select {
		case c.turns <- struct{}{}:
			defer func() { <-c.turns }()
		case <-ctx.Done():
			var none T
			return none, context.Cause(ctx)
		}
		return round(ctx, c, what, call)
	})
}

// repeat has rounds made until one gives a final answer or the policy ends.
func repeat[T any](ctx context.Context, c *Client, what string, one func(context.Context) (T, error)) (T, error) {
	policy := httpx.RetryPolicy{Calls: c.o.Attempts, Delay: c.o.RetryDelay}
	policy.Final = func(err error) bool {
		_, final := errors.AsType[finalError](err)
		return final
	}
	v, err := httpx.Retry(ctx, policy, one)
	if final, ok := errors.AsType[finalError](err); ok {
		return v, final.error
	}
	if err != nil && ctx.Err() != nil {
		return v, fmt.Errorf("%s: %w; %s", what, context.Cause(ctx), c.describe())
	}
	return v, err
}

// patience is how long a source may stay silent before it loses its place as
// first choice, when the caller gave up on it.
const patience = 500 * time.Millisecond

type outcome[T any] struct {
	index int
	value T
	err   error
}

func round[T any](ctx context.Context, c *Client, what string, call func(context.Context, *source) (T, error)) (T, error) {
	var zero T
	order, err := c.awake(ctx)
	if err != nil {
		return zero, err
	}
	if len(order) == 0 {
		return zero, c.allResting(what)
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel() // cancels the requests still in progress
	results := make(chan outcome[T], len(order))
	errs := make([]error, len(order))
	begun := make([]time.Time, len(order))
	started, running := 0, 0
	start := func() {
		i, s := started, order[started]
		begun[i] = time.Now()
		started, running = started+1, running+1
		go func() {
			v, err := guarded(ctx, s, call)
			results <- outcome[T]{i, v, err}
		}()
	}
	start()
	hedge := time.NewTimer(c.o.Hedge)
	defer hedge.Stop()
	for running > 0 {
		select {
		case r := <-results:
			running--
			_, final := errors.AsType[finalError](r.err)
			if r.err == nil || final {
				order[r.index].succeeded()
				for i := range r.index { // asked before it, and still silent
					if errs[i] == nil {
						order[i].outrun()
					}
				}
				return r.value, r.err
			}
			if ctx.Err() != nil {
				return zero, context.Cause(ctx)
			}
			r.err = httpx.Concealed(r.err, order[r.index].base)
			order[r.index].failed(r.err)
			errs[r.index] = r.err
			if started < len(order) {
				start()
				hedge.Reset(c.o.Hedge)
			}
		case <-hedge.C:
			if started < len(order) {
				start()
				hedge.Reset(c.o.Hedge)
			}
		case <-ctx.Done():
			for i := range started {
				if errs[i] == nil && time.Since(begun[i]) >= min(c.o.Hedge, patience) {
					order[i].outrun() // callers in a hurry never see the next one otherwise
				}
			}
			return zero, context.Cause(ctx)
		}
	}
	return zero, unanswered(what, order, errs)
}

// guarded asks one source, and checks its genesis block first if that has not
// been done yet.
func guarded[T any](ctx context.Context, s *source, call func(context.Context, *source) (T, error)) (v T, err error) {
	if s.isProven() {
		return call(ctx, s)
	}
	proof := make(chan error, 1)
	go func() { proof <- s.prove(ctx) }()
	v, err = call(ctx, s)
	if wrong := <-proof; wrong != nil {
		var zero T
		return zero, wrong
	}
	return v, err
}
