package engine

import (
	"container/heap"
	"context"
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/internal/swap"
	"github.com/swapper-go/swapper/storage"
)

// Bounds of the concurrent background passes over swaps of one type on one chain. They
// wait for others most of the time, for seconds where nodes or providers fail, and a place
// is a goroutine and a decoded swap. Those who wait for one chain or for Bitcoin hold up no
// others. Some places are kept for turns that were brought forward: what is known to
// have happened to a swap does not wait behind routine looks.
const (
	parallelPasses = 1024
	urgentPasses   = 256
)

// Run follows all watched swaps until ctx ends: it looks at each one as often as
// its state asks for (more slowly as it grows old, and after failures), when its
// Due moment comes, and when Look asks for it; it deletes quotes that are long
// expired. Of a store that several processes share it does so for its part of the
// swaps. Time is the engine's clock, looked at every tick of real time. Run
// must not be called twice at once.
func (g *Engine) Run(ctx context.Context) error {
	s := &schedule{at: map[string]*turn{}}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	defer g.census.clear()
	var all sync.WaitGroup
	defer all.Wait()

	// Subscribed first, then loaded: a swap made in between is seen twice, not never.
	sub := g.feed.add()
	if sub == nil {
		return ErrClosed
	}
	all.Go(func() { g.deliver(ctx, sub, func(c Change) bool { g.reschedule(s, c.Record, 0); return true }) })
	all.Go(func() { g.divide(ctx, s) })
	defer g.listen()()

	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	purged := time.Time{}
	var purging atomic.Bool // a silent chain holds a purge up: then the next waits for it
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
		}
		g.sweep()
		now := g.Now()
		g.hints.schedule(s, now)
		g.backoffs.schedule(s, now)
		for {
			t := s.next(now)
			if t == nil {
				break
			}
			l := s.enter(t)
			if l == nil {
				continue
			}
			all.Go(func() {
				for ; t != nil; t = s.leave(l) {
					if ctx.Err() == nil {
						g.follow(ctx, s, t)
					}
				}
			})
		}
		if now.Sub(purged) >= time.Minute {
			purged = now
			if purging.CompareAndSwap(false, true) {
				all.Go(func() {
					defer purging.Store(false)
					g.Purge(ctx)
				})
			}
		}
	}
}

// reschedule sets a swap's next turn from its record. at is the part of the
// interval to wait, 0 for all of it. With a part, after a restart, a moment that
// has passed meanwhile makes even an old swap's turn come soon.
func (g *Engine) reschedule(s *schedule, r *swap.Record, at float64) {
	g.rescheduleFrom(s, r, at, g.Now())
}

// rescheduleFrom counts the interval from the moment that a look began: what it found
// may be as old as that.
func (g *Engine) rescheduleFrom(s *schedule, r *swap.Record, at float64, from time.Time) {
	f := g.Flows[r.Type]
	if f == nil {
		return
	}
	row, ok := f.State(r.State)
	if !ok || !row.Watched || r.Settled || !g.fleet.Mine(r.ID) {
		s.drop(r.ID)
		g.census.drop(r.ID)
		return
	}
	g.census.set(r, row)
	now := g.Now()
	wait := interval(row.Every, now.Sub(r.CreatedAt.Time()))
	switch {
	case idle(f, row, r):
		wait = idleInterval(now.Sub(r.CreatedAt.Time()))
	case !row.Finished:
		wait -= min(wait/10, slack)
	}
	if at > 0 {
		if r.Due.Reached(now) {
			wait = row.Every
		}
		wait = time.Duration(float64(wait) * at)
	}
	next := from.Add(wait)
	if soonest := now.Add(wait / 2); next.Before(soonest) { // the look lasted
		next = soonest
	}
	if r.Due != 0 && r.Due.Time().Before(next) && r.Due.Time().After(now) {
		next = r.Due.Time()
		defer s.hurry(r.ID) // a deadline waits behind no routine looks
	}
	s.set(r.ID, next)
	s.assign(r)
}

// slack is by how much a look at a swap under way comes earlier than its interval, or a
// tenth of that if it is less: it takes its time to be answered, and the swap's status is
// not to be older than the interval.
const slack = 5 * time.Second

// interval is how long to wait between looks: Every at first, a hundredth of
// the swap's age later, at most ten minutes more.
func interval(every, age time.Duration) time.Duration {
	return max(every, min(age/100, every+10*time.Minute))
}

