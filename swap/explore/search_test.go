package explore

import (
	"encoding/json"
	"fmt"
	"hash/maphash"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"weak"

	"github.com/swapper-go/swapper/swap"
)

// node is how a world was reached.
type node struct {
	parent int32
	what   int16 // the action; of a first world its place among them
}

// state is a world that is to be looked at.
type state struct {
	at  int32 // node
	w   world
	rec *swap.Record
	key key
}

// key stands for all worlds that differ in nothing that decides: their surprises left
// apart, of which more allow everything that fewer do.
type key [2]uint64

type explorer struct {
	*story
	first   []start
	taken   []atomic.Bool // rows of the table
	nodes   []node
	seen    map[key]int8 // the surprises that were left, and one
	good    [2]set[key]  // worlds from which a fair one ends well: with the provider, and without
	records *records     // each stored form once
	normal  memo[form, key]
	most    int  // worlds; 0: no bound
	cut     bool // more worlds there were
	all     bool // goes on after a broken promise
	steps   int  // of the longest of the shortest stories
}

func newExplorer(st *story) *explorer {
	return &explorer{story: st, first: st.begin(), taken: make([]atomic.Bool, len(st.flow.Moves)), seen: map[key]int8{}, records: &records{}}
}

// taking notes that a row of the table was taken.
func (x *explorer) taking(m *swap.Move) {
	for i := range x.flow.Moves {
		if &x.flow.Moves[i] == m {
			x.taken[i].Store(true)
		}
	}
}

var seeds = [2]maphash.Seed{maphash.MakeSeed(), maphash.MakeSeed()}

func hashed(body []byte) key {
	return key{maphash.Bytes(seeds[0], body), maphash.Bytes(seeds[1], body)}
}

// memo keeps what was computed, for many at once.
type memo[K comparable, V any] struct{ parts [256]part[K, V] }

type part[K comparable, V any] struct {
	sync.Mutex
	all map[K]V
}

func (m *memo[K, V]) part(k K) *part[K, V] { return &m.parts[uint8(maphash.Comparable(seeds[0], k))] }

func (m *memo[K, V]) of(k K, make_ func() V) V {
	p := m.part(k)
	p.Lock()
	v, ok := p.all[k]
	p.Unlock()
	if ok {
		return v
	}
	v = make_()
	p.Lock()
	defer p.Unlock()
	if first, ok := p.all[k]; ok { // of two that computed it at once, all have the same
		return first
	}
	if p.all == nil {
		p.all = map[K]V{}
	}
	p.all[k] = v
	return v
}

type set[K comparable] struct{ memo[K, struct{}] }

func (s *set[K]) add(k K) { s.of(k, func() struct{} { return struct{}{} }) }

func (s *set[K]) has(k K) bool {
	p := s.part(k)
	p.Lock()
	defer p.Unlock()
	_, ok := p.all[k]
	return ok
}

// clear forgets all; nobody else may be at it.
func (m *memo[K, V]) clear() {
	for i := range m.parts {
		clear(m.parts[i].all)
	}
}

// records has each record that is in use once, as it is read from the store.
type records struct {
	memo[key, weak.Pointer[swap.Record]]
}

func (r *records) of(body []byte) *swap.Record {
	k := hashed(body)
	p := r.part(k)
	p.Lock()
	defer p.Unlock()
	rec := p.all[k].Value()
	if rec == nil {
		if p.all == nil {
			p.all = map[key]weak.Pointer[swap.Record]{}
		}
		rec = stored(body)
		p.all[k] = weak.Make(rec)
	}
	return rec
}

// form is what a record's normal form depends on.
type form struct {
	rec    *swap.Record
	height int16
	now    int8
}

func (x *explorer) key(s *sim) key {
	w := s.w.canonical(s.rec)
	w.left = 0
	n := x.normal.of(form{s.rec, s.w.height, s.w.now}, func() key {
		r := s.rec.Clone()
		s.normalise(r)
		body, err := json.Marshal(r)
		if err != nil {
			panic(err)
		}
		return hashed(body)
	})
	var k key
	for i, seed := range seeds {
		k[i] = maphash.Comparable(seed, struct {
			world
			key
		}{w, n})
	}
	return k
}

