package evm

import (
	"sync"
	"time"

	"github.com/swapper-go/swapper/internal/evm/rpc"
)

// latestAge is how old the last word on the newest block may be where a check
// needs no newer one.
const latestAge = 10 * time.Second

// latest is the time of the newest block that was read lately. It spares a quote
// the trip that would read it once more: who asks for fees has read that block.
type latest struct {
	mu   sync.Mutex
	time int64     // of the block
	at   time.Time // when it was read
}

func (l *latest) note(h *rpc.BlockHead, now time.Time) {
	if h == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if t := int64(h.Timestamp); t >= l.time || now.Sub(l.at) >= latestAge {
		l.time, l.at = t, now
	}
}

// get returns the time of the newest block, false if it was not read lately.
func (l *latest) get(now time.Time) (blockTime int64, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	age := now.Sub(l.at)
	return l.time, !l.at.IsZero() && age >= 0 && age < latestAge
}
