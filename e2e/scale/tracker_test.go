//go:build unix

package scale

import (
	"context"
	"math"
	"slices"
	"sync"
	"time"

	"github.com/swapper-go/swapper/internal/bounds"
	"github.com/swapper-go/swapper/internal/swap"
	"github.com/swapper-go/swapper/storage"
	"github.com/swapper-go/swapper/storage/postgres"
)

// tracker knows from the store how swaps stand, and from the processes when each was
// looked at: nobody is asked, so that nothing moves because of it.
type tracker struct {
	store interface {
		storage.Store
		storage.Leaser
	}
	flows map[swap.Type]*swap.Flow

	mu    sync.Mutex
	swaps map[string]*tracked
	since int64             // the changes that were read
	hands map[string][]hand // of each shard of the swaps, by its lease's name, in order
}

// hand is who has a shard from some time on.
type hand struct {
	owner string
	since time.Time
}

// tracked is one swap.
type tracked struct {
	record *swap.Record // as it was stored last
	alone  time.Time    // since when the user does nothing; zero: not yet
	looked time.Time    // the last look since then
	worst  time.Duration
	when   time.Time     // of the worst
	every  time.Duration // its rhythm at that time
	over   time.Time     // when it was seen finished
}

func newTracker(store *postgres.Store) *tracker {
	k := &tracker{store: store, flows: map[swap.Type]*swap.Flow{}, swaps: map[string]*tracked{}, hands: map[string][]hand{}}
	for _, f := range swap.Flows() {
		k.flows[f.Type] = f
	}
	return k
}

// of returns what is known of a swap. k.mu is held.
func (k *tracker) of(id string) *tracked {
	s := k.swaps[id]
	if s == nil {
		s = &tracked{}
		k.swaps[id] = s
	}
	return s
}

// follow reads the changes in the store until ctx ends. The database may be away.
func (k *tracker) follow(ctx context.Context) {
	for ctx.Err() == nil {
		k.read(ctx)
		k.lookAtHands(ctx)
		select {
		case <-ctx.Done():
		case <-time.After(500 * time.Millisecond):
		}
	}
}

func (k *tracker) read(ctx context.Context) {
	k.mu.Lock()
	since := k.since
	k.mu.Unlock()
	q := storage.Query{Index: swap.ByChange, Range: &storage.Range{Min: since - 5000, Max: math.MaxInt64}} // clocks are the same, commits may be late
	for e, err := range k.store.Find(ctx, q) {
		if err != nil {
			return // the next time
		}
		r, err := swap.Decode(e.ID, e.Version, e.Body)
		if err != nil {
			continue
		}
		k.mu.Lock()
		s := k.of(r.ID)
		if s.record == nil || s.record.Version < r.Version {
			s.record = r
		}
		if row, _ := k.flows[r.Type].State(s.record.State); row.Finished && s.over.IsZero() {
			s.over = time.Now()
			k.gap(s, s.over)
		}
		k.since = max(k.since, int64(r.Changed))
		k.mu.Unlock()
	}
}

const shardPrefix = "swaps/"

// lookAtHands notes which shards have come into other hands.
func (k *tracker) lookAtHands(ctx context.Context) {
	leases, err := k.store.Leases(ctx, shardPrefix)
	if err != nil {
		return // the next time
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	for name, owner := range leases {
		if all := k.hands[name]; len(all) == 0 || all[len(all)-1].owner != owner {
			k.hands[name] = append(all, hand{owner, time.Now()})
		}
	}
}

// taken counts how often a swap came into other hands within a time. k.mu is held.
func (k *tracker) taken(id string, from, to time.Time) (n int) {
	for _, h := range k.hands[shardPrefix+bounds.ShardText(bounds.Shard(id))] {
		if h.since.After(from) && h.since.Before(to) {
			n++
		}
	}
	return n
}

// looked notes that a pass of a swap has begun in some process.
func (k *tracker) looked(id string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	s := k.of(id)
	now := time.Now()
	k.gap(s, now)
	s.looked = now
}

// gap notes how long nobody had looked. k.mu is held.
func (k *tracker) gap(s *tracked, now time.Time) {
	if s.alone.IsZero() || !s.over.IsZero() && now.After(s.over) || s.record == nil {
		return
	}
	since := s.looked
	if since.Before(s.alone) {
		since = s.alone
	}
	every := k.rhythm(s.record, now)
	if d := now.Sub(since); d-every > s.worst-s.every {
		s.worst, s.when, s.every = d, now, every
	}
}

// rhythm is how often a swap is looked at while nothing is heard of it (internal/engine:
// interval and idleInterval).
func (k *tracker) rhythm(r *swap.Record, now time.Time) time.Duration {
	f, age := k.flows[r.Type], now.Sub(r.CreatedAt.Time())
	row, _ := f.State(r.State)
	if row.Expired || f.IsUnpaid(r) {
		return max(30*time.Second, age)
	}
	return rhythm(row.Every, age)
}

// rhythm is that of a swap of an age that may be paid.
func rhythm(every, age time.Duration) time.Duration {
	return max(every, min(age/100, every+10*time.Minute))
}

// leave notes that from now on the user does nothing about a swap.
func (k *tracker) leave(id string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.of(id).alone = time.Now()
}

// forget notes that a swap is given up: another one is made in its place.
func (k *tracker) forget(id string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.of(id).alone = time.Time{}
}

// record returns a swap as it was stored last, and whether it is finished; nil if it was not seen yet.
func (k *tracker) record(id string) (r *swap.Record, row swap.StateRow) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if r = k.of(id).record; r != nil {
		row, _ = k.flows[r.Type].State(r.State)
	}
	return r, row
}

// gaps returns by how much each swap was looked at later than its rhythm, the worst last.
func (k *tracker) gaps() (late []time.Duration) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, s := range k.swaps {
		if !s.alone.IsZero() {
			late = append(late, max(0, s.worst-s.every))
		}
	}
	slices.Sort(late)
	return late
}

// live counts the swaps that are neither over nor unpaid.
func (k *tracker) live() (n int) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, s := range k.swaps {
		if !s.alone.IsZero() && s.over.IsZero() {
			n++
		}
	}
	return n
}
