package engine

import (
	"context"
	"maps"
	"sync"
	"time"

	"github.com/swapper-go/swapper/internal/async"
	"github.com/swapper-go/swapper/internal/lp"
	"github.com/swapper-go/swapper/internal/swap"
)

// backoffs are the LPs for which effects wait after a failure. The pause of an effect
// doubles with each failure, so that an unreachable LP gets few requests. When the LP
// answers any call, all effects that wait for it are due; an effect that fails again has
// pauses that double too, up to longestPause. Because no other call may reach the LP
// meanwhile, it is probed: once for all its swaps. Safe for concurrent use.
type backoffs struct {
	probe func(ctx context.Context, url string) error // nil if the LP answers; not set: LPs are not probed
	base  context.Context
	now   func() time.Time

	mu       sync.Mutex
	lps      map[string]*backoff // by host
	answered map[string]bool     // swaps whose LP has answered, not yet on the schedule
	all      sync.WaitGroup
}

// backoff is guarded by backoffs.mu.
type backoff struct {
	heard    time.Time         // when the LP last answered; the engine's clock
	waiting  map[string]bool   // swaps, by id
	answer   chan struct{}     // closed when the LP answers; nil: the LP is not being probed
	attempts map[effectKey]int // of an effect, before the LP answered
}

// Bounds of backoffs.
const (
	lpPause          = 5 * time.Second // before the first attempt with an LP that answers other calls
	longestPause     = time.Minute     // between later ones
	firstProbe       = 3 * time.Second // after a failure; later a tenth of the time that has passed
	maxProbeInterval = 5 * time.Minute
	probeTimeout     = 5 * time.Second // for an answer
	maxBackoffs      = 1024            // LPs that are remembered
)

// due reports whether it is time for an effect: its pause has ended, or the LP that
// it is for has answered since the last attempt failed.
func (a *backoffs) due(r *swap.Record, e swap.Effect, now time.Time) bool {
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
func (x *backoff) pause(of effectKey, attempts int) time.Duration {
	before, ok := x.attempts[of]
	if !ok {
		if x.attempts == nil || len(x.attempts) >= maxBackoffs {
			x.attempts = map[effectKey]int{}
		}
		before, x.attempts[of] = attempts, attempts
	}
	return min(lpPause<<min(max(attempts-before, 0), 10), longestPause)
}

// silent notes that an LP did not answer: once it does, what waits for it goes on at once.
func (a *backoffs) silent(url string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if x := a.lps[lp.Host(url)]; x != nil {
		clear(x.attempts)
	}
}

// startProbing probes the LP of a swap, for which an effect waits, until it answers.
func (a *backoffs) startProbing(r *swap.Record) {
	host := lp.Host(r.LP.URL)
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.probe == nil || host == "" || a.base.Err() != nil {
		return
	}
	x := a.lps[host]
	if x == nil {
		for old, y := range a.lps {
			if len(a.lps) >= maxBackoffs && y.answer == nil {
				delete(a.lps, old)
			}
		}
		if a.lps == nil {
			a.lps = map[string]*backoff{}
		}
		x = &backoff{waiting: map[string]bool{}}
		a.lps[host] = x
	}
	x.waiting[r.ID] = true
	if x.answer == nil {
		answer := make(chan struct{})
		x.answer = answer
		a.all.Go(func() { a.probeUntilAnswered(r.LP.URL, answer) })
	}
}

// probeUntilAnswered probes an LP until it answers, then to another caller or to the probe.
func (a *backoffs) probeUntilAnswered(url string, answer <-chan struct{}) {
	for began := time.Now(); ; {
		timer := time.NewTimer(min(max(firstProbe, time.Since(began)/10), maxProbeInterval))
		select {
		case <-timer.C:
		case <-answer:
			timer.Stop()
			return
		case <-a.base.Done():
			timer.Stop()
			return
		}
		ctx, cancel := context.WithTimeout(a.base, probeTimeout)
		err := async.Guard(func() error { return a.probe(ctx, url) })
		cancel()
		if err == nil {
			a.heard(url)
		} else {
			a.silent(url)
		}
	}
}

// heard notes that an LP answered something. What waits for it is due.
func (a *backoffs) heard(url string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	x := a.lps[lp.Host(url)]
	if x == nil {
		return
	}
	x.heard = a.now()
	if x.answer != nil {
		close(x.answer)
		x.answer = nil
	}
	if a.answered == nil {
		a.answered = map[string]bool{}
	}
	maps.Copy(a.answered, x.waiting)
	clear(x.waiting)
}

// schedule gives the swaps whose LP has answered a turn now.
func (a *backoffs) schedule(s *schedule, now time.Time) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for id := range a.answered {
		s.soon(id, now, true)
	}
	clear(a.answered)
}

// wait returns when no LP is being probed. Cancel the base context first.
func (a *backoffs) wait() {
	a.mu.Lock() // every probe has either begun by now or will see that the context has ended
	defer a.all.Wait()
	a.mu.Unlock()
}

// Heard tells that an LP answered a call, whatever it was about: what the swaps
// with it wait to repeat is repeated soon. url is any of the LP's.
func (g *Engine) Heard(url string) { g.backoffs.heard(url) }
