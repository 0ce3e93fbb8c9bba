package webhook

import (
	"context"
	"errors"
	"iter"
	"math"
	"net/http"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/swapper-go/swapper"
	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/internal/bounds"
	"github.com/swapper-go/swapper/storage"
)

// source is what messages are made from; [*swapper.Client] is one.
type source interface {
	Subscribe(ctx context.Context) iter.Seq2[swapper.Change, error]
	Changes(ctx context.Context, of swapper.Account, since time.Time) iter.Seq2[swapper.Change, error]
	Progress(ctx context.Context, swapID string) (*swapper.Progress, error)
}

var _ source = (*swapper.Client)(nil)

// Sender sends messages to endpoints. It is safe for concurrent use.
type Sender struct {
	Options
	source    source
	endpoints []*endpoint
	running   sync.Mutex
}

// endpoint is an endpoint at work.
type endpoint struct {
	*Sender
	Endpoint
	outbox
	keys  [][]byte
	http  *http.Client
	wake  chan struct{}
	known *bounds.Cache[string, uint64] // versions that have a record, by swap

	looked time.Time // when the store was last read for changes; of run alone

	mu        sync.Mutex
	fresh     map[string]swapper.Change // of this process, by swap
	failures  int                       // in a row
	paused    time.Time                 // no attempt before
	goneSince time.Time                 // the first of an unbroken row of 410
	problem   string                    // of the last attempt, "" if it went well
	givenUp   uint64
}

// knownKept is how many versions an endpoint remembers, so that the store is not asked
// about each change again and again.
const knownKept = 4096

// New returns a sender. It does nothing until Run. The error is a [fault.Error] with
// [fault.InvalidInput] that names the field.
func New(source source, o Options) (*Sender, error) {
	o, err := o.orDefault()
	if err != nil {
		return nil, err
	}
	s := &Sender{Options: o, source: source}
	for _, e := range o.Endpoints {
		at := &endpoint{Sender: s, Endpoint: e, outbox: outbox{o.Store, e.Name}, http: newClient(o.AllowLocal),
			wake: make(chan struct{}, 1), known: bounds.NewCache[string, uint64](knownKept), fresh: map[string]swapper.Change{}}
		for _, text := range e.Secrets {
			key, err := parseSecret(text)
			if err != nil {
				return nil, fault.Invalid("secrets", "of the endpoint %s: %w", e.Name, err)
			}
			at.keys = append(at.keys, key)
		}
		s.endpoints = append(s.endpoints, at)
	}
	return s, nil
}

// Run delivers until ctx ends, and returns its cause. Requests that are under way then
// have five seconds. An endpoint is told what changes from its first Run on, whether or
// not a process runs at that moment. Run must not be called twice at once; other
// processes on the same store may run too.
func (s *Sender) Run(ctx context.Context) error {
	if !s.running.TryLock() {
		return errors.New("the sender is running already")
	}
	defer s.running.Unlock()
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error {
		for c, err := range s.source.Subscribe(ctx) {
			if err != nil {
				return err
			}
			for _, e := range s.endpoints {
				e.told(c)
			}
		}
		return nil // not reached: an error is last
	})
	for _, e := range s.endpoints {
		g.Go(func() error { return e.run(ctx) })
	}
	err := g.Wait()
	for _, e := range s.endpoints {
		e.http.CloseIdleConnections()
	}
	return err
}

// maxFresh bounds what an endpoint is told while it is busy; the rest is read from the
// store.
const maxFresh = 1024

// told takes in a change of this process without waiting for the next look at the store.
func (e *endpoint) told(c swapper.Change) {
	e.mu.Lock()
	if len(e.fresh) < maxFresh {
		e.fresh[c.Swap.SwapID] = c
	}
	e.mu.Unlock()
	e.awake()
}

func (e *endpoint) awake() {
	select {
	case e.wake <- struct{}{}:
	default:
	}
}

// run takes in changes and delivers what is due.
func (e *endpoint) run(ctx context.Context) error {
	var cleared time.Time
	for {
		next, err := e.round(ctx)
		if err != nil && ctx.Err() == nil && !errors.Is(err, swapper.ErrClosed) {
			e.Logger.Warn("delivering webhooks failed; trying again", "endpoint", e.Name, "err", err)
		}
		if now := e.Now(); now.Sub(cleared) >= time.Hour {
			cleared = now
			if err := e.tidy(ctx, now.Add(-e.Keep)); err != nil && ctx.Err() == nil {
				e.Logger.Warn("deleting old records of webhooks failed", "endpoint", e.Name, "err", err)
			}
		}
		wait := e.Poll
		if !next.IsZero() {
			wait = min(max(next.Sub(e.Now()), 0), e.Poll)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-e.wake:
		case <-time.After(wait):
		}
	}
}

// tidy deletes the records of what was done before a moment, and, while the endpoint is gone,
// of what has waited since then.
func (e *endpoint) tidy(ctx context.Context, before time.Time) error {
	at, err := e.standing(ctx)
	if err == nil && at.Gone != "" {
		err = e.clear(ctx, byDue, before)
	}
	return errors.Join(err, e.clear(ctx, byDone, before))
}

// Bounds of a round: so many messages, so many of them at the same time.
const (
	perRound   = 64
	concurrent = 4
)

