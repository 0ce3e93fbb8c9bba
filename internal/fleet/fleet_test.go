package fleet

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/swapper-go/swapper/internal/bounds"
	"github.com/swapper-go/swapper/internal/trial"
	"github.com/swapper-go/swapper/storage"
	"github.com/swapper-go/swapper/storage/storagetest"
)

// process is one that runs in a test.
type process struct {
	*Fleet
	leaser *link
	kill   func() // without leaving
	end    func() // and wait
}

// link is a process's connection to the store.
type link struct {
	storage.Leaser
	mu     sync.Mutex
	fails  error
	writes int
}

func (l *link) err() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.fails
}

func (l *link) cut(err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.fails = err
}

func (l *link) Lease(ctx context.Context, owner string, ttl time.Duration, names ...string) ([]string, error) {
	if err := l.err(); err != nil {
		return nil, err
	}
	l.mu.Lock()
	l.writes++
	l.mu.Unlock()
	return l.Leaser.Lease(ctx, owner, ttl, names...)
}

func (l *link) Release(ctx context.Context, owner string, names ...string) error {
	if err := l.err(); err != nil {
		return err
	}
	return l.Leaser.Release(ctx, owner, names...)
}

func (l *link) Leases(ctx context.Context, prefix string) (map[string]string, error) {
	if err := l.err(); err != nil {
		return nil, err
	}
	return l.Leaser.Leases(ctx, prefix)
}

func start(t *testing.T, store storage.Leaser, name string) process {
	return startFor(t, store, name, DefaultTTL)
}

// startFor starts one with leases of another time.
func startFor(t *testing.T, store storage.Leaser, name string, ttl time.Duration) process {
	ctx, cancel := context.WithCancel(t.Context())
	l := &link{Leaser: store}
	f := New(Options{Leaser: l, Owner: name, TTL: ttl})
	done := make(chan struct{})
	go func() {
		defer close(done)
		if err := f.Run(ctx); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v", name, err)
		}
	}()
	end := func() { cancel(); <-done }
	t.Cleanup(end)
	return process{Fleet: f, leaser: l, end: end, kill: func() { l.cut(errors.New("killed")); end() }}
}

// divided demands that each shard is exactly one's, and that nobody has none.
func divided(t *testing.T, all ...process) {
	t.Helper()
	owners := make([]int, bounds.Shards)
	for _, p := range all {
		for _, n := range p.Shards() {
			owners[n]++
		}
		if len(p.Shards()) == 0 {
			t.Errorf("%s has nothing to do", p.Owner())
		}
		if p.Members() != len(all) {
			t.Errorf("%s knows of %d processes, not %d", p.Owner(), p.Members(), len(all))
		}
	}
	for n, owners := range owners {
		if owners != 1 {
			t.Errorf("shard %d is followed by %d", n, owners)
		}
	}
}

func TestOneAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := start(t, &storagetest.MemoryLeases{}, "a")
		synctest.Wait()
		divided(t, p)
		for range 600 { // ten minutes
			time.Sleep(time.Second)
			if len(p.Shards()) != bounds.Shards {
				t.Fatal("what nobody else wants was lost")
			}
		}
		p.end()
		if p.leaser.writes > 125 {
			t.Errorf("renewed %d times in ten minutes", p.leaser.writes)
		}
	})
}

// Nobody follows a swap only after a death, and then no longer than a lease and a round.
func TestComeAndGo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &storagetest.MemoryLeases{}
		a := start(t, store, "a")
		synctest.Wait()
		b := start(t, store, "b")
		time.Sleep(4 * time.Second)
		divided(t, a, b)
		c := start(t, store, "c")
		time.Sleep(4 * time.Second)
		divided(t, a, b, c)

		b.end() // it gives up what it has
		time.Sleep(2 * time.Second)
		divided(t, a, c)

		before := a.Shards()
		c.kill()
		time.Sleep(DefaultTTL/2 - time.Second)
		if !slices.Equal(before, a.Shards()) {
			t.Error("work of a process was taken whose lease has not ended")
		}
		time.Sleep(DefaultTTL/2 + 2*time.Second)
		divided(t, a)

		d := start(t, store, "d")
		time.Sleep(4 * time.Second)
		divided(t, a, d)
	})
}