// idle reports whether nothing is under way in a swap, as far as is known.
func idle(f *swap.Flow, row swap.StateRow, r *swap.Record) bool { return row.Expired || f.IsUnpaid(r) }

// idleInterval is how long to wait between passes over an unused quote: its age,
// so that a thousand of them cost little. A request for the swap, or an event on
// its chain, still triggers a pass at once.
func idleInterval(age time.Duration) time.Duration {
	return min(max(30*time.Second, age), 24*time.Hour)
}

// follow runs one pass, and slows down after failures.
func (g *Engine) follow(ctx context.Context, s *schedule, t *turn) {
	ctx, cancel := context.WithTimeout(ctx, g.passTimeout+time.Second)
	defer cancel()
	input := g.hints.input(t.id)
	if input == nil && !g.fleet.Mine(t.id) {
		g.unfollow(s, t)
		return
	}
	began, urgent := g.Now(), s.begin(t)
	why := asRoutine
	switch {
	case input != nil:
		why = forFacts
	case urgent:
		why = atMoment
	}
	res, err := g.advance(ctx, t.id, input, why)
	if fault.CodeOf(err) == fault.NotFound { // deleted, by Purge or by another process
		g.unfollow(s, t)
		return
	}
	if err != nil {
		failures := s.ended(t, err)
		if ctx.Err() == nil {
			g.log.Warn("checking a watched swap failed", "swap", storage.Label(t.id), "failures", failures, "err", err)
		}
		s.retry(t, g.Now().Add(swap.Backoff(failures)))
		return
	}
	if input != nil {
		g.hints.paid(t.id)
	}
	g.rescheduleFrom(s, res.Record, 0, began)
	if !g.missed(res) {
		s.ended(t, nil)
		return
	}
	// Its place is given back, and it comes again soon.
	if again := swap.Backoff(s.ended(t, errUnanswered) - 1); s.has(t.id) {
		s.soon(t.id, g.Now().Add(again), urgent)
	}
}

// missed reports whether a look has to be made again because it brought no answer.
func (g *Engine) missed(res *Result) bool {
	f := g.Flows[res.Record.Type]
	if f == nil || !unanswered(res.Observation) {
		return false
	}
	row, ok := f.State(res.Record.State)
	return ok && !idle(f, row, res.Record)
}

// errUnanswered is what counts as the failure of a look that brought no answer.
var errUnanswered = errors.New("the chains did not answer")

// unfollow takes a swap off the schedule that was deleted, or is another process's.
func (g *Engine) unfollow(s *schedule, t *turn) {
	if s.gone(t) {
		g.hints.paid(t.id)
		g.census.drop(t.id)
	}
}

// schedule knows whose turn is next. Safe for concurrent use.
type schedule struct {
	mu    sync.Mutex
	at    map[string]*turn
	queue turns
	lines map[lineKey]*line
}

type turn struct {
	id       string
	when     time.Time
	index    int // in the queue, -1 while a pass runs or its place is waited for
	failures int
	urgent   bool  // it was brought forward because something is known to have happened, or a moment has come
	line     *line // nil: it is not known yet what the swap is
}

// line is the turns that were taken of swaps of one type on one chain.
type line struct {
	running int
	waiting []*turn // for a place, first come first
	hurry   []*turn // as waiting: those that are urgent
}

type lineKey struct {
	typ   swap.Type
	chain string
}

// lineOf returns the line of a type and chain. s.mu is held.
func (s *schedule) lineOf(k lineKey) *line {
	if s.lines == nil {
		s.lines = map[lineKey]*line{}
	}
	l := s.lines[k]
	if l == nil {
		l = &line{}
		s.lines[k] = l
	}
	return l
}

// assign puts a swap that is on the schedule into its line.
func (s *schedule) assign(r *swap.Record) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if t := s.at[r.ID]; t != nil && t.line == nil {
		t.line = s.lineOf(lineKey{r.Type, r.Chain})
	}
}

