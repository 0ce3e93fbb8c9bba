package settle

import (
	"sync"
	"time"

	"github.com/swapper-go/swapper/internal/bounds"
)

// apart is how long after a first settled answer a second one has to be asked for that
// confirms it.
const apart = 2 * time.Minute

// Entry is what is remembered of one question: what two settled answers said, more than two
// minutes apart. Until then it gives what was said last as a hint, for two minutes. It is
// a value, and pure; the zero value is nothing.
type Entry[V any] struct {
	kept, once  V
	has         bool      // kept is there
	asked       time.Time // when the question was asked to which once is the answer; zero: there is none
	onceSettled bool
}

// Kept returns what was settled twice.
func (e Entry[V]) Kept() (V, bool) { return e.kept, e.has }

// Hint returns what was said last, if the question was asked less than two minutes before
// now, else what is kept.
func (e Entry[V]) Hint(now time.Time) (V, bool) {
	if e.recent(now) {
		return e.once, true
	}
	return e.kept, e.has
}

func (e Entry[V]) recent(now time.Time) bool {
	age := now.Sub(e.asked)
	return !e.asked.IsZero() && age >= 0 && age <= apart
}

func (e Entry[V]) empty() bool { return !e.has && e.asked.IsZero() }

// Note takes the answer to a question that was asked at a time, without help of what is
// kept, or with no more than [Entry.Hint] gave then. Only one that is settled confirms
// another, and takes back what is kept and was otherwise. confirms reports whether an
// answer says again what one before it said.
func (e Entry[V]) Note(v V, asked time.Time, settled bool, confirms func(before, now V) bool) Entry[V] {
	if settled && e.has && !confirms(e.kept, v) {
		e = Entry[V]{}
	}
	switch again := !e.asked.IsZero() && confirms(e.once, v); {
	case again && e.recent(asked) && (e.onceSettled || !settled):
		return e // too early to say more
	case again && e.onceSettled && !settled:
		return e
	case again && e.onceSettled && asked.After(e.asked):
		e.kept, e.has = e.once, true
	}
	e.once, e.asked, e.onceSettled = v, asked, settled
	return e
}

// table has the entries of many questions.
type table[K comparable, E interface{ empty() bool }] struct {
	mu      sync.Mutex
	entries *bounds.Cache[K, E]
}

func newTable[K comparable, E interface{ empty() bool }](entries int) table[K, E] {
	return table[K, E]{entries: bounds.NewCache[K, E](entries)}
}

func (t *table[K, E]) of(k K) E {
	e, _ := t.entries.Get(k)
	return e
}

func (t *table[K, E]) change(k K, to func(E) E) {
	t.mu.Lock()
	defer t.mu.Unlock()
	e, had := t.entries.Get(k)
	if e = to(e); had || !e.empty() {
		t.entries.Add(k, e)
	}
}

// Memory has the [Entry] of each of many questions. It is bounded, and safe for concurrent use.
type Memory[K comparable, V any] struct {
	confirms func(before, now V) bool
	table    table[K, Entry[V]]
}

// NewMemory returns a memory of so many entries. confirms is as for [Entry.Note].
func NewMemory[K comparable, V any](entries int, confirms func(before, now V) bool) *Memory[K, V] {
	return &Memory[K, V]{confirms: confirms, table: newTable[K, Entry[V]](entries)}
}

// Kept is [Entry.Kept].
func (m *Memory[K, V]) Kept(k K) (V, bool) { return m.table.of(k).Kept() }

// Hint is [Entry.Hint].
func (m *Memory[K, V]) Hint(k K, now time.Time) (V, bool) { return m.table.of(k).Hint(now) }

// Note is [Entry.Note].
func (m *Memory[K, V]) Note(k K, v V, asked time.Time, settled bool) {
	m.table.change(k, func(e Entry[V]) Entry[V] { return e.Note(v, asked, settled, m.confirms) })
}

// Forget drops what was noted: a settled answer says that it is not so.
func (m *Memory[K, V]) Forget(k K) {
	m.table.change(k, func(Entry[V]) Entry[V] { return Entry[V]{} })
}

// Later reports whether a height from which to search on lies at or above another.
func Later(before, now uint64) bool { return now >= before }

// Equal reports whether two values are the same.
func Equal[V comparable](before, now V) bool { return before == now }
