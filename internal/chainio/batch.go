package chainio

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/swapper-go/swapper/internal/async"
)

// batch merges the questions of many swaps to one place. A lone question that somebody
// waits for is asked at once, and takes along whatever is there; while a call is in
// flight, the questions that come are collected, and asked together when it returns or
// has lasted for a moment: one that is repeated for seconds holds no others up. Routine
// questions are collected for a moment before they are asked, or for as long as all of them have
// patience. Safe for concurrent use.
type batch[Q, A any] struct {
	// run answers questions, each as soon as its answer is there, with its place among
	// them. Its context is bounded by timeout and does not end when an asker goes away.
	// What it leaves unanswered, it has failed to answer.
	run     func(ctx context.Context, questions []Q, answer func(i int, a A)) error
	failed  func(error) A
	most    int           // questions in one call
	calls   int           // at once
	spare   int           // of calls: not for routine questions alone
	gather  time.Duration // how long questions are collected at most
	timeout time.Duration // of one call
	base    context.Context

	mu      sync.Mutex
	urgent  []*asked[Q, A] // questions that somebody waits for
	routine []*asked[Q, A]
	running int         // calls
	began   time.Time   // the last of them
	timer   *time.Timer // runs while questions are being collected
	armed   time.Time   // when it fires; zero: it does not run
	done    sync.WaitGroup
}

type asked[Q, A any] struct {
	question Q
	until    time.Time // when it is asked at the latest, if nothing hinders; of routine
	answer   A
	once     sync.Once
	ready    chan struct{}
}

func (a *asked[Q, A]) is(answer A) {
	a.once.Do(func() {
		a.answer = answer
		close(a.ready)
	})
}

// ask returns the answer, or the context's error when that ends first.
func (b *batch[Q, A]) ask(ctx context.Context, question Q) (A, error) {
	a := &asked[Q, A]{question: question, until: time.Now().Add(max(b.gather, async.PatienceOf(ctx))), ready: make(chan struct{})}
	b.mu.Lock()
	if b.base.Err() != nil {
		b.mu.Unlock()
		var none A
		return none, context.Cause(b.base)
	}
	if async.IsRoutine(ctx) {
		b.routine = append(b.routine, a)
	} else {
		b.urgent = append(b.urgent, a)
	}
	b.next()
	b.mu.Unlock()
	select {
	case <-a.ready:
		return a.answer, nil
	case <-ctx.Done():
		var none A
		return none, context.Cause(ctx)
	}
}

// next begins the calls that it is time for, and sees to it that it is called again when
// it is time for another one. b.mu is held.
func (b *batch[Q, A]) next() {
	if b.base.Err() != nil {
		for _, a := range slices.Concat(b.urgent, b.routine) {
			a.is(b.failed(context.Cause(b.base)))
		}
		b.urgent, b.routine = nil, nil
		return
	}
	for {
		now := time.Now()
		at := time.Time{} // when it is time for a call
		switch {
		case len(b.urgent) > 0 && b.running < b.calls:
			if b.running > 0 && len(b.urgent)+len(b.routine) < b.most {
				at = b.began.Add(b.gather)
			}
		case len(b.routine) > 0 && b.running < max(1, b.calls-b.spare):
			if len(b.routine) < b.most {
				at = slices.MinFunc(b.routine, func(x, y *asked[Q, A]) int { return x.until.Compare(y.until) }).until
			}
		default:
			return
		}
		if at.After(now) {
			b.wake(at)
			return
		}
		b.begin(now)
	}
}

// wake has next called at a time. b.mu is held.
func (b *batch[Q, A]) wake(at time.Time) {
	if !b.armed.IsZero() && !at.Before(b.armed) {
		return
	}
	b.armed = at
	if b.timer != nil {
		b.timer.Stop()
	}
	b.timer = time.AfterFunc(time.Until(at), func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		if b.armed.Equal(at) {
			b.armed = time.Time{}
		}
		b.next()
	})
}

// begin starts a call with the questions that have waited longest, those first for whose
// answers somebody waits. b.mu is held.
func (b *batch[Q, A]) begin(now time.Time) {
	some := take(&b.urgent, b.most)
	some = append(some, take(&b.routine, b.most-len(some))...)
	b.running++
	b.began = now
	b.done.Add(1)
	go func() {
		defer b.done.Done()
		b.call(some)
		b.mu.Lock()
		defer b.mu.Unlock()
		b.running--
		b.next()
	}()
}

// take removes up to n of the first elements of a queue.
func take[T any](queue *[]T, n int) []T {
	n = min(n, len(*queue))
	some := (*queue)[:n:n]
	if *queue = (*queue)[n:]; len(*queue) == 0 {
		*queue = nil
	}
	return some
}

// call asks, and answers all.
func (b *batch[Q, A]) call(some []*asked[Q, A]) {
	questions := make([]Q, len(some))
	for i, a := range some {
		questions[i] = a.question
	}
	ctx, cancel := context.WithTimeout(b.base, b.timeout)
	defer cancel()
	err := async.Guard(func() error { // one that panics over what a node said does not end the process
		return b.run(ctx, questions, func(i int, a A) { some[i].is(a) })
	})
	if err == nil {
		err = errUnanswered
	}
	for _, a := range some {
		a.is(b.failed(err))
	}
}

// errUnanswered is the error of a question that was passed over.
var errUnanswered = errors.New("the question was not answered")

// wait returns when no call is in flight, and no caller waits for one. The base context
// should have ended.
func (b *batch[Q, A]) wait() {
	b.mu.Lock() // every call has either begun by now or will see that the context has ended
	if b.next(); b.timer != nil {
		b.timer.Stop()
	}
	defer b.done.Wait()
	b.mu.Unlock()
}

// whole is the run of a batch whose answers come together, in the order of the questions.
func whole[Q, A any](run func(ctx context.Context, questions []Q) ([]A, error)) func(context.Context, []Q, func(int, A)) error {
	return func(ctx context.Context, questions []Q, answer func(int, A)) error {
		answers, err := run(ctx, questions)
		if err == nil && len(answers) != len(questions) {
			err = fmt.Errorf("%d answers to %d questions", len(answers), len(questions))
		}
		if err != nil {
			return err
		}
		for i, a := range answers {
			answer(i, a)
		}
		return nil
	}
}
