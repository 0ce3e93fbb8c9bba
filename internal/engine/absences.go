package engine

import (
	"context"
	"github.com/swapper-go/swapper/internal/flight"
	"github.com/swapper-go/swapper/internal/lp"
	"github.com/swapper-go/swapper/swap"
	"maps"
	"sync"
	"time"
)

// absences are the LPs for which effects wait after a failure. The pause of an
// effect doubles with each failure, so that an LP that is gone is left alone; but
// one that answers anything at all is there again, and whatever waits for it goes
// on. What it does not take then has a pause that doubles too, though it stays short. Since a swap may be all that anybody wants of an LP, it is asked for a sign
// of life meanwhile: once for all its swaps. Safe for concurrent use.
type absences struct {
	knock func(ctx context.Context, url string) error // nil if the LP answers; not set: LPs are not asked
	base  context.Context
	now   func() time.Time

	mu       sync.Mutex
	lps      map[string]*absence // by host
	returned map[string]bool     // swaps whose LP is there again, not yet on the schedule
	all      sync.WaitGroup
}

// absence is guarded by absences.mu.
type absence struct {
	heard   time.Time         // when the LP last answered; the engine's clock
	waiting map[string]bool   // swaps, by id
	back    chan struct{}     // closed when the LP answers; nil: the LP is not being probed
	vain    map[effectKey]int // attempts of an effect that were made before the LP was there again
}

// Bounds of absences.
const (
	lpPause      = 5 * time.Second // before the first attempt with an LP that answers other calls
	longestPause = time.Minute     // between later ones
	firstKnock   = 3 * time.Second // after a failure; later a tenth of the time that has passed
	lastKnock    = 5 * time.Minute
	knockTime    = 5 * time.Second // for an answer
	mostAbsences = 1024            // LPs that are remembered
)

// due reports whether it is time for an effect: its pause is over, or the LP that
// it is for has answered since the last attempt failed.
func (a *absences) due(r *swap.Record, e swap.Effect, now time.Time) bool {
	if e.Due(r, now) {
		return true
	}
	if !e.ToLP() {
		return false
	}
	try := r.Tried[e.Key()]
	failed := try.NotBefore.Time().Add(-swap.Backoff(try.Attempts))
	a.mu.Lock()
	defer a.mu.Unlock()
	x := a.lps[lp.Host(r.LP.URL)]
	return x != nil && x.heard.After(failed) && now.Sub(failed) >= x.pause(effectKey{r.ID, e.Key()}, try.Attempts)
}

// pause is how long an effect waits after its last attempt while the LP answers other calls.
func (x *absence) pause(of effectKey, attempts int) time.Duration {
	before, ok := x.vain[of]
	if !ok {
		if x.vain == nil || len(x.vain) >= mostAbsences {
			x.vain = map[effectKey]int{}
		}
		before, x.vain[of] = attempts, attempts
	}
	return min(lpPause<<min(max(attempts-before, 0), 10), longestPause)
}

// silent notes that an LP did not answer: once it does, what waits for it goes on at once.
func (a *absences) silent(url string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if x := a.lps[lp.Host(url)]; x != nil {
		clear(x.vain)
	}
}

// await has the LP of a swap asked for a sign of life.
func (a *absences) await(r *swap.Record) {
	host := lp.Host(r.LP.URL)
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.knock == nil || host == "" || a.base.Err() != nil {
		return
	}
	x := a.lps[host]
	if x == nil {
		for old, y := range a.lps {
			if len(a.lps) >= mostAbsences && y.back == nil {
				delete(a.lps, old)
			}
		}
		if a.lps == nil {
			a.lps = map[string]*absence{}
		}
		x = &absence{waiting: map[string]bool{}}
		a.lps[host] = x
	}
	x.waiting[r.ID] = true
	if x.back == nil {
		back := make(chan struct{})
		x.back = back
		a.all.Go(func() { a.knocking(r.LP.URL, back) })
	}
}

// knocking asks an LP for a sign of life until there is one.
func (a *absences) knocking(url string, back <-chan struct{}) {
	for began := time.Now(); ; {
		timer := time.NewTimer(min(max(firstKnock, time.Since(began)/10), lastKnock))
		select {
		case <-timer.C:
		case <-back:
			timer.Stop()
			return
		case <-a.base.Done():
			timer.Stop()
			return
		}
		ctx, cancel := context.WithTimeout(a.base, knockTime)
		err := flight.Guard(func() error { return a.knock(ctx, url) })
		cancel()
		if err == nil {
			a.heard(url)
		} else {
			a.silent(url)
		}
	}
}

// heard notes that an LP answered something. What waits for it is due.
func (a *absences) heard(url string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	x := a.lps[lp.Host(url)]
	if x == nil {
		return
	}
	x.heard = a.now()
	if x.back != nil {
		close(x.back)
		x.back = nil
	}
	if a.returned == nil {
		a.returned = map[string]bool{}
	}
	maps.Copy(a.returned, x.waiting)
	clear(x.waiting)
}

// schedule gives the swaps whose LP is there again a turn now.
func (a *absences) schedule(s *schedule, now time.Time) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for id := range a.returned {
		s.soon(id, now, true)
	}
	clear(a.returned)
}

// wait returns when no LP is being probed. Cancel the base context first.
func (a *absences) wait() {
	a.mu.Lock() // every probe has either begun by now or will see that the context has ended
	defer a.all.Wait()
	a.mu.Unlock()
}

// Heard tells that an LP answered a call, whatever it was about: what the swaps
// with it wait to repeat is repeated soon. url is any of the LP's.
func (g *Engine) Heard(url string) { g.absences.heard(url) }
