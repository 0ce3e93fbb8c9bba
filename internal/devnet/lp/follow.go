package lp

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"time"

	"github.com/swapper-go/swapper/chains"
)

// deal is a swap that the LP has agreed to. Only the goroutine that follows the
// chains calls step; what others read is under the LP's mutex.
type deal interface {
	// escrow is the one to be looked at, and where; false if there is none yet.
	escrow() (*side, chains.Escrow, bool)
	// step does what is to be done now; done says that nothing is left.
	step(ctx context.Context, l *LP, fact *chains.EscrowFact) (done bool, err error)
}

// keep remembers a deal under the keys that clients ask with.
func (l *LP) keep(d deal, keys ...string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, k := range keys {
		l.deals[k] = d
	}
	l.live = append(l.live, d)
}

func (l *LP) find(key string) deal {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.deals[key]
}

// follow looks at the chains until the LP is closed.
func (l *LP) follow(ctx context.Context) {
	ticker := time.NewTicker(l.o.Poll)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			problems := l.pass(ctx)
			l.mu.Lock()
			l.problems = problems
			l.mu.Unlock()
		}
	}
}

// look is what was last seen of a chain: while its head is the same there is
// nothing new to be read.
type look struct {
	of    ledger
	head  string
	facts map[string]chains.EscrowFact
}

// look reads the escrows that deals of a chain wait for.
func (s *side) look(ctx context.Context, live []deal) error {
	head := s.head()
	if head.Hash != s.seen.head || s.now() != s.seen.of {
		s.seen.facts = make(map[string]chains.EscrowFact)
	}
	var ask []chains.Escrow
	for _, d := range live {
		if on, e, ok := d.escrow(); ok && on == s {
			if _, known := s.seen.facts[factKey(e)]; !known {
				ask = append(ask, e)
			}
		}
	}
	if len(ask) > 0 {
		facts, err := s.facts(ctx, ask, head)
		if err != nil {
			return err
		}
		maps.Copy(s.seen.facts, facts)
	}
	s.seen.of, s.seen.head = s.now(), head.Hash
	return nil
}

// pass takes every deal one step on.
func (l *LP) pass(ctx context.Context) (problems []error) {
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	l.passing.Lock()
	defer l.passing.Unlock()
	l.mu.Lock()
	live := append([]deal(nil), l.live...)
	l.mu.Unlock()
	silent := make(map[*side]bool)
	for _, s := range l.sides {
		if err := s.look(ctx, live); err != nil {
			problems = append(problems, fmt.Errorf("%s: %w", s.chain(), err))
			silent[s] = true
		}
	}
	finished := make(map[deal]bool)
	for _, d := range live {
		var fact *chains.EscrowFact
		if s, e, ok := d.escrow(); ok {
			f, known := s.seen.facts[factKey(e)]
			if !known || silent[s] {
				continue // asked in vain; the next pass tries again
			}
			fact = &f
		}
		done, err := d.step(ctx, l, fact)
		if err != nil {
			problems = append(problems, fmt.Errorf("%T: %w", d, err))
		}
		if s, _, _ := d.escrow(); done && !s.colluding() { // in a story it is not over for good
			finished[d] = true
		}
	}
	if err := errors.Join(l.followVaults(ctx), l.replaceVaults(ctx)); err != nil {
		problems = append(problems, err)
	}
	l.forget(finished)
	return problems
}

func (l *LP) forget(finished map[deal]bool) {
	if len(finished) == 0 {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	var live []deal
	for _, d := range l.live {
		if !finished[d] {
			live = append(live, d)
		}
	}
	l.live = live
}
