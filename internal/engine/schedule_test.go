package engine

import (
	"context"
	"errors"
	"iter"
	"log/slog"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/internal/bounds"
	"github.com/swapper-go/swapper/internal/swap"
	"github.com/swapper-go/swapper/internal/trial"
	"github.com/swapper-go/swapper/storage"
)

// A hint brings a turn forward and never puts it off; a turn that is being taken
// gets another one.
func TestTurnIsBroughtForward(t *testing.T) {
	now := time.Unix(1_800_000_000, 0)
	for name, c := range map[string]struct {
		set, soon time.Duration
		want      time.Duration
	}{
		"it was later":   {time.Hour, time.Second, time.Second},
		"it was earlier": {time.Second, time.Hour, time.Second},
	} {
		s := &schedule{at: map[string]*turn{}}
		s.set("before", now) // so that the turn is not the first of the queue
		s.set("a", now.Add(c.set))
		s.soon("a", now.Add(c.soon), false)
		if got := s.at["a"].when.Sub(now); got != c.want || len(s.queue) != 2 {
			t.Errorf("%s: in %v, %d turns; want in %v, 2 turns", name, got, len(s.queue), c.want)
		}
	}
	s := &schedule{at: map[string]*turn{}}
	s.soon("a", now, false)
	taken := s.next(now)
	if taken == nil || taken.id != "a" {
		t.Fatalf("a swap that was not on the schedule has no turn: %+v", taken)
	}
	s.soon("a", now.Add(time.Second), true)
	if s.next(now) != nil {
		t.Error("the turn comes too early")
	}
	if next := s.next(now.Add(time.Second)); next == nil || next.id != "a" {
		t.Error("a hint during a turn gives no other one")
	}
}

// A turn is in the queue once, wherever in it and however often it is set.
func TestTurnIsQueuedOnce(t *testing.T) {
	now := time.Unix(1_800_000_000, 0)
	s := &schedule{at: map[string]*turn{}}
	for i := range 3 {
		s.set("first", now.Add(time.Duration(i)*time.Second))
		s.set("second", now.Add(time.Minute-time.Duration(i)*time.Second))
	}
	if len(s.queue) != 2 {
		t.Fatalf("%d turns of two swaps", len(s.queue))
	}
	if s.next(now.Add(time.Second)) != nil {
		t.Error("the turn stands where it was before")
	}
	s.drop("first") // at the head of the queue
	s.drop("first")
	s.drop("unknown")
	if next := s.next(now.Add(time.Hour)); next == nil || next.id != "second" {
		t.Errorf("the turn is %+v, want the second swap's", next)
	}
	if s.next(now.Add(time.Hour)) != nil {
		t.Error("a dropped swap has a turn")
	}
}

// A swap whose pass failed has another turn, unless it has left the schedule
// meanwhile; failures in a row are counted.
func TestFailedTurnIsTakenAgain(t *testing.T) {
	now := time.Unix(1_800_000_000, 0)
	s := &schedule{at: map[string]*turn{}}
	s.set("a", now)
	failed := s.next(now)
	for want := 1; want <= 3; want++ {
		if got := s.ended(failed, errors.New("the store is down")); got != want {
			t.Errorf("%d failures in a row, want %d", got, want)
		}
	}
	s.retry(failed, now.Add(time.Second))
	again := s.next(now.Add(time.Second))
	if again != failed {
		t.Fatal("no other turn after a failure")
	}
	if got := s.ended(again, nil); got != 0 {
		t.Errorf("%d failures after a success", got)
	}
	s.drop("a")
	s.retry(again, now)
	if s.next(now.Add(time.Hour)) != nil {
		t.Error("a swap that has left the schedule has a turn")
	}
}

