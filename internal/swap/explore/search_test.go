package explore

import (
	"encoding/json"
	"fmt"
	"hash/maphash"
	"maps"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"weak"

	"github.com/swapper-go/swapper/internal/swap"
)

// node is how a world was reached.
type node struct {
	parent int32
	what   int16 // the action and, times their number, what was wrong with the look after it; of a first world its place
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
	seen    prints   // the surprises that were left, and one
	good    prints   // worlds from which a fair one ends well: 1 with the provider, 2 without
	records *records // each stored form once
	recalls recalls
	normal  memo[form, key]
	visited int  // worlds
	most    int  // of them; 0: no bound
	cut     bool // more worlds there were
	all     bool // goes on after a broken promise
	told    []string
	kinds   []string // of what was told
	// progress is told of how many more worlds all that comes of one more surprise was seen.
	progress func(some, all int)
	steps    int // of the longest of the shortest stories; 0: not known
}

func newExplorer(st *story) *explorer {
	return &explorer{story: st, first: st.begin(), taken: make([]atomic.Bool, len(st.flow.Moves)), records: &records{}, progress: func(_, _ int) {}}
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

// sweep forgets records that are not in use.
func (r *records) sweep() {
	for i := range r.parts {
		maps.DeleteFunc(r.parts[i].all, func(_ key, p weak.Pointer[swap.Record]) bool { return p.Value() == nil })
	}
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

// next is what one action makes of a state, with fault wrong with the look of the process
// after it, from 1; 0: nothing. It is false if that cannot happen or changes nothing.
func (x *explorer) next(st *state, a *action, fault int, s *sim) bool {
	cost := a.cost
	if fault > 0 {
		cost++
	}
	if st.w.left < cost {
		return false
	}
	*s = sim{story: x.story, x: x, w: st.w, rec: st.rec, rest: s.rest}
	s.w.left -= cost
	happened := s.safely(func() bool {
		if !a.do(s) {
			return false
		}
		switch {
		case fault > 0 && !s.looksAfter():
			return false
		case fault > 0:
			s.faulty(x.faults[fault-1])
		case s.looksAfter():
			s.wake()
		}
		return true
	})
	return happened || s.bad != ""
}

// looksAfter reports whether the process looks after the action that was carried out.
func (s *sim) looksAfter() bool { return !s.quiet && !s.w.asleep }

// safely turns a panic of a pass into a broken promise.
func (s *sim) safely(do func() bool) (did bool) {
	defer func() {
		if p := recover(); p != nil {
			s.broken("a pass panics: %v", p)
		}
	}()
	return do()
}

// wake has the process look as often as there is something new.
func (s *sim) wake() {
	s.usual = usual{}
	for n := 0; s.bad == ""; n++ {
		if n == 10 {
			s.broken("the process finds something to do again and again")
			return
		}
		s.writes, s.ran = 0, false
		if s.rest != nil {
			s.rest.asked.Store(0)
		}
		again := s.work(opts{}, asUsual)
		if n == 0 && s.rest != nil {
			s.usual = usual{asked: fact(s.rest.asked.Load()), writes: s.writes, ran: s.ran}
		}
		if !again {
			return
		}
		s.usual.looks++
	}
}

// faulty has the process look once, with something wrong with it.
func (s *sim) faulty(f look) {
	if f.passOnly {
		s.pass(f.o)
		s.forget()
	} else {
		s.work(f.o, f.ends)
	}
}

// usual is what the first look is like with which nothing is wrong, and how many there are
// until there is nothing new.
type usual struct {
	asked  fact
	writes int8 // of its pass
	ran    bool // something was done after it
	looks  int
}

// alike reports whether a look is the same with something wrong with it.
func (u usual) alike(f look) bool {
	switch {
	case f.o.lag || f.o.wrong != 0 || f.o.skew != 0:
		return false
	case f.o.blank:
		return u.asked&aTxs == 0
	case f.ends != asUsual, f.passOnly && f.o.die == 0:
		return !u.ran
	case f.passOnly:
		return !u.ran && u.writes <= f.o.die
	}
	return u.asked&f.o.miss == 0
}

// found is what an action made of a state.
type found struct {
	state
	what int16
	bad  string
}

// explore visits every world and returns the story of the first promise that is broken,
// "" if none is; with x.all, of each kind. With a bound it visits those with the
// shortest stories first; without one those with the fewest surprises, which needs much
// less memory.
func (x *explorer) explore(left int8) string {
	levels := make([][]state, left+1) // by the surprises that are left
	for i, b := range x.first {
		s := &sim{story: x.story, x: x, w: b.w, rec: x.records.of(encoded(b.r))}
		if s.safely(func() bool { s.wake(); return true }); s.bad != "" {
			return fmt.Sprintf("%s: a promise is broken\n   1. %s\n  => %s\n", x.name, b.w.variant(), s.bad)
		}
		if s.w.left = left - b.cost; s.w.left >= 0 {
			x.add(levels, found{state{-1, s.w, s.rec, x.key(s)}, int16(i), ""})
		}
	}
	if x.most > 0 {
		x.nearestFirst(levels)
	} else {
		x.plainestFirst(levels)
	}
	return strings.Join(x.told, "")
}

// add takes note of a world, and has it looked at if it is new, at the level of its
// surprises.
func (x *explorer) add(levels [][]state, f found) {
	if x.seen.of(f.key) > uint8(f.w.left) {
		return
	}
	if x.most > 0 && x.visited >= x.most {
		x.cut = true
		return
	}
	if x.seen.of(f.key) == 0 {
		x.visited++
	}
	x.seen.put(f.key, uint8(f.w.left+1))
	x.nodes = append(x.nodes, node{f.at, f.what})
	f.at = int32(len(x.nodes) - 1)
	levels[f.w.left] = append(levels[f.w.left], f.state)
}

func (x *explorer) nearestFirst(levels [][]state) {
	for !x.cut && !x.over() {
		now := slices.Concat(levels...)
		if len(now) == 0 {
			return
		}
		for i := range levels {
			levels[i] = nil
		}
		x.steps++
		x.look(now, anything, levels)
	}
}

// plainestFirst visits all worlds with no surprise, then those with one, and so on. Of
// those that hold no more, which are most, only few at a time are in memory.
func (x *explorer) plainestFirst(levels [][]state) {
	follow := func(left int, each func([]state)) { // what comes of them without a surprise
		for len(levels[left]) > 0 && !x.over() {
			now := levels[left]
			levels[left] = nil
			each(now)
			x.look(now, expected, levels)
		}
	}
	forget := func([]state) {}
	for left := len(levels) - 1; left > 0; left-- {
		var all []state
		follow(left, func(level []state) { all = append(all, level...) })
		some := max(1, len(all))
		if left == 1 {
			some = 1 << 11
		}
		for some := range slices.Chunk(all, some) {
			x.look(some, surprising, levels)
			if left == 1 {
				follow(0, forget)
				x.progress(len(some), len(all))
			}
		}
	}
	follow(0, forget)
}

// over reports whether a broken promise ends it.
func (x *explorer) over() bool { return len(x.told) > 0 && (!x.all || len(x.told) >= 20) }

// Which actions are tried.
type which int8

const (
	anything which = iota
	expected       // those that are no surprise
	surprising
)

// look looks at worlds, and adds what comes of them to the levels.
func (x *explorer) look(level []state, tried which, levels [][]state) {
	for some := range slices.Chunk(level, 1<<14) {
		for _, fs := range x.expand(some, tried) {
			for _, f := range fs {
				if f.bad == "" {
					x.add(levels, f)
				} else if kind, _, _ := strings.Cut(f.bad, "\n"); !x.over() && !slices.Contains(x.kinds, kind) {
					x.kinds = append(x.kinds, kind)
					x.told = append(x.told, x.tell(f.at, f.what, f.bad))
				}
			}
		}
		x.normal.clear()
		x.records.sweep()
		if x.over() {
			return
		}
	}
}

// expand looks at worlds, and returns for each what may come of it that is new.
func (x *explorer) expand(level []state, tried which) [][]found {
	results := make([][]found, len(level))
	var at atomic.Int64
	var stop atomic.Bool
	var workers sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		workers.Go(func() {
			s := &sim{rest: &rest{all: map[atRest]passed{}}}
			for !stop.Load() {
				i := int(at.Add(1)) - 1
				if i >= len(level) {
					return
				}
				st := &level[i]
				if x.seen.of(st.key) > uint8(st.w.left+1) { // with more surprises, meanwhile
					continue
				}
				if tried != surprising { // else it was done before
					if bad := x.live(st, s); bad != "" {
						results[i] = []found{{state: *st, what: -1, bad: bad}}
						stop.Store(!x.all)
						continue
					}
				}
				try := func(a, fault int, keep bool) (happened bool) {
					if happened = x.next(st, &x.actions[a], fault, s); !happened || !keep && s.bad == "" {
						return happened
					}
					k := x.key(s)
					if s.bad == "" && x.seen.of(k) > uint8(s.w.left) {
						return true
					}
					results[i] = append(results[i], found{state{st.at, s.w, s.rec, k}, int16(a + fault*len(x.actions)), s.bad})
					if s.bad != "" && !x.all {
						stop.Store(true)
					}
					return true
				}
				for a := range x.actions {
					cost := x.actions[a].cost
					if tried == expected && cost > 0 {
						continue
					}
					if !try(a, 0, tried != surprising || cost > 0) || s.bad != "" || tried == expected || st.w.left <= cost || !s.looksAfter() {
						continue
					}
					was, same := s.usual, false
					for f := range x.faults {
						if was.alike(x.faults[f]) {
							if same || was.looks < 2 {
								continue
							}
							same = true // one is tried: it looks once
						}
						try(a, f+1, true)
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
	did := func(what int16) {
		lines = append(lines, x.actions[int(what)%len(x.actions)].name)
		if f := int(what) / len(x.actions); f > 0 {
			lines = append(lines, wrongLook(x.faults[f-1]))
		}
	}
	if last >= 0 {
		did(last)
	}
	for ; at >= 0; at = x.nodes[at].parent {
		if n := x.nodes[at]; n.parent < 0 {
			lines = append(lines, x.first[n.what].w.variant())
		} else {
			did(n.what)
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

func wrongLook(f look) string { return "[at the next look of the process, " + f.name + "]" }

// fairRounds bounds how long a fair world may take to end a swap.
const fairRounds = 120

// live says what is wrong if the world is fair from now on; "" if the swap ends well.
func (x *explorer) live(st *state, s *sim) string {
	type event struct {
		did   string
		state int
	}
	for i, gone := range []bool{false, true} {
		good := uint8(i + 1)
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
		s.w.left, s.w.asleep = 0, false
		s.reform()
		s.fade()
		for round := 0; ; round++ {
			k := x.key(s)
			if x.good.of(k)&good != 0 {
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
			x.good.add(k, good)
		}
	}
	return ""
}
