package simulate

import (
	"context"
	"flag"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/cryptotest"
	"testing/synctest"
	"time"

	"github.com/ethereum/go-ethereum/core"

	"github.com/swapper-go/swapper/internal/trial"
	"github.com/swapper-go/swapper/watchtower"
)

var (
	length  = flag.Duration("simulate.for", 0, "run seeds for so long")
	oneSeed = flag.Uint64("simulate.seed", 0, "run this seed alone, from 1 on")
	first   = flag.Uint64("simulate.first", 2, "the first seed of those that are run")
	deep    = flag.Bool("simulate.deep", false, "let final blocks be replaced too: what is promised then is that nothing panics or hangs and no record is lost")
	collude = flag.Bool("simulate.collude", false, "let an LP collude with a node in each world")
	verbose = flag.Bool("simulate.log", false, "show the logs of the processes")
)

// TestMain starts what is made once for a process and would else belong to the first
// bubble that needs it.
func TestMain(m *testing.M) {
	core.SenderCacher()
	os.Exit(m.Run())
}

// result is what became of a world.
type result struct {
	plan     plan
	failures []string
	happened []string
	faults   []string
	lasted   time.Duration // of virtual time
	swaps    int
	ends     map[string]int
	episode  episode
	earned   []watchtower.Report
}

// simulate runs a plan's world to its end.
func simulate(t *testing.T, p plan) (r result) {
	t.Helper()
	r.plan = p
	seed := p.seed
	t.Run(fmt.Sprint(seed), func(t *testing.T) {
		cryptotest.SetGlobalRandom(t, seed)
		synctest.Test(t, func(t *testing.T) {
			w := trial.Must(newWorld(t.Context(), r.plan))(t)
			w.live()
			if err := w.close(); err != nil {
				t.Error(err)
			}
			if *deep { // money is not promised
				w.failures = slices.DeleteFunc(w.failures, func(text string) bool {
					return !strings.Contains(text, "panic") && !strings.Contains(text, "is not found") && !strings.Contains(text, "never ends") && !strings.Contains(text, "Run ended") && !strings.Contains(text, "not what is told")
				})
			}
			r.failures, r.happened, r.faults, r.lasted, r.swaps, r.ends = w.failures, w.happened, w.faults, time.Since(epoch), len(w.users), map[string]int{}
			r.episode, r.earned = w.episode, w.earned
			for _, u := range w.users {
				r.ends[u.order.land+" "+u.order.kind+" "+u.state()]++
			}
		})
	})
	return r
}

// live lets everybody live until all swaps are over.
func (w *world) live() {
	ctx, stop := context.WithCancel(context.Background())
	defer w.busy.Wait()
	defer stop()
	w.began = time.Now()
	w.tip, _ = w.net.Bitcoin.Tip()
	w.mine(ctx)
	keeping, leave := context.WithCancel(ctx)
	defer leave()
	for _, at := range w.places {
		w.busy.Go(func() { w.keep(keeping, at) })
	}
	for _, u := range w.users {
		w.busy.Go(func() { u.live(ctx) })
	}
	w.busy.Go(func() { w.stranger.live(ctx) })
	w.fate(ctx)
	w.colludes(ctx)
	sleep(ctx, w.plan.calm)
	for _, at := range w.places {
		at.deadly.Store(0)
		at.ahead.Store(min(max(at.ahead.Load(), -int64(time.Minute)), int64(time.Minute))) // as clocks are that somebody looks after
	}
	w.note("the world is fair from now on")
	w.settled(2 * time.Hour)
	// What waits for its time alone: days pass while nobody is there, 31 at most. An escrow that was
	// seen once, and is not there, is looked for until fourteen days after it would have expired.
	for days := 1; days <= 16 && w.left() > 0; days *= 2 {
		for _, at := range w.places {
			at.down.Store(true)
			w.stop(at)
		}
		w.pace(land.quiet)
		sleep(ctx, time.Duration(days)*24*time.Hour)
		for _, u := range w.users {
			u.takeBack()
		}
		w.pace(land.pace)
		for _, at := range w.places {
			at.down.Store(false)
		}
		w.settled(30 * time.Minute)
	}
	sleep(ctx, 10*time.Minute)
	for _, u := range w.users {
		if !u.over() {
			w.broken("user %d: %s %.8s never ends: %v, action %+v", u.n, u.order.kind, u.id, u.states, u.last)
		}
	}
	if w.plan.told {
		w.heard(ctx)
	}
	w.audit(ctx)
	w.promises.settle()
}

// heard makes sure that in the end each chain's events are told to one process, and Bitcoin's
// blocks to each. A lost connection is opened again within minutes.
func (w *world) heard(ctx context.Context) {
	for tries := 0; ; tries++ {
		missing := w.unheard(ctx)
		if len(missing) == 0 {
			return
		}
		if tries == 5 {
			w.broken("not told of events: %v", missing)
			return
		}
		sleep(ctx, time.Minute)
	}
}

// unheard are the chains of which a process is told nothing that should be. To one whose clock is
// too far ahead all blocks are old.
func (w *world) unheard(ctx context.Context) (missing []string) {
	alive, late := map[string]int{}, time.Duration(0)
	for _, at := range w.places {
		late = max(late, time.Duration(at.ahead.Load()))
		p := at.now.Load()
		if p == nil {
			return []string{"a process is not there"}
		}
		stats, err := p.client.Stats(ctx)
		if err != nil {
			return []string{err.Error()}
		}
		for part, s := range stats.Parts {
			for _, one := range s.Subscriptions {
				if one.Alive {
					alive[part]++
				}
			}
		}
	}
	for _, g := range w.lands {
		if n := alive[g.chain()]; n != 1 && late-w.plan.times[g.chain()] < time.Minute {
			missing = append(missing, g.chain())
		}
	}
	if alive["bitcoin"] != len(w.places) {
		missing = append(missing, "bitcoin")
	}
	return missing
}