// round takes in what has changed, delivers some of what is due, and returns when more
// is, zero for not known.
func (e *endpoint) round(ctx context.Context) (next time.Time, err error) {
	gone, err := e.takeIn(ctx)
	if gone || err != nil {
		return time.Time{}, err
	}
	now := e.Now()
	if until := e.pausedUntil(); until.After(now) {
		return until, nil
	}
	at, few := e.atOnce()
	due, next, err := e.due(ctx, now, few)
	if err != nil {
		return time.Time{}, err
	}
	var work errgroup.Group
	work.SetLimit(at)
	for _, r := range due {
		work.Go(func() error { return e.deliver(ctx, r) })
	}
	return next, work.Wait()
}

// overlap is how far back changes are read again: one that was dated earlier may have
// been stored later, by another call or another process whose clock is behind.
const overlap = time.Minute

// takeIn gives what has changed a record: what this process says at once, and every Poll
// whatever the store says. Only then is it noted how far that went: a process that dies
// in between does it again.
func (e *endpoint) takeIn(ctx context.Context) (gone bool, err error) {
	again := false
	at, err := e.stand(ctx, func(s *standing) bool {
		now := e.Now()
		if again = s.Gone != "" && s.Gone != hashOf(e.URL); again { // another URL
			s.resume(now.Add(-e.Keep))
		} else if s.version == 0 { // for the first time
			s.From, s.Since = now.UnixMilli(), now.UnixMilli()
		}
		return again || s.version == 0
	})
	if err == nil && again {
		err = e.hurry(ctx, e.Now())
	}
	if err != nil || at.Gone != "" {
		return at.Gone != "", err
	}
	e.mu.Lock()
	fresh := e.fresh
	e.fresh = map[string]swapper.Change{}
	e.mu.Unlock()
	for _, c := range fresh {
		if err := e.one(ctx, at, c); err != nil {
			return false, err
		}
	}
	if time.Since(e.looked) < e.Poll {
		return false, nil
	}
	until := at.Since
	for c, err := range e.source.Changes(ctx, swapper.Account{}, time.UnixMilli(at.Since).Add(-overlap)) {
		if err == nil {
			until = max(until, c.At.UnixMilli())
			err = e.one(ctx, at, c)
		}
		if err != nil {
			return false, err
		}
	}
	e.looked = time.Now()
	if until == at.Since {
		return false, nil
	}
	_, err = e.stand(ctx, func(s *standing) bool {
		ahead := until > s.Since && s.From == at.From
		s.Since = max(s.Since, until)
		return ahead
	})
	return false, err
}

// one gives a change a record, unless it has one or is not for the endpoint.
func (e *endpoint) one(ctx context.Context, at standing, c swapper.Change) error {
	if known, _ := e.known.Get(c.Swap.SwapID); known >= c.Version || c.At.UnixMilli() < at.From || e.Wants != nil && !e.Wants(c) {
		return nil
	}
	switch err := e.note(ctx, c, e.Now()); {
	case errors.Is(err, errNewer):
		e.Logger.Error("a swap's messages are left to a newer version", "endpoint", e.Name, "swap", storage.Label(c.Swap.SwapID), "err", err)
	case err != nil:
		return err
	}
	e.known.Add(c.Swap.SwapID, c.Version)
	return nil
}

// Enable has an endpoint that is gone told again: what waits, and how the swaps stand that
// have changed meanwhile, as far back as [Options].Keep. One that fails is tried again at
// once, whatever its Retry-After was. It fails with [fault.NotFound] for a name that is
// not configured.
func (s *Sender) Enable(ctx context.Context, name string) error {
	for _, e := range s.endpoints {
		if e.Name != name {
			continue
		}
		_, err := e.stand(ctx, func(s *standing) bool {
			was := s.Gone != ""
			if was {
				s.resume(e.Now().Add(-e.Keep))
			}
			return was
		})
		if err == nil {
			err = e.hurry(ctx, e.Now())
		}
		e.mu.Lock()
		e.failures, e.paused, e.goneSince = 0, time.Time{}, time.Time{}
		e.mu.Unlock()
		e.awake()
		return err
	}
	return fault.New(fault.NotFound, "no endpoint has the name %.64q", name)
}

// State is how an endpoint stands.
type State struct {
	Name     string `json:"name"`
	Waiting  int    `json:"waiting"`  // swaps about which it is still to be told; 1000 stands for that many or more
	Gone     bool   `json:"gone"`     // it answered 410 for an hour, and is left alone
	Failures int    `json:"failures"` // attempts in a row, in this process
	Problem  string `json:"problem"`  // of the last attempt in this process; "": it went well, or there was none
	GivenUp  uint64 `json:"givenUp"`  // messages that were given up, by this process
}

// maxWaiting is as far as [Sender.States] counts: each is read from the store.
const maxWaiting = 1000

// States returns how the endpoints stand, in the order of the options.
func (s *Sender) States(ctx context.Context) ([]State, error) {
	all := make([]State, len(s.endpoints))
	for i, e := range s.endpoints {
		at, err := e.standing(ctx)
		if err != nil {
			return nil, err
		}
		waiting, _, err := e.due(ctx, time.UnixMilli(math.MaxInt64/2), maxWaiting)
		if err != nil {
			return nil, err
		}
		e.mu.Lock()
		all[i] = State{Name: e.Name, Waiting: len(waiting), Gone: at.Gone != "", Failures: e.failures, Problem: e.problem, GivenUp: e.givenUp}
		e.mu.Unlock()
	}
	return all, nil
}
