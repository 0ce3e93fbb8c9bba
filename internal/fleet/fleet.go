// Package fleet divides the work on one store among the processes that share it: each
// has some shards of the swaps, and each job, such as listening to a chain, is
// done by one.
//
// It is an optimisation. For a moment two processes may believe that they have the same
// work, or none may: what is done twice must do no harm, and what one leaves
// the next one must find in the store.
package fleet

import (
	"context"
	"crypto/rand"
	"fmt"
	"hash/fnv"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/swapper-go/swapper/internal/bounds"
	"github.com/swapper-go/swapper/storage"
)

// DefaultTTL is how long a lease lasts if Options.TTL is 0.
const DefaultTTL = 15 * time.Second

const (
	memberPrefix = "member/"
	shardPrefix  = "swaps/"
	jobPrefix    = "job/"
)

// Options configures a [Fleet].
type Options struct {
	Leaser storage.Leaser
	Owner  string           // what no other process is called; "" makes up a name
	TTL    time.Duration    // of a lease; 0 means DefaultTTL
	Log    *slog.Logger     // nil discards
	Now    func() time.Time // with a monotonic reading; nil means time.Now
	// JobsOnly leaves the shards to others: this process is none of those that divide them.
	JobsOnly bool
}

// Fleet is what one process knows of the division. A nil Fleet is that of a store that
// only one process uses: everything is its own. It is safe for concurrent use.
type Fleet struct {
	leaser storage.Leaser
	owner  string
	ttl    time.Duration
	log    *slog.Logger
	now    func() time.Time
	jobber bool          // it has no shards
	wake   chan struct{} // a job was added

	mu      sync.Mutex
	begun   map[string]time.Time // when the call began that last took a lease which is held
	told    map[string]bool      // what waiters of Changed know that is held
	jobs    map[string]int       // how often each is wanted here
	changed chan struct{}
	members int
}

// New returns the fleet of a store, nil if its processes cannot share it. Nothing is
// held before [Fleet.Run].
func New(o Options) *Fleet {
	if o.Leaser == nil {
		return nil
	}
	f := &Fleet{
		leaser: o.Leaser, owner: o.Owner, ttl: o.TTL, log: o.Log, now: o.Now, jobber: o.JobsOnly, wake: make(chan struct{}, 1),
		begun: map[string]time.Time{}, told: map[string]bool{}, jobs: map[string]int{}, changed: make(chan struct{}), members: 1,
	}
	if f.owner == "" {
		f.owner = rand.Text()
	}
	if f.ttl <= 0 {
		f.ttl = DefaultTTL
	}
	if f.log == nil {
		f.log = slog.New(slog.DiscardHandler)
	}
	if f.now == nil {
		f.now = time.Now
	}
	return f
}

// Leases are renewed after a third of their time, so that one attempt may fail. Who has
// what is asked five times as often. A lease counts as held for nine tenths of its time, so
// that what is begun has a moment to be done.
func (f *Fleet) every() time.Duration { return f.ttl / 3 }
func (f *Fleet) tick() time.Duration  { return f.ttl / 15 }
func (f *Fleet) trust() time.Duration { return f.ttl - f.ttl/10 }

// Owner returns the name of this process, "" for a nil Fleet.
func (f *Fleet) Owner() string {
	if f == nil {
		return ""
	}
	return f.owner
}