func (w *world) left() (n int) {
	for _, u := range w.users {
		if !u.over() {
			n++
		}
	}
	return n
}

// settled waits until all swaps are over, so long at most.
func (w *world) settled(most time.Duration) {
	for end := time.Now().Add(most); w.left() > 0 && time.Now().Before(end); {
		time.Sleep(time.Minute)
	}
}

func (r result) report(t *testing.T) {
	t.Helper()
	if len(r.failures) == 0 {
		return
	}
	t.Errorf("seed %d:\n%s\n\nplan:\n%s\nstory:\n%s", r.plan.seed, strings.Join(r.failures, "\n"), r.plan, strings.Join(r.happened, "\n"))
}

func TestSimulate(t *testing.T) {
	if *oneSeed != 0 {
		r := simulate(t, newPlan(*oneSeed))
		r.report(t)
		t.Logf("%v, %v\n%s", r.lasted, r.ends, strings.Join(r.happened, "\n"))
		return
	}
	began := time.Now()
	var failed []uint64
	var days time.Duration
	swaps, ends, seeds, earned := 0, map[string]int{}, 0, takings{}
	var told collusions
	for seed := *first; seed < *first+few() || time.Since(began) < *length; seed++ {
		if *length > 0 && time.Since(began) >= *length {
			break
		}
		p := newPlan(seed)
		if *length == 0 {
			p = p.brief(20*time.Minute, 4)
		}
		r := simulate(t, p)
		r.report(t)
		if len(r.failures) > 0 {
			failed = append(failed, seed)
		}
		seeds++
		days += r.lasted
		swaps += r.swaps
		earned.add(r.earned)
		told.add(r.episode)
		for end, n := range r.ends {
			ends[end] += n
		}
	}
	t.Logf("%d seeds, %.1f days, %d swaps in %v", seeds, days.Hours()/24, swaps, time.Since(began).Round(time.Second))
	for _, end := range slices.Sorted(maps.Keys(ends)) {
		t.Logf("%4d %s", ends[end], end)
	}
	told.report(t)
	earned.report(t)
	t.Logf("failed: %v", failed)
}

// few is how many seeds are run, and not to their whole length, where no flag says for how long.
func few() uint64 {
	if trial.Full() {
		return 2
	}
	return 1
}

// The same seed brings the same faults at the same moments, and the same verdict. What is
// done at one moment is done in the order of the scheduler, so that the moments of what
// the faults lead to may differ.
func TestReplay(t *testing.T) {
	trial.OnlyFull(t)
	const seed = 3
	once := simulate(t, newPlan(seed).brief(10*time.Minute, 3))
	again := simulate(t, newPlan(seed).brief(10*time.Minute, 3))
	once.report(t)
	slices.Sort(once.faults) // of one moment
	slices.Sort(again.faults)
	if len(once.faults) < 10 || !slices.Equal(once.faults, again.faults) {
		t.Errorf("%d faults:\n%s\nthen:\n%s", len(once.faults), strings.Join(once.faults, "\n"), strings.Join(again.faults, "\n"))
	}
	if !slices.Equal(once.failures, again.failures) {
		t.Errorf("failed as %v, then as %v", once.failures, again.failures)
	}
}

// An LP lives in the story that one of two nodes tells: on an EVM chain, at full depth on a chain of each
// family, with both versions of Solana's program.
func TestCollusion(t *testing.T) {
	var told collusions
	for i, land := range trial.Of(1, []string{citrea, solanaV1, starknet, solanaV2}) {
		p := newPlan(uint64(700 + i)).only(land)
		if !trial.Full() {
			p = newPlan(805).only(land) // where believing the first node loses money on each chain
		}
		p.collude()
		if !trial.Full() {
			p.collusion.liar = 0
			p = p.brief(20*time.Minute, 4)
			for i := range p.orders { // an escrow that a node has invented is looked for for two weeks, which takes minutes
				if o := &p.orders[i]; strings.HasPrefix(o.kind, "FROM_BTCLN_AUTO") {
					o.kind = []string{"TO_BTC", "TO_BTCLN"}[i%2]
				}
			}
		}
		began := time.Now()
		r := simulate(t, p)
		r.report(t)
		t.Logf("%s: %d swaps in %v, %v", land, r.swaps, time.Since(began).Round(time.Second/10), r.ends)
		told.add(r.episode)
	}
	told.report(t)
	if told.met == 0 {
		t.Error("nobody met an LP that colludes")
	}
}

// With no fault at all each kind of swap succeeds.
func TestFairWeather(t *testing.T) {
	for i, lands := range trial.Of(1, [][]string{{citrea, solanaV1}, {solanaV2, starknet}}) {
		p := quiet(lands...)
		p.told = i == 0
		r := simulate(t, p)
		r.report(t)
		for end := range r.ends {
			if !strings.HasSuffix(end, "CLAIMED") && !strings.HasSuffix(end, "FINISHED") {
				t.Errorf("%s", end)
			}
		}
		t.Logf("%v, %v\n%s", r.lasted, r.ends, strings.Join(r.happened, "\n"))
	}
}
