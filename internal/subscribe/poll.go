package subscribe

import (
	"context"
	"encoding/json"
	"sync"
	"time"
)

const (
	// slow is the pause between questions while a connection is alive and nothing is heard.
	slow = time.Minute
	// resting is that pause while what is heard does not matter, and restAfter for how long it must
	// not have: swaps that wait are looked at more often, and each look uses what is heard.
	resting   = 5 * time.Minute
	restAfter = 30 * time.Minute
	// longestPause is the longest one of questions that fail.
	longestPause = 2 * time.Minute
	// burst is how many questions in a row hints can cause if the answers hold nothing new.
	burst = 20
	// attentive is for how long after a hint the questions are as frequent as without
	// subscriptions, unless an answer holds something new: a log is told of when it is in a
	// block, and read when that block is final.
	attentive = 5 * time.Minute
	// gap is the shortest time between two questions that hints cause.
	gap = 200 * time.Millisecond
	// gather is how long after a hint the question comes: a block's logs are told of one after the other.
	gather = 30 * time.Millisecond
)

// poll calls ask at once and then again and again, until ctx ends or ask returns a final
// error, and returns that or ctx's. Without nodes, or while none is alive, it pauses between
// the calls; while one is alive it asks once a minute and after each hint, or every five minutes
// if that matters to no caller: see [Nodes.use]. A failure ends
// nothing: it is told to failed, unless ctx has ended, and doubles the pause, up to two
// minutes, until a call succeeds. news says that the answer held something new. The nodes
// are listened to until poll returns; a second poll with them at the same time has none.
func poll(ctx context.Context, nodes *Nodes, pause time.Duration, ask func() (news bool, failure, final error), failed func(error)) error {
	if nodes != nil && !nodes.take() {
		nodes = nil
	}
	if nodes != nil {
		defer nodes.leave()
		listening, cancel := context.WithCancel(ctx)
		var running sync.WaitGroup
		running.Go(func() { nodes.run(listening) })
		defer running.Wait()
		defer cancel()
	}
	r := rhythm{nodes: nodes, pause: pause, budget: burst, grown: time.Now()}
	failing := pause
	for ctx.Err() == nil {
		began := time.Now()
		news, failure, final := ask()
		switch {
		case final != nil:
			return final
		case failure == nil:
			failing = pause
			r.wait(ctx, began, news)
		default:
			if ctx.Err() == nil {
				failed(failure)
			}
			failing = min(2*failing, longestPause)
			sleep(ctx, failing)
		}
	}
	return ctx.Err()
}

// Poll is [poll] for what is read from a cursor on. read hands over, in parts, what there is since
// a cursor, each part with the cursor to continue from; deliver gets both, the cursor as text. What
// deliver refuses is final, and the part is not passed over.
func Poll[N, C any, Text ~[]byte](ctx context.Context, nodes *Nodes, pause time.Duration, at C,
	read func(at C, hand func([]N, C) error) error, deliver func([]N, Text) error, failed func(error)) error {
	return poll(ctx, nodes, pause, func() (found bool, failure, refused error) {
		failure = read(at, func(news []N, next C) error {
			var text []byte
			if text, refused = json.Marshal(next); refused == nil {
				refused = deliver(news, Text(text))
			}
			if refused == nil {
				at, found = next, found || len(news) > 0
			}
			return refused
		})
		return found, failure, refused
	}, failed)
}

func sleep(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	}
}

// rhythm says when to ask again.
type rhythm struct {
	nodes *Nodes
	pause time.Duration // without subscriptions

	counted uint64    // hints that were heard until the last question
	open    time.Time // when the last hint came that no answer has explained; zero: none is open
	budget  float64   // of questions; it grows by one with each pause, and hints may cause some while there is any
	spare   bool      // the next question without news costs nothing of it
	grown   time.Time // when it was added to
}

// wait returns when it is time for the next question, or when ctx ends. The last one was
// asked at began; news says whether its answer held something new.
func (r *rhythm) wait(ctx context.Context, began time.Time, news bool) {
	r.grow(time.Now())
	switch {
	case news: // it costs nothing, nor does the next one: logs of a block are told of one after the other, some while it is asked
		r.open, r.spare = time.Time{}, true
		if r.nodes != nil {
			r.nodes.explain(r.counted)
		}
	case r.spare:
		r.spare = false
	default:
		r.budget = max(0, r.budget-1)
	}
	pause := time.NewTimer(r.next(began))
	defer pause.Stop()
	if r.nodes == nil {
		select {
		case <-ctx.Done():
		case <-pause.C:
		}
		return
	}
	heard := r.nodes.heard
	for {
		select {
		case <-ctx.Done():
			return
		case <-pause.C:
			select {
			case <-r.nodes.heard: // since the pause was set: the question comes after it
				r.hinted(time.Now())
			default:
			}
			return
		case <-heard:
		}
		now, soon := time.Now(), time.Duration(0)
		if r.hinted(now) {
			soon = gather
		}
		r.grow(now)
		heard = nil
		if r.budget < 1 { // hints have led to nothing for long: the rhythm without them
			pause.Reset(max(0, r.pause-now.Sub(began)))
			continue
		}
		pause.Reset(max(soon, gap-now.Sub(began)))
	}
}

// hinted takes note of the hints until now, and reports whether there are new ones.
func (r *rhythm) hinted(now time.Time) bool {
	counted := r.nodes.counted()
	if counted == r.counted {
		return false
	}
	r.counted, r.open = counted, now
	return true
}

// next is the pause if nothing is heard.
func (r *rhythm) next(now time.Time) time.Duration {
	if r.nodes == nil || !r.nodes.anyAlive() || !r.open.IsZero() && now.Sub(r.open) < attentive {
		return r.pause
	}
	if r.nodes.resting() {
		return max(resting, r.pause)
	}
	return max(slow, r.pause)
}

func (r *rhythm) grow(now time.Time) {
	r.budget, r.grown = min(burst, r.budget+float64(now.Sub(r.grown))/float64(r.pause)), now
}
