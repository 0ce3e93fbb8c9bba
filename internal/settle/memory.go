package settle

import (
	"bytes"
	"sync"
	"time"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/internal/lru"
)

// apart is how long after a first settled answer a second one has to be asked for that
// confirms it.
const apart = 2 * time.Minute

// Memory keeps what two settled answers said, more than two minutes apart. Until then it
// gives what was said last as a hint, for two minutes. It is bounded, and safe for
// concurrent use.
type Memory[K comparable, V any] struct {
	confirms func(before, now V) bool
	mu       sync.Mutex
	entries  *lru.Cache[K, entry[V]]
}

type entry[V any] struct {
	kept, once  V
	has         bool      // kept is there
	asked       time.Time // when the question was asked to which once is the answer; zero: there is none
	onceSettled bool
}

// NewMemory returns a memory of so many entries. confirms reports whether an answer says
// again what one before it said.
func NewMemory[K comparable, V any](entries int, confirms func(before, now V) bool) *Memory[K, V] {
	return &Memory[K, V]{confirms: confirms, entries: lru.New[K, entry[V]](entries)}
}

// Kept returns what was settled twice.
func (m *Memory[K, V]) Kept(k K) (V, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	e, _ := m.entries.Get(k)
	return e.kept, e.has
}

// Hint returns what was said last, if the question was asked less than two minutes before
// now, else what is kept.
func (m *Memory[K, V]) Hint(k K, now time.Time) (V, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	e, _ := m.entries.Get(k)
	if e.recent(now) {
		return e.once, true
	}
	return e.kept, e.has
}

func (e *entry[V]) recent(now time.Time) bool {
	age := now.Sub(e.asked)
	return !e.asked.IsZero() && age >= 0 && age <= apart
}

// Note takes the answer to a question that was asked at a time, without help of what is
// kept, or with no more than [Memory.Hint] gave then. Only one that is settled confirms
// another, and takes back what is kept and was otherwise.
func (m *Memory[K, V]) Note(k K, v V, asked time.Time, settled bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	e, _ := m.entries.Get(k)
	if settled && e.has && !m.confirms(e.kept, v) {
		e = entry[V]{}
	}
	switch again := !e.asked.IsZero() && m.confirms(e.once, v); {
	case again && e.recent(asked) && (e.onceSettled || !settled):
		return // too early to say more
	case again && e.onceSettled && !settled:
		return
	case again && e.onceSettled && asked.After(e.asked):
		e.kept, e.has = e.once, true
	}
	e.once, e.asked, e.onceSettled = v, asked, settled
	m.entries.Add(k, e)
}

// Forget drops what was noted: a settled answer says that it is not so.
func (m *Memory[K, V]) Forget(k K) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if _, ok := m.entries.Get(k); ok {
		m.entries.Add(k, entry[V]{})
	}
}

// Later reports whether a height from which to search on lies at or above another.
func Later(before, now uint64) bool { return now >= before }

// Equal reports whether two values are the same.
func Equal[V comparable](before, now V) bool { return before == now }

// SameEnd reports whether two facts say the same end of an escrow.
func SameEnd(before, now chains.EscrowFact) bool {
	return before.State == now.State && before.Opened == now.Opened && before.Finished == now.Finished && before.InitTx == now.InitTx &&
		before.ClaimTx == now.ClaimTx && before.RefundTx == now.RefundTx && bytes.Equal(before.Result, now.Result)
}

// SamePayout reports whether two facts say the same of a withdrawal.
func SamePayout(before, now chains.WithdrawalFact) bool {
	return before.State == now.State && before.Height == now.Height && before.FrontTx == now.FrontTx && before.ClaimTx == now.ClaimTx && before.Close == now.Close
}