// Two that die one after the other: what the first one had is followed again once its lease is
// over, though it should be the second one's, which nobody knows to be dead yet.
func TestTwoDeaths(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &storagetest.MemoryLeases{}
		a, b, c := start(t, store, "a"), start(t, store, "b"), start(t, store, "c")
		time.Sleep(4 * time.Second)
		divided(t, a, b, c)
		orphans := c.Shards()
		c.kill()
		time.Sleep(DefaultTTL / 3 * 2)
		b.kill()
		time.Sleep(DefaultTTL/3 + (patience+2)*a.tick())
		if a.Members() != 2 {
			t.Fatalf("%d processes are known, want the dead one too", a.Members())
		}
		for _, n := range orphans {
			if !a.HoldsShard(n) {
				t.Errorf("shard %d is followed by nobody", n)
			}
		}
		d := start(t, store, "d")
		time.Sleep(DefaultTTL + 4*time.Second)
		divided(t, a, d)
	})
}

// A process without the store lets go before another takes over, and comes back.
func TestCutOff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &storagetest.MemoryLeases{}
		a, b := start(t, store, "a"), start(t, store, "b")
		time.Sleep(4 * time.Second)
		divided(t, a, b)
		changed := a.Changed()
		a.leaser.cut(errors.New("no route to host"))
		for range 200 {
			time.Sleep(100 * time.Millisecond)
			for _, n := range a.Shards() {
				if b.HoldsShard(n) {
					t.Fatalf("two have shard %d", n)
				}
			}
		}
		select {
		case <-changed:
		default:
			t.Error("nobody was told that the work is lost")
		}
		divided(t, b)
		a.leaser.cut(nil)
		time.Sleep(4 * time.Second)
		divided(t, a, b)
	})
}

// What is held is judged by the clocks of the process: one that was paused does not believe in
// its leases when it goes on, nor one whose machine slept and whose monotonic clock
// stood still, nor one whose clock was set back.
func TestPaused(t *testing.T) {
	base := time.Now()
	f := New(Options{Leaser: &storagetest.MemoryLeases{}, Owner: "a", Now: func() time.Time { return base }})
	var r rounds
	trial.Do(t, f.round(t.Context(), &r))
	wall := func(d time.Duration) time.Time { return base.Round(0).Add(d) } // without a monotonic reading
	for name, c := range map[string]struct {
		now  time.Time
		want bool
	}{
		"at once":               {base, true},
		"before its end":        {base.Add(f.trust() - 1), true},
		"at its end":            {base.Add(f.trust()), false},
		"asleep for a minute":   {wall(time.Minute), false},
		"the clock was changed": {wall(-time.Hour), true},
	} {
		f.now = func() time.Time { return c.now }
		if got := f.HoldsShard(3); got != c.want {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}

func TestJob(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &storagetest.MemoryLeases{}
		a, b := start(t, store, "a"), start(t, store, "b")
		time.Sleep(4 * time.Second)
		var mu sync.Mutex
		var log []string
		say := func(s string) { mu.Lock(); log = append(log, s); mu.Unlock() }
		logged := func(want string) {
			t.Helper()
			mu.Lock()
			defer mu.Unlock()
			if got := strings.Join(log, ", "); got != want {
				t.Errorf("got %q, want %q", got, want)
			}
			log = nil
		}
		ctx, cancel := context.WithCancel(t.Context())
		var all sync.WaitGroup
		job := func(p process) {
			all.Go(func() {
				p.Job(ctx, "listen", func(ctx context.Context) {
					say("begin " + p.Owner())
					<-ctx.Done()
					say("end " + p.Owner())
				})
			})
		}
		job(a)
		synctest.Wait()
		logged("begin a")
		job(b)
		time.Sleep(time.Minute)
		logged("")
		a.leaser.cut(errors.New("no route to host"))
		time.Sleep(DefaultTTL + 2*time.Second)
		logged("end a, begin b")
		a.leaser.cut(nil)
		time.Sleep(time.Minute)
		logged("")
		cancel()
		all.Wait()
		logged("end b")

		time.Sleep(2 * time.Second)
		if live, err := store.Leases(t.Context(), jobPrefix); len(live) != 0 || err != nil {
			t.Errorf("leases of jobs that nobody does: %v, %v", live, err)
		}
		n := 0
		ended, cancel := context.WithCancel(t.Context())
		cancel()
		a.Job(ended, "listen", func(context.Context) { n++ })
		if n != 0 {
			t.Error("a job was begun after its end")
		}
	})
}

