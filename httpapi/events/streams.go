package events

import (
	"context"
	_ "embed" // for the description
	"errors"
	"fmt"
	"iter"
	"maps"
	"runtime/debug"
	"slices"
	"sync"
	"time"

	"github.com/swapper-go/swapper"
	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/httpapi"
	"github.com/swapper-go/swapper/httpapi/limit"
	"github.com/swapper-go/swapper/storage"
)

// source is what streams are made from; [*swapper.Client] is one.
type source interface {
	Subscribe(ctx context.Context) iter.Seq2[swapper.Change, error]
	Changes(ctx context.Context, of swapper.Account, since time.Time) iter.Seq2[swapper.Change, error]
	Accounts(signer, chainID string) ([]swapper.Account, error)
	Progress(ctx context.Context, swapID string) (*swapper.Progress, error)
	ListPendingSwaps(ctx context.Context, in swapper.ListSwapsInput) ([]swapper.ListSwapOutput, error)
}

var _ source = (*swapper.Client)(nil)

// Streams serves streams of events. It is safe for concurrent use.
type Streams struct {
	source source
	Options
	ctx   context.Context
	stop  context.CancelFunc
	slots chan struct{} // of looks at the same time
	work  sync.WaitGroup

	inside *limit.Crowds // the streams

	mu        sync.Mutex
	closed    bool
	bySwap    map[string]set
	byAccount map[swapper.Account]set
	watched   map[swapper.Account]*watch
	looks     map[string]*look
}

// watch is an account of which somebody wants to know something.
type watch struct {
	streams int
	since   time.Time         // the poll asks for what was stored from then on
	known   map[string]uint64 // versions that were noted, by swap; as far back as since
}

type set map[*stream]struct{}

// look is one swap that is being looked at, or is to be looked at again later.
type look struct {
	account        swapper.Account
	running, again bool
	later          *time.Timer
	failures       int
	print          string // of what was seen last
	since          time.Time
}

// parallel is how many swaps are looked at at the same time.
const parallel = 16

// lookTime bounds one look; the client answers in half of it.
const lookTime = 20 * time.Second

// New returns the streams of a source. They follow it until Close.
func New(source source, o Options) *Streams {
	ctx, stop := context.WithCancel(context.Background())
	o = o.orDefault()
	s := &Streams{source: source, Options: o, ctx: ctx, stop: stop, slots: make(chan struct{}, parallel),
		inside: limit.NewCrowds(limit.Places{Total: o.MaxStreams, Each: o.MaxPerCaller}), bySwap: map[string]set{}, byAccount: map[swapper.Account]set{}, watched: map[swapper.Account]*watch{}, looks: map[string]*look{}}
	s.work.Go(s.follow)
	s.work.Go(s.poll)
	return s
}

// item describes the operation.
//
//go:embed subscribe.json
var item []byte

// Operation serves the streams as the operation subscribe beside those of a service.
func (s *Streams) Operation() httpapi.Operation {
	return httpapi.Operation{Name: "subscribe", Handler: s, Item: item}
}

// Close ends all streams and refuses new ones. Their readers connect again elsewhere,
// or when the server is back. http.Server.Shutdown waits for streams: register Close
// with RegisterOnShutdown. It may be called more than once.
func (s *Streams) Close() {
	s.mu.Lock()
	s.closed = true
	for _, l := range s.looks {
		if l.later != nil {
			l.later.Stop()
		}
	}
	s.mu.Unlock()
	s.stop()
	s.work.Wait()
}

// follow looks at the swaps that this process changes.
func (s *Streams) follow() {
	for c, err := range s.source.Subscribe(s.ctx) {
		switch {
		case err == nil:
			s.noted(c)
		case s.ctx.Err() == nil && !errors.Is(err, swapper.ErrClosed):
			s.Logger.Error("the stream of changes ended; events come by polling alone", "err", err)
		}
	}
}

// poll looks at the swaps that other processes change in the same store.
func (s *Streams) poll() {
	tick := time.NewTicker(s.Poll)
	defer tick.Stop()
	for {
		select {
		case <-s.ctx.Done():
			return
		case <-tick.C:
		}
		s.mu.Lock()
		watched := slices.Collect(maps.Keys(s.watched))
		s.mu.Unlock()
		for _, a := range watched {
			s.pollAccount(a)
		}
	}
}