// A swap that was deleted leaves the schedule with its next turn, and nothing is said
// of it; one that was stored anew meanwhile stays.
func TestDeletedSwapHasNoTurns(t *testing.T) {
	now := time.Unix(1_800_000_000, 0)
	var said strings.Builder
	g := newEngine(t, Config{Flows: []*swap.Flow{lamp()}, Log: slog.New(slog.NewTextHandler(&said, nil))})
	r := create(t, g, "a")
	s := &schedule{at: map[string]*turn{}}
	s.set("a", now)
	g.hints.add("a")
	trial.Do(t, g.Store.Delete(t.Context(), "a", r.Version))
	g.follow(t.Context(), s, s.next(now))
	if len(s.at) != 0 || len(s.queue) != 0 || g.hints.input("a") != nil || said.Len() != 0 {
		t.Errorf("%d turns, hints %v, %s", len(s.at), g.hints.owed, said.String())
	}
	s.set("a", now)
	before := s.next(now)
	s.set("a", now.Add(time.Minute))
	g.follow(t.Context(), s, before)
	if next := s.next(now.Add(time.Minute)); next == nil || next.id != "a" {
		t.Error("a swap that was stored anew has no turn")
	}
}

// Only what can still change is followed; a swap of a type that is not configured
// is left alone.
func TestOnlyWatchedSwapsHaveTurns(t *testing.T) {
	g := toyEngine(t, new(storage.Memory), &toyReader{}, &toyExecutor{}, lamp())
	for name, c := range map[string]struct {
		change func(r *swap.Record)
		want   bool
	}{
		"watched":         {func(*swap.Record) {}, true},
		"finished":        {func(r *swap.Record) { r.State = 2 }, false},
		"settled":         {func(r *swap.Record) { r.Settled = true }, false},
		"unknown state":   {func(r *swap.Record) { r.State = 99 }, false},
		"not a type here": {func(r *swap.Record) { r.Type = swap.FromBTCLNAuto }, false},
	} {
		s := &schedule{at: map[string]*turn{}}
		if r := newToy("a"); c.want {
			g.reschedule(s, r, 0)
		} else {
			if r.Type = swap.ToBTC; name != "not a type here" {
				g.reschedule(s, r, 0) // it was followed before
			}
			c.change(r)
			g.reschedule(s, r, 0)
		}
		if got := s.at["a"] != nil; got != c.want || len(s.queue) != len(s.at) {
			t.Errorf("%s: has a turn: %v, want %v", name, got, c.want)
		}
	}
}

// A closed engine follows nothing.
func TestClosedEngineDoesNotRun(t *testing.T) {
	g := toyEngine(t, new(storage.Memory), &toyReader{}, &toyExecutor{}, lamp())
	create(t, g, "a")
	advance(t, g, "a", nil)
	g.Close()
	if err := g.Run(t.Context()); !errors.Is(err, ErrClosed) {
		t.Errorf("Run: %v, want that it is closed", err)
	}
	if _, err := g.Advance(t.Context(), "a", swap.Look{}); !errors.Is(err, ErrClosed) {
		t.Errorf("a pass: %v, want that it is closed", err)
	}
}

// faltering is a store whose first lists of watched swaps fail, and whose list
// holds an entry that cannot be read.
type faltering struct {
	storage.Store
	mu    sync.Mutex
	fails int
	lists int
}

func (s *faltering) Find(ctx context.Context, q storage.Query) iter.Seq2[storage.Entry, error] {
	if q.Index != swap.ByWatch && q.Index != swap.ByEvent {
		return s.Store.Find(ctx, q)
	}
	return func(yield func(storage.Entry, error) bool) {
		s.mu.Lock()
		s.lists++
		down := s.fails > 0
		if down {
			s.fails--
		}
		s.mu.Unlock()
		if down {
			yield(storage.Entry{}, errors.New("the disk is gone"))
			return
		}
		if !yield(storage.Entry{ID: "damaged"}, errors.New("a bad checksum")) {
			return
		}
		s.Store.Find(ctx, q)(yield)
	}
}

func (s *faltering) Get(ctx context.Context, id string) (storage.Entry, error) {
	if id == "damaged" {
		return storage.Entry{}, errors.New("a bad checksum")
	}
	return s.Store.Get(ctx, id)
}

