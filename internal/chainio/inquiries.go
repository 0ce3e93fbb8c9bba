package chainio

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"time"

	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/internal/async"
	"github.com/swapper-go/swapper/internal/bigs"
	"github.com/swapper-go/swapper/internal/lp"
)

// inquiries ask LPs for the status of swaps, independently of the passes: a pass
// waits briefly for an answer and then continues without it, and the next pass
// uses the answer. After an LP has failed to answer a pass in time, no pass waits
// for it until it has answered in time again, so that a silent LP does not slow
// the passes down. Safe for concurrent use.
type inquiries struct {
	reader StatusReader
	base   context.Context

	mu    sync.Mutex
	asked map[string]*inquiry // by question
	slow  map[string]bool     // by host: let a pass wait in vain
	rests map[string]rest     // by host: said that it is asked too much
	busy  map[string]int      // by host: in progress
	all   sync.WaitGroup
}

// inquiry is one question. What is below done is written before it is closed.
type inquiry struct {
	host   string
	began  time.Time
	before *inquiry // an answer that is old; nil: none, or it was given out
	done   chan struct{}
	status lp.Status
	err    error
	ended  time.Time
}

// rest is how long an LP gets no routine questions, for which no caller waits. An LP accepts a
// limited number of requests from one address in a time (protocol: lp-protocol.md §3.7), and
// callers' requests need a part of them.
type rest struct {
	pause time.Duration
	until time.Time
}

// Bounds of inquiries.
const (
	firstRest     = time.Second // doubled each time that the LP refuses after it
	longestRest   = 5 * time.Minute
	lpPatience    = 4 * time.Second  // of a pass: what an LP says only helps, and it may be silent on purpose
	lpTime        = 60 * time.Second // for an answer, repetitions included
	lpFresh       = 10 * time.Second // after which an unused answer is requested again, unless the question is patient
	lpKept        = 20 * time.Minute // of such an answer: longer than the pauses between the passes of an old swap
	mostInquiries = 32_768           // in progress and kept; beyond that the oldest answers are dropped
	mostRoutine   = 64               // questions of routine in progress with one LP, for which no caller waits: an LP takes few at once
)

var errLPSilent = fault.New(fault.Upstream, "the liquidity provider is not responding")

func newInquiries(base context.Context, reader StatusReader) *inquiries {
	return &inquiries{reader: reader, base: base, asked: map[string]*inquiry{}, slow: map[string]bool{}, rests: map[string]rest{}, busy: map[string]int{}}
}

// ask returns the answer to a question: one that came too late for the caller
// before, or one that comes within the patience of a pass. A failure is heard
// only by who waits for it.
func (n *inquiries) ask(ctx context.Context, q lp.StatusQuery) (lp.Status, error) {
	key := q.URL + " " + q.Endpoint + " " + q.ID + " " + bigs.OrZero(q.Sequence).String()
	began := time.Now()
	fresh := lpFresh
	if async.PatienceOf(ctx) > 0 {
		fresh = lpKept
	}
	i, patience := n.begin(key, q, async.IsRoutine(ctx), fresh)
	if i == nil {
		return lp.Status{}, errLPSilent
	}
	timer := time.NewTimer(patience)
	defer timer.Stop()
	select {
	case <-i.done:
	case <-ctx.Done():
		return lp.Status{}, context.Cause(ctx)
	case <-timer.C:
		select {
		case <-i.done: // both at once
		default:
			return n.late(i)
		}
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.asked[key] == i {
		delete(n.asked, key)
	}
	status := i.status
	status.Age = max(0, began.Sub(i.began))
	return status, i.err
}

// begin returns the inquiry that answers a question, and how long it may be
// waited for; nil if too many are in progress. Those of one LP that is slow or asked much
// leave room for the others', and its routine ones for those that somebody waits for. None
// of the latter begin while it rests. An answer that was not used yet is one for so long as it is
// fresh.
func (n *inquiries) begin(key string, q lp.StatusQuery, unhurried bool, fresh time.Duration) (*inquiry, time.Duration) {
	n.mu.Lock()
	defer n.mu.Unlock()
	now := time.Now()
	host := lp.Host(q.URL)
	i := n.asked[key]
	if i == nil || !i.ended.IsZero() && now.Sub(i.ended) > fresh {
		if n.base.Err() != nil {
			return nil, 0
		}
		if unhurried && (n.busy[host] >= mostRoutine || now.Before(n.rests[host].until)) || len(n.asked) >= mostInquiries && !n.sweep() {
			if i != nil && now.Sub(i.ended) <= lpKept {
				return i, 0
			}
			return nil, 0
		}
		before := i
		if before != nil && now.Sub(before.ended) > lpKept {
			before = nil
		}
		i = &inquiry{host: host, began: now, before: before, done: make(chan struct{})}
		n.asked[key] = i
		n.busy[host]++
		n.all.Go(func() { n.run(key, i, q) })
	}
	if n.slow[i.host] {
		return i, 0
	}
	return i, max(0, lpPatience-now.Sub(i.began))
}

func (n *inquiries) run(key string, i *inquiry, q lp.StatusQuery) {
	ctx, cancel := context.WithTimeoutCause(n.base, lpTime, errLPSilent)
	defer cancel()
	var status lp.Status
	err := async.Guard(func() (err error) { status, err = n.reader.Status(ctx, q); return err })

	n.mu.Lock()
	defer n.mu.Unlock()
	i.status, i.err, i.ended = status, err, time.Now()
	if n.busy[i.host]--; n.busy[i.host] == 0 {
		delete(n.busy, i.host)
	}
	refusal, refused := errors.AsType[*lp.RequestError](err)
	switch r := n.rests[i.host]; {
	case refused && refusal.Status == http.StatusTooManyRequests:
		if !i.ended.Before(r.until) { // else it was asked before it refused
			r.pause = min(max(firstRest, 2*r.pause), longestRest)
			n.rests[i.host] = rest{r.pause, i.ended.Add(r.pause)}
		}
	case err == nil && !i.ended.Before(r.until):
		delete(n.rests, i.host)
	}
	if (err == nil || refused) && i.ended.Sub(i.began) <= lpPatience {
		delete(n.slow, i.host)
	}
	if err != nil && n.asked[key] == i {
		delete(n.asked, key)
	}
	close(i.done)
}

// late notes that a pass waited in vain, and returns the answer of before.
func (n *inquiries) late(i *inquiry) (lp.Status, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.slow[i.host] = true
	if old := i.before; old != nil {
		i.before = nil
		status := old.status
		status.Age = time.Since(old.began)
		return status, nil
	}
	return lp.Status{}, errLPSilent
}

// sweep drops unused answers, old ones first, and reports whether there is
// room. n.mu is held.
func (n *inquiries) sweep() bool {
	for _, kept := range []time.Duration{lpKept, time.Minute, 0} {
		now := time.Now()
		for key, i := range n.asked {
			if !i.ended.IsZero() && now.Sub(i.ended) >= kept {
				delete(n.asked, key)
			}
		}
		if len(n.asked) < mostInquiries {
			return true
		}
	}
	return false
}

// wait returns when no inquiry is in progress. Cancel the base context first.
func (n *inquiries) wait() {
	n.mu.Lock() // every inquiry has either begun by now or will see that the context has ended
	defer n.all.Wait()
	n.mu.Unlock()
}
