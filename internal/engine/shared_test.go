package engine

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/internal/bounds"
	"github.com/swapper-go/swapper/internal/fleet"
	"github.com/swapper-go/swapper/internal/swap"
	"github.com/swapper-go/swapper/internal/trial"
	"github.com/swapper-go/swapper/storage"
	"github.com/swapper-go/swapper/storage/storagetest"
)

// database is a store that several processes share.
type database struct {
	*storage.Memory
	*storagetest.MemoryLeases
}

func newDatabase() database { return database{new(storage.Memory), new(storagetest.MemoryLeases)} }

// connection is one process's to a database.
type connection struct {
	database
	cut atomic.Bool
	lie func(owner string, names []string) []string // what Lease answers; nil: the truth
}

var errCut = errors.New("no route to host")

func (c *connection) Update(ctx context.Context, e storage.Entry) error {
	if c.cut.Load() {
		return errCut
	}
	return c.database.Update(ctx, e)
}

func (c *connection) Lease(ctx context.Context, owner string, ttl time.Duration, names ...string) ([]string, error) {
	switch {
	case c.cut.Load():
		return nil, errCut
	case c.lie != nil:
		return c.lie(owner, names), nil
	}
	return c.database.Lease(ctx, owner, ttl, names...)
}

func (c *connection) Leases(ctx context.Context, prefix string) (map[string]string, error) {
	switch {
	case c.cut.Load():
		return nil, errCut
	case c.lie != nil:
		return nil, nil // each believes that it is alone
	}
	return c.database.Leases(ctx, prefix)
}

func (c *connection) Release(ctx context.Context, owner string, names ...string) error {
	if c.cut.Load() {
		return errCut
	}
	return c.database.Release(ctx, owner, names...)
}

// process is one with an engine on a shared store.
type process struct {
	*Engine
	at   *connection
	w    *toyReader
	does *toyExecutor
	end  func()
}

func startProcess(t *testing.T, db database, name string, lie func(string, []string) []string) *process {
	t.Helper()
	p := &process{at: &connection{database: db, lie: lie}, w: &toyReader{}, does: &toyExecutor{answer: func(int64) swap.Outcome { return swap.Outcome{Done: true} }}}
	f := fleet.New(fleet.Options{Leaser: p.at, Owner: name})
	p.Engine = newEngine(t, Config{Store: p.at, Reader: p.w, Executor: p.does, Flows: []*swap.Flow{lamp()}, Fleet: f})
	ctx, cancel := context.WithCancel(t.Context())
	var all sync.WaitGroup
	all.Go(func() { _ = f.Run(ctx) })
	all.Go(func() { _ = p.Run(ctx) })
	p.end = sync.OnceFunc(func() { cancel(); all.Wait(); p.Close() })
	t.Cleanup(p.end)
	return p
}

// kill ends a process that reaches the store no more.
func (p *process) kill() {
	p.at.cut.Store(true)
	p.end()
}

func (p *process) follows() (n int) {
	for _, count := range p.Census().Groups {
		n += count
	}
	return n
}

// Each swap is followed by one process, whichever made it; those of a process that dies
// are taken over within a lease, and those of one that ends at once.
func TestProcessesDivideTheSwaps(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const swaps = 100
		db := newDatabase()
		a, b, c := startProcess(t, db, "a", nil), startProcess(t, db, "b", nil), startProcess(t, db, "c", nil)
		time.Sleep(5 * time.Second)
		for i := range swaps {
			create(t, a.Engine, fmt.Sprint("swap ", i))
		}
		divided := func(when string, all ...*process) {
			t.Helper()
			n := 0
			for _, p := range all {
				if p.follows() == 0 {
					t.Errorf("%s one process follows nothing", when)
				}
				n += p.follows()
				before := p.w.asked.Load()
				time.Sleep(3 * time.Second)
				if asked := p.w.asked.Load() - before; asked < int64(p.follows()) {
					t.Errorf("%s %d questions for %d swaps", when, asked, p.follows())
				}
			}
			if n != swaps {
				t.Errorf("%s %d swaps are followed, want %d", when, n, swaps)
			}
		}
		time.Sleep(5 * time.Second)
		divided("at first", a, b, c)
		b.kill()
		time.Sleep(fleet.DefaultTTL + 3*time.Second)
		divided("after a death", a, c)
		a.end()
		time.Sleep(3 * time.Second)
		divided("after an end", c)
		d := startProcess(t, db, "d", nil)
		time.Sleep(5 * time.Second)
		divided("with another one", c, d)
		c.end()
		d.end()
	})
}

