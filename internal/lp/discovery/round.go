package discovery

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/swapper-go/swapper/internal/async"
	"github.com/swapper-go/swapper/internal/lp"
)

// Defaults of a [Round] (protocol: lp-protocol.md §3.5, §7).
const (
	defaultWait     = 2 * time.Second
	defaultBudget   = 30 * time.Second
	defaultAttempts = 5
	defaultParallel = 100
)

// Round says how quotes are collected.
type Round[T any] struct {
	// Ask gets a quote from one LP and verifies it; it returns soon after ctx
	// ends. It runs for several candidates at once.
	Ask func(ctx context.Context, c Candidate) (T, error)
	// Better reports whether a is a better offer than b.
	Better func(a, b T) bool

	Wait     time.Duration // for more quotes after the first good one; 0: 2 s
	Budget   time.Duration // of the whole round; 0: 30 s
	Attempts int           // with one LP, if its errors are recoverable; 0: 5
	Parallel int           // LPs asked at once; 0: 100
}

// Failure is a candidate that gave no quote.
type Failure struct {
	Candidate Candidate
	Err       error
}

// Offer is the outcome of a round.
type Offer[T any] struct {
	Quote         T
	From          Candidate
	Failures      []Failure // in the order in which they came
	LimitsChanged bool      // an LP has named its bounds or was put into the penalty box
}

// run asks all candidates and returns the best quote. From the first good one on
// the others have r.Wait left, and none has more than r.Budget; who is late is no
// failure. Of equal quotes the first to arrive wins. A candidate that misbehaves
// in whatever way costs nothing but its own quote (protocol: lp-protocol.md §7).
func (r Round[T]) run(ctx context.Context, candidates []Candidate) (Offer[T], bool) {
	wait, budget, parallel := or(r.Wait, defaultWait), or(r.Budget, defaultBudget), or(r.Parallel, defaultParallel)
	ctx, cancel := context.WithTimeout(ctx, budget)
	defer cancel()
	type outcome struct {
		candidate Candidate
		quote     T
		err       error
	}
	// Buffered for all: a late call delivers its outcome and ends.
	outcomes := make(chan outcome, len(candidates))
	slots := make(chan struct{}, parallel)
	for _, c := range candidates {
		go func() {
			o := outcome{candidate: c}
			select {
			case slots <- struct{}{}:
				o.quote, o.err = r.ask(ctx, c)
				<-slots
			case <-ctx.Done():
				o.err = context.Cause(ctx)
			}
			outcomes <- o
		}()
	}
	var offer Offer[T]
	found := false
	var enough <-chan time.Time
	for range candidates {
		var o outcome
		select {
		case o = <-outcomes:
		case <-enough:
			return offer, found
		case <-ctx.Done():
			offer.Failures = append(offer.Failures, silent(ctx, candidates, offer, found)...)
			return offer, found
		}
		switch {
		case o.err != nil:
			offer.Failures = append(offer.Failures, Failure{o.candidate, named(o.candidate, o.err)})
		case !found:
			found, offer.Quote, offer.From = true, o.quote, o.candidate
			timer := time.NewTimer(wait)
			defer timer.Stop()
			enough = timer.C
		case r.Better(o.quote, offer.Quote):
			offer.Quote, offer.From = o.quote, o.candidate
		}
	}
	return offer, found
}

// silent is the failure of the candidates that had not answered when a round
// without a quote ended.
func silent[T any](ctx context.Context, candidates []Candidate, offer Offer[T], found bool) []Failure {
	if found || len(offer.Failures) == len(candidates) {
		return nil
	}
	answered := map[*LP]bool{}
	for _, f := range offer.Failures {
		answered[f.Candidate.LP] = true
	}
	var out []Failure
	for _, c := range candidates {
		if !answered[c.LP] {
			out = append(out, Failure{c, &lp.CallError{LP: c.LP.URL, Err: context.Cause(ctx)}})
		}
	}
	return out
}

// ask gets a quote from one LP, again if its error says that an honest LP can
// get there (protocol: lp-protocol.md §3.5).
func (r Round[T]) ask(ctx context.Context, c Candidate) (quote T, err error) {
	for n := 1; ; n++ {
		err = async.Guard(func() (err error) { quote, err = r.Ask(ctx, c); return err })
		e, ok := errors.AsType[*lp.LPError](err)
		if !ok || !e.Recoverable || n >= or(r.Attempts, defaultAttempts) || ctx.Err() != nil {
			return quote, err
		}
	}
}

// named returns err with the LP that it is about.
func named(c Candidate, err error) error {
	if e, ok := err.(*lp.LPError); ok && e.LP == "" {
		own := *e
		own.LP = c.LP.URL
		return &own
	}
	if strings.Contains(err.Error(), c.LP.URL) {
		return err
	}
	return fmt.Errorf("%s: %w", c.LP.URL, err)
}

func or[N int | time.Duration](v, otherwise N) N {
	if v > 0 {
		return v
	}
	return otherwise
}

// Collect asks all LPs that can serve a query and returns the best quote. With no
// candidate the LPs are reloaded once. LPs that lied go to the penalty box, bounds
// that were answered are remembered. The error of a round without a quote is an
// *[lp.OutOfBoundsError] if an LP named bounds, a *[fault.Error] that names the field
// if the caller can mend what another found, else a *roundError; or it says that
// no LP offers the swap. It returns when the round's budget is used up, at the
// latest, not counting the reload.
func Collect[T any](ctx context.Context, d *Directory, q Query, r Round[T]) (Offer[T], error) {
	candidates := d.candidates(q)
	if len(candidates) == 0 {
		if err := d.Reload(ctx); err != nil {
			d.s.Log.Warn("reloading the liquidity providers failed", "err", err)
		}
		if candidates = d.candidates(q); len(candidates) == 0 {
			if ctx.Err() != nil {
				return Offer[T]{}, context.Cause(ctx)
			}
			return Offer[T]{}, d.noCandidate(q)
		}
	}
	offer, found := r.run(ctx, candidates)
	for _, f := range offer.Failures {
		if b, ok := errors.AsType[*lp.OutOfBoundsError](f.Err); ok {
			d.learn(f.Candidate, q, b.Min, b.Max)
			offer.LimitsChanged = true
		}
		if lp.Punishable(f.Err) {
			d.Punish(f.Candidate.LP.URL, q.Pair(), f.Err)
			offer.LimitsChanged = true
		}
	}
	switch {
	case found:
		return offer, nil
	case ctx.Err() != nil:
		return offer, context.Cause(ctx)
	case unreached(offer.Failures):
		d.setGone()
	}
	return offer, q.verdict(offer.Failures)
}