// After a restart the watched swaps are read until the store has told them all,
// and then no more; an entry that cannot be read keeps none of the others back.
func TestWatchedSwapsAreReadUntilTheStoreAnswers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		mem := new(storage.Memory)
		before := toyEngine(t, mem, &toyReader{}, &toyExecutor{}, lamp())
		create(t, before, "a")
		before.Close()
		w := &toyReader{}
		w.set(chains.EscrowFact{State: chains.EscrowClaimed}, nil)
		store := &faltering{Store: mem, fails: 2}
		g := toyEngine(t, store, w, &toyExecutor{}, lamp())
		follow(t, g)
		time.Sleep(50 * time.Second)
		if r, err := g.Load(t.Context(), "a"); err != nil || r.State != 2 {
			t.Errorf("state %d, %v; want 2: it was not followed after the store came back", r.State, err)
		}
		store.mu.Lock()
		if want := 2 + bounds.Shards + 1; store.lists != want { // the shards, and what is older
			t.Errorf("the lists were read %d times, want %d: twice in vain, and each once", store.lists, want)
		}
		store.mu.Unlock()
	})
}

// An entry that cannot be read keeps a hint from none of the swaps after it.
func TestHintPassesAnUnreadableEntry(t *testing.T) {
	w := &toyReader{}
	w.set(chains.EscrowFact{State: chains.EscrowClaimed}, nil)
	g := toyEngine(t, &faltering{Store: new(storage.Memory)}, w, &toyExecutor{}, lamp())
	hash := make([]byte, 32)
	hash[0] = 7
	r := newToy("a")
	r.Escrow = &swap.EscrowPart{Real: &chains.Escrow{Hash: hash}}
	add(t, g, r)
	if err := g.Look(t.Context(), "CITREA", chains.Hint{EscrowHash: hash}); err != nil {
		t.Errorf("the hint came to nothing: %v", err)
	}
	if r, err := g.Load(t.Context(), "a"); err != nil || r.State != 2 {
		t.Errorf("state %d, %v; want 2", r.State, err)
	}
}

// A hint is owed to the swap whose pass failed alone, to each once, and until a
// pass has been made for it.
func TestHintIsOwedUntilItIsPaid(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &refusing{Store: new(storage.Memory)}
		w := &toyReader{}
		w.set(chains.EscrowFact{State: chains.EscrowClaimed}, nil)
		g := toyEngine(t, store, w, &toyExecutor{}, lamp())
		for _, id := range []string{"well", "bad"} {
			create(t, g, id)
		}
		store.refuse("bad")
		for _, id := range []string{"well", "bad", "bad", "deleted"} {
			if err := g.lookAt(t.Context(), id); err != nil {
				t.Errorf("%s: %v", id, err)
			}
		}
		for id, want := range map[string]bool{"well": false, "bad": true, "deleted": false} {
			if got := g.hints.input(id) != nil; got != want {
				t.Errorf("%s: a pass is owed: %v, want %v", id, got, want)
			}
		}
		if len(g.hints.unscheduled) != 1 {
			t.Errorf("%d turns for one swap", len(g.hints.unscheduled))
		}
		store.refuse("")
		s := &schedule{at: map[string]*turn{}}
		g.hints.schedule(s, g.Now())
		next := s.next(g.Now().Add(time.Hour))
		if next == nil || next.id != "bad" {
			t.Fatalf("the turn is %+v, want the swap whose pass failed", next)
		}
		g.hints.schedule(s, g.Now())
		if s.next(g.Now().Add(time.Hour)) != nil {
			t.Error("one failure gives more turns than one")
		}
		g.follow(t.Context(), s, next)
		if r, err := g.Load(t.Context(), "bad"); err != nil || r.State != 2 {
			t.Errorf("state %d, %v; want 2", r.State, err)
		}
		if g.hints.input("bad") != nil {
			t.Error("the pass was made and is still owed")
		}

		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		create(t, g, "slow")
		w.delay = time.Second // a pass that has ended would count
		if err := g.lookAt(ctx, "slow"); err == nil {
			t.Error("a hint that was cut off counts as looked at")
		}
	})
}