// Members returns how many processes share the work, this one included if it runs; at least 1.
func (f *Fleet) Members() int {
	if f == nil {
		return 1
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.members
}

// Mine reports whether the swap with the id is to be followed by this process.
func (f *Fleet) Mine(id string) bool { return f.HoldsShard(bounds.Shard(id)) }

// HoldsShard reports whether the shard is this process's.
func (f *Fleet) HoldsShard(n int) bool { return f == nil || f.holds(shardName(n)) }

// holdsJob reports whether the job is this process's; see [Fleet.Job].
func (f *Fleet) holdsJob(name string) bool { return f == nil || f.holds(jobPrefix+name) }

// Shards returns the shards that are this process's, in order.
func (f *Fleet) Shards() []int {
	held := make([]int, 0, bounds.Shards)
	for n := range bounds.Shards {
		if f.HoldsShard(n) {
			held = append(held, n)
		}
	}
	return held
}

// Changed returns a channel that is closed once shards or jobs were gained or lost. Ask
// for it first and then for what is held. That of a nil Fleet is never closed.
func (f *Fleet) Changed() <-chan struct{} {
	if f == nil {
		return nil
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.changed
}

// Job calls do whenever the job becomes this process's, with a context that ends when it
// is no longer, until ctx ends; it returns when the last call has returned. A call that
// returns by itself is not made again while the job is held. Every
// process that calls Job for a name is a candidate. With a nil Fleet it is called once, with ctx.
func (f *Fleet) Job(ctx context.Context, name string, do func(ctx context.Context)) {
	if f == nil {
		do(ctx)
		return
	}
	f.want(name, 1)
	defer f.want(name, -1)
	for ctx.Err() == nil {
		changed := f.Changed()
		if f.holdsJob(name) {
			f.doJob(ctx, name, do)
			continue
		}
		select {
		case <-ctx.Done():
		case <-changed:
		}
	}
}

// doJob calls do until the job is lost, or ctx ends.
func (f *Fleet) doJob(ctx context.Context, name string, do func(ctx context.Context)) {
	held, lose := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		do(held)
	}()
	defer func() { lose(); <-done }()
	for {
		changed := f.Changed()
		if !f.holdsJob(name) {
			return
		}
		select {
		case <-ctx.Done():
			return
		case <-changed:
		}
	}
}

func (f *Fleet) want(job string, n int) {
	f.mu.Lock()
	if f.jobs[jobPrefix+job] += n; f.jobs[jobPrefix+job] <= 0 {
		delete(f.jobs, jobPrefix+job)
	}
	f.mu.Unlock()
	select {
	case f.wake <- struct{}{}:
	default:
	}
}

func shardName(n int) string { return shardPrefix + bounds.ShardText(n) }

// holds reports whether the lease is held, by the clock of this process: the time that
// has passed since the call began that took it. Both clocks that a process has must agree: the
// monotonic one may stand still while the machine sleeps, the other may be set back.
func (f *Fleet) holds(name string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.holdsAt(name, f.now())
}

// holdsAt is holds with f.mu held.
func (f *Fleet) holdsAt(name string, now time.Time) bool {
	begun, ok := f.begun[name]
	return ok && now.Sub(begun) < f.trust() && now.Round(0).Sub(begun.Round(0)) < f.trust()
}

// Run joins the processes that share the work, takes this one's part of it and renews it,
// until ctx ends; then it leaves, and the others take over at once. It returns the cause
// of ctx. Only one Run may be active at a time, for which the client sees. A nil Fleet only waits for ctx.
func (f *Fleet) Run(ctx context.Context) error {
	if f == nil {
		<-ctx.Done()
		return context.Cause(ctx)
	}
	var all sync.WaitGroup
	defer f.leave(ctx)
	defer all.Wait()
	all.Go(func() { f.watch(ctx) })
	tick := time.NewTicker(f.tick())
	defer tick.Stop()
	var r rounds
	for failing := false; ; {
		err := f.round(ctx, &r)
		switch {
		case ctx.Err() != nil:
		case err != nil && !failing:
			f.log.Warn("the store does not say which work is whose; what is held ends with its leases", "err", err)
		case err == nil && failing:
			f.log.Info("the store says again which work is whose")
		}
		failing = err != nil
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-tick.C:
		case <-f.wake:
		}
	}
}

// watch notices leases that end because they could not be renewed.
func (f *Fleet) watch(ctx context.Context) {
	tick := time.NewTicker(f.tick() / 2)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			f.tell()
		}
	}
}

// tell wakes waiters of Changed if what is held is not what they know.
func (f *Fleet) tell() {
	f.mu.Lock()
	defer f.mu.Unlock()
	now := f.now()
	maps.DeleteFunc(f.begun, func(name string, _ time.Time) bool { return !f.holdsAt(name, now) })
	same := len(f.begun) == len(f.told)
	for name := range f.begun {
		same = same && f.told[name]
	}
	if same {
		return
	}
	clear(f.told)
	for name := range f.begun {
		f.told[name] = true
	}
	close(f.changed)
	f.changed = make(chan struct{})
}

// rounds is what one round leaves for the next.
type rounds struct {
	renewed time.Time // when all leases were last renewed
	members []string
	idle    map[string]int  // how often in a row a shard of another was found without an owner
	adopted map[string]bool // shards of another who does not take them: it may be dead, which its lease hides
}

// patience is how many rounds a process has to take a shard without an owner.
const patience = 3