// normalise leaves of a record what decides: heights count from the newest block, and
// times by how many moments ago they were.
func (s *sim) normalise(r *swap.Record) {
	r.Changed, r.Due = 0, 0
	height := func(h uint64) uint64 {
		switch {
		case h == 0:
			return 0
		case h+finalAfter < uint64(s.w.height):
			return 1
		}
		return 100 + h - uint64(s.w.height)
	}
	ago := func(m swap.Millis) swap.Millis {
		if m == 0 {
			return 0
		}
		for n := int8(0); n < 2; n++ {
			if s.w.now < n {
				break
			}
			switch d := m - swap.At(s.moment(s.w.now-n)); {
			case d > 60_000:
				return 1 + 10*swap.Millis(n)
			case d >= 0:
				return 2 + 10*swap.Millis(n)
			}
		}
		return 3
	}
	r.Seen.Chain, r.Seen.At = height(r.Seen.Chain), ago(r.Seen.At)
	r.Ended = ago(r.Ended)
	if p := r.Problem; p != "" {
		r.Problem = "a problem"
	}
	if e := r.Escrow; e != nil {
		e.OpenedAt = ago(e.OpenedAt)
	}
	if l := r.Lightning; l != nil {
		l.Revealed = min(l.Revealed, 1)
	}
	if b := r.Bitcoin; b != nil {
		b.ConfirmedAt = ago(b.ConfirmedAt)
	}
	if sub := r.Submission; sub != nil {
		sub.Block = height(sub.Block)
		sub.Since, sub.Moved, sub.Missing = ago(sub.Since), ago(sub.Moved), ago(sub.Missing)
		if sub.Reason != "" {
			sub.Reason = "a reason"
		}
		if sub.Closed && len(sub.Txs) > 0 { // which they were is history
			sub.Txs = sub.Txs[:1]
			sub.Txs[0].ID = "closed"
		}
	}
	now := swap.At(s.clock(0))
	for k, t := range r.Tried {
		t.Attempts, t.Started, t.Reason = min(t.Attempts, 3), min(t.Started, 1), ""
		if swap.KindOf(k) == swap.SendTx {
			t.Attempts = min(t.Attempts, 1)
		}
		if t.NotBefore <= now {
			t.NotBefore = 0
		} else {
			t.NotBefore = 1
		}
		if t.Busy = min(t.Busy, 1); t.Busy != 0 && !r.Tried[k].Busy.Reached(s.clock(0)) {
			t.Busy = 2
		}
		r.Tried[k] = t
	}
}

// next is what one action makes of a state; false if it cannot happen or changes nothing.
func (x *explorer) next(st *state, a *action, s *sim) bool {
	if st.w.left < a.cost {
		return false
	}
	*s = sim{story: x.story, x: x, w: st.w, rec: st.rec, rest: s.rest}
	s.w.left -= a.cost
	happened := s.safely(func() bool {
		if !a.do(s) {
			return false
		}
		if !s.quiet {
			s.wake()
		}
		return true
	})
	return happened || s.bad != ""
}

// safely turns a panic of a pass into a broken promise.
func (s *sim) safely(do func() bool) (did bool) {
	defer func() {
		if p := recover(); p != nil {
			s.broken("a pass panics: %v", p)
		}
	}()
	return do()
}

// wake has the process look as often as there is something new, if it runs; only once
// if something is wrong with that look.
func (s *sim) wake() {
	switch {
	case s.w.asleep:
	case s.w.fault != 0:
		f := s.faults[s.w.fault-1]
		s.w.fault = 0
		if f.passOnly {
			s.pass(f.o)
		} else {
			s.work(f.o, f.ends)
		}
	default:
		for n := 0; s.bad == "" && s.work(opts{}, asUsual); n++ {
			if n == 10 {
				s.broken("the process finds something to do again and again")
			}
		}
	}
}

// found is what an action made of a state.
type found struct {
	state
	what int16
	bad  string
}

// explore visits every world, those with the shortest stories first, and returns the
// story of the first promise that is broken, "" if none is; with x.all, of each kind.
func (x *explorer) explore(left int8) string {
	var level []state
	full := func() bool { return x.most > 0 && len(x.seen) >= x.most }
	add := func(f found) {
		if x.seen[f.key] > f.w.left {
			return
		}
		if full() {
			x.cut = true
			return
		}
		x.seen[f.key] = f.w.left + 1
		x.nodes = append(x.nodes, node{f.at, f.what})
		f.at = int32(len(x.nodes) - 1)
		level = append(level, f.state)
	}
	for i, b := range x.first {
		s := &sim{story: x.story, x: x, w: b.w, rec: x.records.of(encoded(b.r))}
		if s.safely(func() bool { s.wake(); return true }); s.bad != "" {
			return fmt.Sprintf("%s: a promise is broken\n   1. %s\n  => %s\n", x.name, b.w.variant(), s.bad)
		}
		if s.w.left = left - b.cost; s.w.left >= 0 {
			add(found{state{-1, s.w, s.rec, x.key(s)}, int16(i), ""})
		}
	}
	var told []string
	kinds := map[string]bool{}
	for len(level) > 0 && !x.cut {
		now := level
		level = nil
		x.steps++
		for some := range slices.Chunk(now, 1<<15) {
			for _, fs := range x.expand(some) {
				for _, f := range fs {
					if f.bad == "" {
						add(f)
						continue
					}
					if kind, _, _ := strings.Cut(f.bad, "\n"); !kinds[kind] {
						kinds[kind] = true
						told = append(told, x.tell(f.at, f.what, f.bad))
					}
					if !x.all || len(told) == 20 {
						return strings.Join(told, "")
					}
				}
			}
			x.normal.clear()
		}
	}
	return strings.Join(told, "")
}