// With leases that everybody holds, and with none for a while, swaps move all the same, and
// what must not happen twice happens once.
func TestLeasesThatLie(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const swaps = 20
		db := newDatabase()
		var nobody atomic.Bool
		all := func(_ string, names []string) []string {
			if nobody.Load() {
				return nil
			}
			return names
		}
		processes := []*process{startProcess(t, db, "a", all), startProcess(t, db, "b", all), startProcess(t, db, "c", all)}
		for _, p := range processes {
			p.does.answer = func(int64) swap.Outcome { time.Sleep(20 * time.Second); return swap.Outcome{Done: true} }
		}
		ask := func(first int) {
			for i := range swaps {
				p, q := processes[i%3], processes[(i+1)%3]
				create(t, p.Engine, fmt.Sprint("swap ", first+i))
				advance(t, q.Engine, fmt.Sprint("swap ", first+i), swap.Reveal{Preimage: chains.Preimage{1}})
			}
		}
		time.Sleep(time.Second)
		ask(0)
		time.Sleep(time.Minute)
		nobody.Store(true)
		time.Sleep(fleet.DefaultTTL)
		for _, p := range processes {
			if n := p.follows(); n != 0 {
				t.Errorf("%d swaps are followed without a lease", n)
			}
		}
		ask(swaps) // calls do not need leases
		time.Sleep(time.Minute)
		nobody.Store(false)
		time.Sleep(fleet.DefaultTTL)
		for _, p := range processes {
			if n := p.follows(); n != 2*swaps {
				t.Errorf("%d swaps are followed, want %d", n, 2*swaps)
			}
			p.w.set(chains.EscrowFact{State: chains.EscrowClaimed}, nil)
		}
		time.Sleep(5 * time.Second)
		posts := int64(0)
		for _, p := range processes {
			posts += p.does.started.Load()
		}
		for i := range 2 * swaps {
			r, err := processes[0].Load(t.Context(), fmt.Sprint("swap ", i))
			if err != nil || r.State != 2 || r.Tried["post"].Outcome != swap.Done || r.Tried["post"].Attempts != 1 || r.Tried["post"].Busy != 0 {
				t.Errorf("%d: state %d, %+v, %v", i, r.State, r.Tried, err)
			}
		}
		if posts != 2*swaps {
			t.Errorf("%d posts, want %d", posts, 2*swaps)
		}
		for _, p := range processes {
			p.end()
		}
	})
}

// A post that a process has begun is left to it as long as it may take, even if it is
// lost; then another process makes it. A store of one process knows at once that it is lost.
func TestLostPostIsMadeAgain(t *testing.T) {
	for name, c := range map[string]struct {
		shared bool
		after  time.Duration
	}{"shared": {true, effectTimeout + effectGrace}, "alone": {false, 0}} {
		inBubble(t, name, func(t *testing.T) {
			mem := new(storage.Memory)
			var store storage.Store = mem
			if c.shared {
				store = database{mem, new(storagetest.MemoryLeases)}
			}
			begin := func(answer func(int64) swap.Outcome) (*Engine, *toyExecutor) {
				p := &toyExecutor{answer: answer}
				return toyEngine(t, store, &toyReader{}, p, lamp()), p
			}
			before, _ := begin(func(int64) swap.Outcome { panic("it has died before") })
			before.Effects.executor = executorFunc(func(ctx context.Context, _ *swap.Record, _ swap.Effect) swap.Outcome {
				<-ctx.Done()
				return swap.Outcome{}
			})
			before.Effects.report = func(context.Context, string, swap.Outcome) {} // it dies
			create(t, before, "a")
			began := time.Now()
			advance(t, before, "a", swap.Reveal{Preimage: chains.Preimage{1}})
			synctest.Wait()
			before.Close()

			var posted time.Time
			after, does := begin(func(int64) swap.Outcome { posted = time.Now(); return swap.Outcome{Refused: true} })
			stop := follow(t, after)
			time.Sleep(2 * time.Minute)
			stop()
			after.Close()
			if does.started.Load() == 0 {
				t.Fatal("nobody posts any more")
			}
			if waited := time.Since(began) - time.Since(posted); does.started.Load() == 1 && (waited < c.after || waited > c.after+5*time.Second) {
				t.Errorf("posted after %v, want %v", waited, c.after)
			}
			if r, err := after.Load(t.Context(), "a"); err != nil || r.Tried["post"].Outcome != "" {
				t.Errorf("%+v, %v: a refusal says nothing about the attempt that was lost", r.Tried, err)
			}
		})
	}
}