// round looks who has what, gives up what is another's, takes what is free, and renews
// what is held if it is time to.
func (f *Fleet) round(ctx context.Context, r *rounds) error {
	ctx, cancel := context.WithTimeout(ctx, f.every())
	defer cancel()
	live, err := f.leaser.Leases(ctx, "")
	if err != nil {
		return fmt.Errorf("read who has what: %w", err)
	}
	var members []string
	if !f.jobber {
		members = append(members, f.owner)
	}
	for name, owner := range live {
		if strings.HasPrefix(name, memberPrefix) && owner != f.owner {
			members = append(members, owner)
		}
	}
	slices.Sort(members)
	if !slices.Equal(members, r.members) {
		f.log.Info("processes on this store", "owner", f.owner, "members", len(members))
		r.members, r.idle, r.adopted = members, map[string]int{}, map[string]bool{}
	}
	wanted, others, free := f.part(members, live, r)
	f.tell() // what is given up is not worked on any more when another takes it
	if len(others) > 0 {
		if err := f.leaser.Release(ctx, f.owner, others...); err != nil {
			return fmt.Errorf("give up what is another's: %w", err)
		}
	}
	begun := f.now()
	if !free && begun.Sub(r.renewed) < f.every() {
		return nil
	}
	held, err := f.leaser.Lease(ctx, f.owner, f.ttl, wanted...)
	if err != nil {
		return fmt.Errorf("take leases: %w", err)
	}
	f.mu.Lock()
	clear(f.begun)
	for _, name := range held {
		f.begun[name] = begun
	}
	maps.DeleteFunc(r.adopted, func(name string, _ bool) bool { _, mine := f.begun[name]; return !mine }) // somebody was faster
	f.mu.Unlock()
	f.tell()
	r.renewed = begun
	return nil
}

// part returns what this process should have, what of others' it gives up from now on, and
// whether it could take something. Jobs are of whoever comes first, since some may be known
// only here. A shard that another should have and does not take is this one's until the
// members change.
func (f *Fleet) part(members []string, live map[string]string, r *rounds) (wanted, others []string, free bool) {
	if !f.jobber {
		wanted = append(wanted, memberPrefix+f.owner)
	}
	for n := range bounds.Shards {
		if f.jobber {
			break
		}
		name := shardName(n)
		_, taken := live[name]
		switch {
		case winner(name, members) == f.owner, r.adopted[name]:
			wanted = append(wanted, name)
		case taken:
			delete(r.idle, name)
		default:
			if r.idle[name]++; r.idle[name] > patience {
				delete(r.idle, name)
				r.adopted[name] = true
				wanted = append(wanted, name)
			}
		}
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.members = len(members)
	wanted = append(wanted, slices.Collect(maps.Keys(f.jobs))...)
	want := make(map[string]bool, len(wanted))
	for _, name := range wanted {
		want[name] = true
		_, mine := f.begun[name]
		owner, taken := live[name]
		free = free || !mine && (!taken || owner == f.owner)
	}
	for name, owner := range live {
		if owner == f.owner && !want[name] {
			others = append(others, name)
		}
	}
	maps.DeleteFunc(f.begun, func(name string, _ time.Time) bool { return !want[name] })
	return wanted, others, free
}

// winner returns whose a name is: the member whose hash with the name is the largest. So
// only the names of a member that goes move to others, and only to one that comes.
func winner(name string, members []string) string {
	best, top := "", uint64(0)
	for _, m := range members {
		h := fnv.New64a()
		_, _ = h.Write([]byte(name + "\x00" + m)) // never fails
		if sum := mix(h.Sum64()); best == "" || sum > top {
			best, top = m, sum
		}
	}
	return best
}

// mix spreads a hash over all its bits: FNV's upper ones hardly depend on the last
// bytes. It is the finalizer of MurmurHash3.
func mix(h uint64) uint64 {
	h = (h ^ h>>33) * 0xff51afd7ed558ccd
	h = (h ^ h>>33) * 0xc4ceb9fe1a85ec53
	return h ^ h>>33
}

// leave gives up everything, so that the others need not wait for the leases to end.
func (f *Fleet) leave(ctx context.Context) {
	f.mu.Lock()
	f.members = 1
	held := append(slices.Collect(maps.Keys(f.begun)), memberPrefix+f.owner)
	clear(f.begun)
	f.mu.Unlock()
	f.tell()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), f.every())
	defer cancel()
	if err := f.leaser.Release(ctx, f.owner, held...); err != nil {
		f.log.Warn("leases are not given up; the other processes wait until they end", "err", err)
	}
}