// Swaps that change while the engine runs are followed, not the first one alone.
func TestEveryNewSwapIsFollowed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &toyReader{}
		w.set(chains.EscrowFact{State: chains.EscrowClaimed}, nil)
		g := toyEngine(t, new(storage.Memory), w, &toyExecutor{}, lamp())
		follow(t, g)
		for _, id := range []string{"a", "b", "c"} {
			time.Sleep(time.Second)
			create(t, g, id)
		}
		time.Sleep(time.Minute)
		for _, id := range []string{"a", "b", "c"} {
			if r, err := g.Load(t.Context(), id); err != nil || r.State != 2 {
				t.Errorf("%s: state %d, %v; want 2", id, r.State, err)
			}
		}
	})
}

// purges is a store that counts how often it is asked for what may be deleted, which
// it answers after a while, and for the watched swaps.
type purges struct {
	storage.Store
	mu           sync.Mutex
	takes        time.Duration
	asked, going int
	together     bool
	watched      int // how often the watched swaps were asked for
}

func (s *purges) Find(ctx context.Context, q storage.Query) iter.Seq2[storage.Entry, error] {
	if q.Index != swap.ByPurge {
		s.mu.Lock()
		s.watched++
		s.mu.Unlock()
		return s.Store.Find(ctx, q)
	}
	return func(yield func(storage.Entry, error) bool) {
		s.mu.Lock()
		s.asked++
		s.going++
		s.together = s.together || s.going > 1
		s.mu.Unlock()
		time.Sleep(s.takes)
		s.mu.Lock()
		s.going--
		s.mu.Unlock()
		s.Store.Find(ctx, q)(yield)
	}
}

// Expired quotes are deleted once a minute, and never twice at a time; a store that
// has told the watched swaps is not asked for them again.
func TestRunPurgesOnceAMinute(t *testing.T) {
	for takes, want := range map[time.Duration]int{0: 6, 90 * time.Second: 3} {
		synctest.Test(t, func(t *testing.T) {
			store := &purges{Store: new(storage.Memory), takes: takes}
			g := toyEngine(t, store, &toyReader{}, &toyExecutor{}, lamp())
			stop := follow(t, g)
			time.Sleep(5*time.Minute + 30*time.Second)
			stop()
			g.Close()
			if store.asked != want || store.together {
				t.Errorf("a purge of %v: %d in five and a half minutes, two at a time: %v; want %d, one at a time", takes, store.asked, store.together, want)
			}
			if want := bounds.Shards + 1; store.watched != want { // the shards, and what is older
				t.Errorf("the watched swaps were read %d times, want %d", store.watched, want)
			}
		})
	}
}

// Turns of one type on one chain wait for each other when there are very many, in their
// order, and hold up no others; those that were dropped meanwhile have none.
func TestLinesHoldUpNoOthers(t *testing.T) {
	now := time.Unix(1_800_000_000, 0)
	s := &schedule{at: map[string]*turn{}}
	of := func(id, chain string) *turn {
		r := newToy(id)
		r.Chain = chain
		s.set(id, now)
		s.assign(r)
		return s.next(now)
	}
	var full *line
	for i := range parallelPasses {
		if full = s.enter(of(strconv.Itoa(i), "CITREA")); full == nil {
			t.Fatalf("turn %d has no place", i)
		}
	}
	for _, id := range []string{"late", "dropped", "later"} {
		if s.enter(of(id, "CITREA")) != nil {
			t.Fatal("there are more places than there should be")
		}
	}
	s.drop("dropped")
	if s.enter(of("elsewhere", "SOLANA")) == nil {
		t.Error("a full line holds up another chain's")
	}
	s.set("unknown", now)
	if s.enter(s.next(now)) == nil {
		t.Error("a full line holds up a swap of which nothing is known yet")
	}
	for _, want := range []string{"late", "later"} {
		if next := s.leave(full); next == nil || next.id != want {
			t.Fatalf("the place is given to %+v, want %s", next, want)
		}
	}
	if next := s.leave(full); next != nil {
		t.Errorf("the place is given to %+v, want nobody", next)
	}
	if s.enter(of("again", "CITREA")) != full {
		t.Error("a free place is not taken")
	}
}