// A process that was paused until its attempt was another's does not make it any more.
func TestPausedProcessDoesNotPost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := startProcess(t, newDatabase(), "a", nil)
		var left atomic.Int64
		p.Effects.executor = executorFunc(func(ctx context.Context, _ *swap.Record, _ swap.Effect) swap.Outcome {
			end, _ := ctx.Deadline()
			left.Store(int64(time.Until(end)))
			return swap.Outcome{Done: true}
		})
		mark := p.Effects.mark
		p.Effects.mark = func(ctx context.Context, r *swap.Record, e swap.Effect) (*swap.Record, error) {
			r, err := mark(ctx, r, e)
			time.Sleep(effectTimeout + effectGrace)
			return r, err
		}
		create(t, p.Engine, "a")
		advance(t, p.Engine, "a", swap.Reveal{Preimage: chains.Preimage{1}})
		time.Sleep(2 * time.Minute)
		if left := time.Duration(left.Load()); left >= 0 {
			t.Errorf("%v left", left)
		}
	})
}

// What one process does is heard of in the others, once, with the state before; their
// statuses are of after it.
func TestChangesAreHeardElsewhere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		db := newDatabase()
		create(t, toyEngine(t, db, &toyReader{}, &toyExecutor{}, lamp()), "old")
		time.Sleep(time.Minute)
		a, b := toyEngine(t, db, &toyReader{}, &toyExecutor{}, lamp()), toyEngine(t, db, &toyReader{}, &toyExecutor{}, lamp())
		ctx, stop := context.WithCancel(t.Context())
		var all sync.WaitGroup
		var mu sync.Mutex
		var got []string
		all.Go(func() {
			_ = b.Subscribe(ctx, func(c Change) bool {
				mu.Lock()
				defer mu.Unlock()
				got = append(got, fmt.Sprint(c.Record.ID, " ", c.From, ">", c.Record.State))
				return true
			})
		})
		heard := func(want ...string) {
			t.Helper()
			time.Sleep(wideEvery + 2*time.Second)
			mu.Lock()
			defer mu.Unlock()
			if fmt.Sprint(got) != fmt.Sprint(want) {
				t.Errorf("heard %v, want %v", got, want)
			}
			got = nil
		}
		heard()
		r := create(t, a, "a")
		heard("a 0>0")
		advance(t, b, "a", nil)
		r.Expiry = swap.At(time.Now())
		next := r.Clone()
		next.State = 2
		trial.Do(t, a.write(ctx, r, next, nil))
		heard("a 0>2")
		create(t, b, "b") // its own, not a second time when it is read again
		heard("b 0>0")

		// By a clock that is behind, and stored late.
		late := newToy("late")
		late.Changed = swap.At(time.Now().Add(-wideBack + wideEvery + 5*time.Second))
		body, err := late.Encode()
		if err == nil {
			err = db.Create(ctx, storage.Entry{ID: "late", Body: body, Keys: []storage.Key{{Index: swap.ByChange, Order: int64(late.Changed)}}})
		}
		if err != nil {
			t.Fatal(err)
		}
		heard("late 0>0")
		stop()
		create(t, a, "c")
		time.Sleep(time.Minute)
		if len(got) != 0 {
			t.Errorf("heard %v after the end", got)
		}
	})
}

// A swap that was stored before there were shards is followed, and gets its shard.
func TestSwapsOfBeforeShardsAreFollowed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		db := newDatabase()
		r := newToy("a")
		body, err := r.Encode()
		if err == nil {
			err = db.Create(t.Context(), storage.Entry{ID: "a", Body: body, Keys: []storage.Key{{Index: swap.ByWatch}}})
		}
		if err != nil {
			t.Fatal(err)
		}
		p := startProcess(t, db, "a", nil)
		time.Sleep(5 * time.Second)
		if p.follows() != 1 {
			t.Error("it is not followed")
		}
		advance(t, p.Engine, "a", swap.Reveal{Preimage: chains.Preimage{1}})
		found := 0
		for _, err := range db.Find(t.Context(), storage.Query{Index: swap.ByWatch, Value: bounds.ShardText(bounds.Shard("a"))}) {
			if err != nil {
				t.Fatal(err)
			}
			found++
		}
		if found != 1 {
			t.Error("it has no shard")
		}
	})
}

// A hint that came to a process which does not follow the swap is served there.
func TestHintForAnothersSwap(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := startProcess(t, newDatabase(), "a", func(string, []string) []string { return nil })
		create(t, p.Engine, "a")
		p.hints.add("a")
		time.Sleep(time.Minute)
		if n := p.w.asked.Load(); n != 1 || p.follows() != 0 {
			t.Errorf("looked at %d times, %d followed; want once, and not followed", n, p.follows())
		}
	})
}