// pollAccount looks at each version of a swap once, whoever stored it.
func (s *Streams) pollAccount(a swapper.Account) {
	s.mu.Lock()
	w := s.watched[a]
	var since time.Time
	if w != nil {
		since = w.since
	}
	s.mu.Unlock()
	if w == nil {
		return
	}
	next, seen := since, map[string]uint64{}
	for c, err := range s.source.Changes(s.ctx, a, since) {
		if err != nil {
			if s.ctx.Err() == nil && !errors.Is(err, swapper.ErrClosed) {
				s.Logger.Warn("asking the store for changes failed", "err", err)
			}
			return
		}
		if at := c.At.Add(-overlap); at.After(next) {
			next = at
		}
		seen[c.Swap.SwapID] = c.Version
		s.noted(c)
	}
	s.mu.Lock()
	w.since = next
	maps.DeleteFunc(w.known, func(id string, _ uint64) bool { return seen[id] == 0 }) // older than the next poll asks for
	s.mu.Unlock()
}

// noted takes a change in, and looks at the swap if somebody wants to know and that
// version was not noted before.
func (s *Streams) noted(c swapper.Change) {
	s.mu.Lock()
	defer s.mu.Unlock()
	w := s.watched[c.Account]
	if w == nil || w.known[c.Swap.SwapID] >= c.Version {
		return
	}
	w.known[c.Swap.SwapID] = c.Version
	if len(s.bySwap[c.Swap.SwapID]) > 0 || len(s.byAccount[c.Account]) > 0 {
		s.lookLocked(c.Swap.SwapID, c.Account)
	}
}

// lookLocked begins a look at a swap, or has the one that is running repeated.
func (s *Streams) lookLocked(id string, of swapper.Account) {
	l := s.looks[id]
	if l == nil {
		l = &look{account: of}
		s.looks[id] = l
	}
	if l.later != nil {
		l.later.Stop()
		l.later = nil
	}
	switch {
	case s.closed:
	case l.running:
		l.again = true
	default:
		l.running, l.again = true, false
		s.work.Go(func() { s.look(id, l) })
	}
}

func (s *Streams) look(id string, l *look) {
	for {
		select {
		case s.slots <- struct{}{}:
		case <-s.ctx.Done():
			return
		}
		p, err := s.progress(s.ctx, id)
		<-s.slots
		if s.looked(id, l, p, err) {
			return
		}
	}
}

// looked hands out what was seen, and reports whether the look has ended.
func (s *Streams) looked(id string, l *look, p *swapper.Progress, err error) bool {
	var e event
	if err == nil {
		e, err = encode(p)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if l.again && !s.closed {
		l.again = false
		if err != nil {
			return false
		}
		s.offer(e, p.Account)
		return false
	}
	l.running = false
	var wait time.Duration
	switch {
	case err == nil:
		l.failures = 0
		s.offer(e, p.Account)
		if l.print != e.place.print {
			l.print, l.since = e.place.print, time.Now()
		}
		wait = s.again(p.Status, time.Since(l.since))
	case fault.CodeOf(err) == fault.NotFound:
		for st := range s.bySwap[id] {
			st.end()
		}
	default:
		l.failures++
		wait = min(s.Poll<<min(l.failures, 8), 10*time.Minute)
		if s.ctx.Err() == nil {
			s.Logger.Warn("a swap could not be looked at for its events", "swap", storage.Label(id), "failures", l.failures, "err", err)
		}
	}
	if wait == 0 || s.closed || !s.wanted(id, l) {
		delete(s.looks, id)
		return true
	}
	l.later = time.AfterFunc(wait, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.looks[id] == l && !l.running {
			if l.later = nil; !s.wanted(id, l) {
				delete(s.looks, id)
				return
			}
			s.lookLocked(id, l.account)
		}
	})
	return true
}

// wanted reports whether somebody listens to a swap.
func (s *Streams) wanted(id string, l *look) bool {
	return len(s.bySwap[id]) > 0 || len(s.byAccount[l.account]) > 0
}

// again is after what time a swap that somebody listens to is looked at without a change
// of its record, 0 for never: as often as a wallet would ask, less often when nothing has
// been seen to happen for long. In the background unpaid quotes are looked at too seldom
// for somebody who waits, and confirmations are counted, not stored.
func (s *Streams) again(status *swapper.GetSwapStatusOutput, quiet time.Duration) time.Duration {
	if status.IsFinished {
		return 0
	}
	wait := max(s.Poll, min(quiet/20, time.Minute))
	if a, ok := status.CurrentAction.(*swapper.Wait); ok {
		wait = max(wait, a.PollTime)
	}
	return wait
}

func (s *Streams) offer(e event, of swapper.Account) {
	for st := range s.bySwap[e.swap] {
		st.offer(e)
	}
	for st := range s.byAccount[of] {
		st.offer(e)
	}
}

// progress asks for how a swap stands. A panic on the way is an error.
func (s *Streams) progress(ctx context.Context, id string) (p *swapper.Progress, err error) {
	defer func() {
		if r := recover(); r != nil {
			p, err = nil, fmt.Errorf("panic: %v\n%s", r, debug.Stack())
		}
	}()
	ctx, cancel := context.WithTimeout(ctx, lookTime)
	defer cancel()
	return s.source.Progress(ctx, id)
}
