//go:build unix

package e2e

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/swapper-go/swapper/internal/trial"
)

// Whenever the process is killed, before or after anything that lasts, the store
// is whole, the swap goes on to its end, and nobody has more or less than agreed.
// What is tried short of full depth is one flow, killed at every eighth point.
func TestKilled(t *testing.T) {
	for _, f := range flows {
		if !trial.Full() && f.name != "FROM_BTCLN_AUTO" {
			continue
		}
		t.Run(f.name, func(t *testing.T) {
			t.Parallel()
			newStage(t, f).all(t)
		})
	}
}

// all lets the flow pass once unharmed, which tells its points, and then once for
// each point. What is stored, and when, does not depend on the chain: a flow that runs on
// the EVM too takes every third point on another chain, and all with KILL=all in the
// environment.
func (s *stage) all(t *testing.T) {
	began := time.Now()
	unharmed := s.life(t, 0, "")
	s.run(t, unharmed)
	mortals := []*life{s.life(t, 0, "")}
	mortals[0].often = true
	n, elsewhere := 0, strings.Contains(s.flow.name, " on ")
	for phase, points := range unharmed.passed {
		for _, point := range points {
			if manyNotes.MatchString(point) || s.flow.raced && manySent.MatchString(point) {
				continue
			}
			n++
			if !trial.Full() && n%8 != 0 {
				continue
			}
			if !elsewhere || (n+len(s.flow.name))%3 == 0 || os.Getenv("KILL") == "all" {
				mortals = append(mortals, s.life(t, phase, point))
			}
		}
	}
	batch := len(mortals)
	if s.flow.batch > 0 {
		batch = s.flow.batch
	}
	for some := range slices.Chunk(mortals, batch) {
		s.run(t, some...)
	}
	died := 0
	for _, l := range mortals {
		if l.deaths > 0 {
			died++
		} else if !l.failed {
			t.Logf("%s: did not come to that", l.name())
		}
	}
	t.Logf("killed %d of %d, one of them %d times, in %s", died, len(mortals), mortals[0].deaths, time.Since(began).Round(time.Second))
	if died*3 < len(mortals)*2 { // what is written depends a little on what is seen at once
		t.Errorf("only %d of %d came to the point at which they were to be killed", died, len(mortals))
	}
	s.conserved(t)
}

// manyNotes are the points around what is noted again and again while the chain
// goes on: the first times stand for all.
var manyNotes = regexp.MustCompile(`^note ([3-9]|\d\d)`)

// manySent are the points around the transactions that bring a relay up to date, in flows
// in which others do so too: how many there are depends on the blocks that were found
// meanwhile, and the first ones stand for all.
var manySent = regexp.MustCompile(`^(update|send) ([5-9]|\d\d)`)

func (s *stage) life(t *testing.T, phase int, point string) *life {
	t.Helper()
	l := trial.Must(s.born(t.Context()))(t)
	l.dieIn, l.dieAt = phase, point
	return l
}

// run brings lives to their ends, with time between the phases.
func (s *stage) run(t *testing.T, lives ...*life) {
	for phase := range s.flow.phases {
		if phase > 0 {
			trial.Do(t, s.net.Advance(s.flow.pass))
		}
		var on []*life
		for _, l := range lives {
			if !l.failed {
				on = append(on, l)
			}
		}
		s.play(t, on, phase)
	}
	for _, l := range lives {
		for _, end := range l.closer {
			end()
		}
	}
}
