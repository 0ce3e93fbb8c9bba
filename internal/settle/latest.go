package settle

import (
	"sync"
	"time"
)

// latestAge is how old the last word on the newest block may be where a check needs no
// newer one.
const latestAge = 10 * time.Second

// Latest is the time of the newest block that was read lately. It spares a quote the trip
// that would read it once more. It is safe for concurrent use.
type Latest struct {
	mu   sync.Mutex
	time int64     // of the block
	at   time.Time // when it was read
}

// Note remembers the time of a block that was read now.
func (l *Latest) Note(blockTime int64, now time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if blockTime >= l.time || now.Sub(l.at) >= latestAge {
		l.time, l.at = blockTime, now
	}
}

// Get returns the time of the newest block, false if it was not read lately.
func (l *Latest) Get(now time.Time) (blockTime int64, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	age := now.Sub(l.at)
	return l.time, !l.at.IsZero() && age >= 0 && age < latestAge
}