// A process that does jobs alone takes no shards, and those that divide them do not count it.
func TestJobsOnly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &storagetest.MemoryLeases{}
		jobsOnly(t, store, store, DefaultTTL, time.Minute)
	})
}

// jobsOnly looks for so long at one process that divides the shards and at one that does a job alone,
// each with its connection to one store.
func jobsOnly(t *testing.T, one, other storage.Leaser, ttl, long time.Duration) {
	t.Helper()
	whole := startFor(t, one, "whole", ttl)
	f := New(Options{Leaser: other, Owner: "jobs", TTL: ttl, JobsOnly: true})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var all sync.WaitGroup
	all.Go(func() { _ = f.Run(ctx) })
	all.Go(func() { f.Job(ctx, "claim", func(ctx context.Context) { <-ctx.Done() }) })
	both := func() bool { return len(whole.Shards()) == bounds.Shards && f.holdsJob("claim") }
	for late := time.Now().Add(time.Minute); !both() && time.Now().Before(late); {
		time.Sleep(f.tick() / 10)
	}
	for end := time.Now().Add(long); time.Now().Before(end); time.Sleep(f.tick() / 2) {
		live := trial.Must(one.Leases(t.Context(), ""))(t)
		if owner := live[jobPrefix+"claim"]; owner != "jobs" || len(live) != bounds.Shards+2 {
			t.Fatalf("the job is of %q, and %d leases are held: %v", owner, len(live), live)
		}
		if got := len(whole.Shards()); got != bounds.Shards || whole.Members() != 1 {
			t.Fatalf("the other has %d shards as one of %d, want %d as the only one", got, whole.Members(), bounds.Shards)
		}
		if len(f.Shards()) != 0 || !f.holdsJob("claim") {
			t.Fatalf("it has %d shards, and its job: %t", len(f.Shards()), f.holdsJob("claim"))
		}
	}
	cancel()
	all.Wait()
	if live, err := one.Leases(t.Context(), jobPrefix); err != nil || len(live) != 0 {
		t.Errorf("the job is given up: %v, %v", live, err)
	}
}

// A Fleet of one's own store needs nothing.
func TestNil(t *testing.T) {
	f := New(Options{})
	if f != nil || !f.Mine("id") || !f.holdsJob("any") || f.Members() != 1 || len(f.Shards()) != bounds.Shards || f.Owner() != "" || f.Changed() != nil {
		t.Error("not everything is its own")
	}
	n := 0
	f.Job(t.Context(), "any", func(context.Context) { n++ })
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := f.Run(ctx); n != 1 || !errors.Is(err, context.Canceled) {
		t.Errorf("%d, %v", n, err)
	}
}

// Only the shards of a process that goes move, and each has about its share.
func TestShares(t *testing.T) {
	for members := 2; members <= 8; members++ {
		var names []string
		for i := range members {
			names = append(names, fmt.Sprint("process ", i))
		}
		count := map[string]int{}
		for n := range bounds.Shards {
			name := shardName(n)
			w := winner(name, names)
			count[w]++
			if w != names[0] && winner(name, names[1:]) != w {
				t.Errorf("shard %d moves from %s, although another went", n, w)
			}
		}
		for _, name := range names {
			if fair := bounds.Shards / members; count[name] < fair/3 || count[name] > 2*fair+2 {
				t.Errorf("of %d %s has %d shards", members, name, count[name])
			}
		}
	}
}