// expand looks at worlds, and returns for each what may come of it that is new.
func (x *explorer) expand(level []state) [][]found {
	results := make([][]found, len(level))
	var at atomic.Int64
	var stop atomic.Bool
	var workers sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		workers.Go(func() {
			s := &sim{rest: &rest{map[atRest]passed{}}}
			for !stop.Load() {
				i := int(at.Add(1)) - 1
				if i >= len(level) {
					return
				}
				st := &level[i]
				if x.seen[st.key] > st.w.left+1 { // with more surprises, meanwhile
					continue
				}
				if bad := x.live(st, s); bad != "" {
					results[i] = []found{{state: *st, what: -1, bad: bad}}
					stop.Store(!x.all)
					continue
				}
				for a := range x.actions {
					if !x.next(st, &x.actions[a], s) {
						continue
					}
					k := x.key(s)
					if s.bad == "" && x.seen[k] > s.w.left {
						continue
					}
					results[i] = append(results[i], found{state{st.at, s.w, s.rec, k}, int16(a), s.bad})
					if s.bad != "" && !x.all {
						stop.Store(true)
					}
				}
			}
		})
	}
	workers.Wait()
	return results
}

// tell prints a path as a story.
func (x *explorer) tell(at int32, last int16, bad string) string {
	var lines []string
	if last >= 0 {
		lines = append(lines, x.actions[last].name)
	}
	for ; at >= 0; at = x.nodes[at].parent {
		if n := x.nodes[at]; n.parent < 0 {
			lines = append(lines, x.first[n.what].w.variant())
		} else {
			lines = append(lines, x.actions[n.what].name)
		}
	}
	slices.Reverse(lines)
	var b strings.Builder
	fmt.Fprintf(&b, "%s: a promise is broken\n", x.name)
	for i, l := range lines {
		fmt.Fprintf(&b, "  %2d. %s\n", i+1, l)
	}
	fmt.Fprintf(&b, "  => %s\n", bad)
	return b.String()
}

// fairRounds bounds how long a fair world may take to end a swap.
const fairRounds = 120

// live says what is wrong if the world is fair from now on; "" if the swap ends well.
func (x *explorer) live(st *state, s *sim) string {
	type event struct {
		did   string
		state int
	}
	for i, gone := range []bool{false, true} {
		var path []key
		var events []event
		told := func(last int) string {
			var b []string
			for _, e := range events[max(0, len(events)-last):] {
				b = append(b, fmt.Sprintf("%s, state %d", e.did, e.state))
			}
			return strings.Join(b, "; ")
		}
		*s = sim{story: x.story, x: x, w: st.w, rec: st.rec, rest: s.rest}
		s.w.left, s.w.asleep, s.w.fault = 0, false, 0
		for round := 0; ; round++ {
			k := x.key(s)
			if x.good[i].has(k) {
				break
			}
			path = append(path, k)
			did := ""
			s.safely(func() bool {
				did = s.fairly(gone)
				return true
			})
			if s.bad != "" {
				return fmt.Sprintf("%s\n     (in a fair world: %s)", s.bad, told(fairRounds))
			}
			if did == "" {
				r := s.rec
				if s.settled(r, gone) {
					if bad := s.ended(s, r, gone); bad != "" {
						return fmt.Sprintf("the swap has ended, and %s\n     (from here on in a fair world: %s)", bad, told(fairRounds))
					}
					break
				}
				if round >= fairRounds || !s.tick(false) {
					return fmt.Sprintf("in a fair world (provider gone: %v) the swap does not end; it stays in state %s\n     (%s)", gone, row(x.flow, r.State), told(12))
				}
				did = "time passes"
			}
			if round > 2*fairRounds {
				return "in a fair world the process finds no rest: " + told(12)
			}
			events = append(events, event{did, s.rec.State})
		}
		for _, k := range path {
			x.good[i].add(k)
		}
	}
	return ""
}
