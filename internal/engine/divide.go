package engine

import (
	"context"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/swapper-go/swapper/internal/bounds"
	"github.com/swapper-go/swapper/internal/swap"
	"github.com/swapper-go/swapper/storage"
)

const (
	// loadPause is how long a shard that could not be read waits.
	loadPause = 5 * time.Second
	// auditEvery is how often a shard is read again that is already followed: all of them in a
	// quarter of an hour. This finds what another process stored without this one noticing,
	// because the other's clock is far behind.
	auditEvery = 15 * time.Second
)

// divide keeps on the schedule the swaps of the shards that are this process's, until
// ctx ends: those of a shard that it gains are loaded, those of one that it loses are
// dropped.
func (g *Engine) divide(ctx context.Context, s *schedule) {
	var have [bounds.Shards]bool
	var audit <-chan time.Time
	if g.shared {
		tick := time.NewTicker(auditEvery)
		defer tick.Stop()
		audit = tick.C
	}
	for next := 0; ; {
		changed := g.fleet.Changed()
		var gained, lost []int
		for n := range bounds.Shards {
			mine := g.fleet.HoldsShard(n)
			switch {
			case mine && !have[n]:
				gained = append(gained, n)
			case !mine && have[n]:
				lost = append(lost, n)
			}
			have[n] = mine
		}
		if len(lost) > 0 {
			for _, id := range s.ids(func(id string) bool { return slices.Contains(lost, bounds.Shard(id)) }) {
				if !g.fleet.Mine(id) {
					s.drop(id)
					g.census.drop(id)
				}
			}
		}
		again := (<-chan time.Time)(nil)
		if len(gained) > 0 && !g.load(ctx, s, gained, true) {
			for _, n := range gained {
				have[n] = false
			}
			again = time.After(loadPause)
		}
		select {
		case <-ctx.Done():
			return
		case <-again:
		case <-changed:
		case <-audit:
			if next = (next + 1) % bounds.Shards; have[next] {
				g.load(ctx, s, []int{next}, next == 0)
			}
		}
	}
}

// load puts the watched swaps of some shards on the schedule that are not on it, page by
// page, spread over their own intervals so that a restart does not ask about all at once. With
// old also those that were last stored before there were shards. It reports whether
// all could be found.
func (g *Engine) load(ctx context.Context, s *schedule, shards []int, old bool) bool {
	values := make([]string, 0, len(shards)+1)
	for _, n := range shards {
		values = append(values, bounds.ShardText(n))
	}
	if old {
		values = append(values, "")
	}
	for _, value := range values {
		for e, err := range g.Store.Find(ctx, storage.Query{Index: swap.ByWatch, Value: value}) {
			if err != nil {
				if ctx.Err() == nil {
					g.log.Error("watched swap is unreadable", "swap", storage.Label(e.ID), "err", err)
				}
				if e.ID == "" {
					return false // one bad entry is skipped, a failed store is asked again
				}
				continue
			}
			if s.has(e.ID) || !g.fleet.Mine(e.ID) {
				continue
			}
			r, err := decode(e)
			if err != nil {
				g.log.Error("watched swap is unreadable", "swap", storage.Label(e.ID), "err", err)
				continue
			}
			g.reschedule(s, r, rand.Float64())
		}
	}
	return true
}
