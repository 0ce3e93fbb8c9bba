package chainreader

import (
	"context"
	"fmt"
	"github.com/swapper-go/swapper/internal/flight"
	"sync"
	"time"
)

// batch merges the questions of many swaps to one place: while one call is in
// flight, the questions that come are collected, and asked together in the next.
// A lone question is asked at once. Safe for concurrent use.
type batch[Q, A any] struct {
	// run answers questions in their order. Its context is bounded by timeout
	// and does not end when an asker goes away. If it fails, or does not answer
	// all, failed says so to each asker.
	run     func(ctx context.Context, questions []Q) ([]A, error)
	failed  func(error) A
	most    int           // questions in one call
	timeout time.Duration // of one call
	base    context.Context

	mu      sync.Mutex
	waiting []*asked[Q, A]
	running bool
	done    sync.WaitGroup
}

type asked[Q, A any] struct {
	question Q
	answer   A
	ready    chan struct{}
}

// ask returns the answer, or the context's error when that ends first.
func (b *batch[Q, A]) ask(ctx context.Context, question Q) (A, error) {
	a := &asked[Q, A]{question: question, ready: make(chan struct{})}
	b.mu.Lock()
	if b.base.Err() != nil {
		b.mu.Unlock()
		var none A
		return none, context.Cause(b.base)
	}
	b.waiting = append(b.waiting, a)
	if !b.running {
		b.running = true
		b.done.Add(1)
		go b.drain()
	}
	b.mu.Unlock()
	select {
	case <-a.ready:
		return a.answer, nil
	case <-ctx.Done():
		var none A
		return none, context.Cause(ctx)
	}
}

func (b *batch[Q, A]) drain() {
	defer b.done.Done()
	for {
		b.mu.Lock()
		n := min(len(b.waiting), b.most)
		if n == 0 {
			b.running = false
			b.mu.Unlock()
			return
		}
		now := b.waiting[:n:n]
		b.waiting = b.waiting[n:]
		b.mu.Unlock()

		questions := make([]Q, n)
		for i, a := range now {
			questions[i] = a.question
		}
		ctx, cancel := context.WithTimeout(b.base, b.timeout)
		answers, err := b.call(ctx, questions)
		cancel()
		for i, a := range now {
			if err != nil {
				a.answer = b.failed(err)
			} else {
				a.answer = answers[i]
			}
			close(a.ready)
		}
	}
}

// call keeps a call that panics over what a node said from ending the process.
func (b *batch[Q, A]) call(ctx context.Context, questions []Q) (answers []A, err error) {
	err = flight.Guard(func() (err error) { answers, err = b.run(ctx, questions); return err })
	if err == nil && len(answers) != len(questions) {
		err = fmt.Errorf("%d answers to %d questions", len(answers), len(questions))
	}
	return answers, err
}

// wait returns when no call is in flight. The base context should have ended.
func (b *batch[Q, A]) wait() {
	b.mu.Lock() // every call has either begun by now or will see that the context has ended
	defer b.done.Wait()
	b.mu.Unlock()
}