// enter takes a place for a turn and returns its line; nil if there is none: then the turn
// waits, and is given out by leave.
func (s *schedule) enter(t *turn) *line {
	s.mu.Lock()
	defer s.mu.Unlock()
	l := t.line
	if l == nil {
		l = s.lineOf(lineKey{})
	}
	switch {
	case t.urgent && l.running >= parallelPasses+urgentPasses:
		l.hurry = append(l.hurry, t)
		return nil
	case !t.urgent && l.running >= parallelPasses:
		l.waiting = append(l.waiting, t)
		return nil
	}
	l.running++
	return l
}

// begin takes note that a turn begins, and reports whether it is urgent.
func (s *schedule) begin(t *turn) (urgent bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	urgent, t.urgent = t.urgent, false
	return urgent
}

// leave gives a place to the next turn that waits for it, urgent ones first, and returns
// that, or nil.
func (s *schedule) leave(l *line) *turn {
	s.mu.Lock()
	defer s.mu.Unlock()
	if t := s.first(&l.hurry); t != nil {
		return t
	}
	if l.running <= parallelPasses {
		if t := s.first(&l.waiting); t != nil {
			return t
		}
	}
	l.running--
	return nil
}

// first takes the first turn of a queue whose swap was not dropped meanwhile. s.mu is held.
func (s *schedule) first(queue *[]*turn) *turn {
	for len(*queue) > 0 {
		t := (*queue)[0]
		(*queue)[0] = nil
		*queue = (*queue)[1:]
		if s.at[t.id] == t {
			return t
		}
	}
	*queue = nil
	return nil
}

func (s *schedule) set(id string, when time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	t := s.at[id]
	if t == nil {
		t = &turn{id: strings.Clone(id), index: -1} // of the id alone: it holds nothing that was read with it
		s.at[t.id] = t
	}
	s.put(t, when)
}

// soon sets a turn, unless one comes earlier. One that is urgent stays so until it is taken.
func (s *schedule) soon(id string, when time.Time, urgent bool) {
	s.mu.Lock()
	t := s.at[id]
	later := t == nil || t.index < 0 || when.Before(t.when)
	s.mu.Unlock()
	if later {
		s.set(id, when)
	}
	if urgent {
		s.hurry(id)
	}
}

// hurry makes a swap's next turn urgent.
func (s *schedule) hurry(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if t := s.at[id]; t != nil {
		t.urgent = true
	}
}

// ended counts the failures in a row. A swap that changed meanwhile may have had
// another turn at the same time.
func (s *schedule) ended(t *turn, err error) (failures int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	t.failures++
	if err == nil {
		t.failures = 0
	}
	return t.failures
}

func (s *schedule) retry(t *turn, when time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.at[t.id] == t {
		s.put(t, when)
	}
}

// put queues t. s.mu is held.
func (s *schedule) put(t *turn, when time.Time) {
	t.when = when
	if t.index >= 0 {
		heap.Fix(&s.queue, t.index)
		return
	}
	heap.Push(&s.queue, t)
}

// gone takes a swap off the schedule at the end of a turn, unless it has another one:
// then it was stored anew meanwhile.
func (s *schedule) gone(t *turn) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.at[t.id] != t || t.index >= 0 {
		return false
	}
	delete(s.at, t.id)
	return true
}

func (s *schedule) drop(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	t := s.at[id]
	if t == nil {
		return
	}
	delete(s.at, id)
	if t.index >= 0 {
		heap.Remove(&s.queue, t.index)
	}
}

// has reports whether a swap is on the schedule.
func (s *schedule) has(id string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.at[id] != nil
}

// ids are the swaps on the schedule of which some is true.
func (s *schedule) ids(some func(id string) bool) (ids []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for id := range s.at {
		if some(id) {
			ids = append(ids, id)
		}
	}
	return ids
}

// next takes the turn whose time has come, if there is one.
func (s *schedule) next(now time.Time) *turn {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.queue) == 0 || s.queue[0].when.After(now) {
		return nil
	}
	return heap.Pop(&s.queue).(*turn)
}

type turns []*turn

func (q turns) Len() int           { return len(q) }
func (q turns) Less(i, j int) bool { return q[i].when.Before(q[j].when) }
func (q turns) Swap(i, j int)      { q[i], q[j] = q[j], q[i]; q[i].index, q[j].index = i, j }
func (q *turns) Push(x any)        { t := x.(*turn); t.index = len(*q); *q = append(*q, t) }
func (q *turns) Pop() any {
	last := len(*q) - 1
	t := (*q)[last]
	*q, t.index = (*q)[:last], -1
	return t
}
