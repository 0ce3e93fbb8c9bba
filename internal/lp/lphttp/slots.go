package lphttp

import (
	"context"
	"slices"
	"sync"

	"github.com/swapper-go/swapper/internal/lp"
)

// purpose is what a call is for. Each has a place of its own at every LP, so
// that answers of one kind that hang hold nothing else up.
type purpose int

const (
	toQuote  purpose = iota // what the LP offers, and for how much
	toFollow                // how a swap stands
	toAct                   // what a swap cannot go on without: a PSBT, a refund address
	purposes
)

// slots bounds the number of concurrent calls to one host (protocol:
// lp-protocol.md §3.7). One place is kept free for each purpose that has none,
// if there are enough; the others are given out in order of arrival. Hosts
// without calls take no memory.
type slots struct {
	most  int
	mu    sync.Mutex
	hosts map[string]*host
}

// host is guarded by slots.mu.
type host struct {
	used  [purposes]int
	queue []*waiter
}

type waiter struct {
	purpose purpose
	given   chan struct{} // closed with the place
}

// free reports whether a call may begin.
func (h *host) free(p purpose, most int) bool {
	needed := 1
	for other, n := range h.used {
		needed += n
		if most >= int(purposes) && purpose(other) != p && n == 0 {
			needed++
		}
	}
	return needed <= most
}

// take waits for a place and returns what gives it back, or the cause of ctx's
// end.
func (s *slots) take(ctx context.Context, base string, p purpose) (release func(), err error) {
	key := lp.Host(base)
	s.mu.Lock()
	h := s.hosts[key]
	if h == nil {
		h = &host{}
		if s.hosts == nil {
			s.hosts = map[string]*host{}
		}
		s.hosts[key] = h
	}
	w := &waiter{p, make(chan struct{})}
	h.queue = append(h.queue, w)
	s.give(key, h)
	s.mu.Unlock()

	release = func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		h.used[p]--
		s.give(key, h)
	}
	select {
	case <-w.given:
		return release, nil
	case <-ctx.Done():
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if at := slices.Index(h.queue, w); at >= 0 {
		h.queue = slices.Delete(h.queue, at, at+1)
	} else { // given at the last moment
		h.used[p]--
	}
	s.give(key, h)
	return nil, context.Cause(ctx)
}

// give hands free places to those who wait, in their order. s.mu is held.
func (s *slots) give(key string, h *host) {
	h.queue = slices.DeleteFunc(h.queue, func(w *waiter) bool {
		if !h.free(w.purpose, s.most) {
			return false
		}
		h.used[w.purpose]++
		close(w.given)
		return true
	})
	if len(h.queue) == 0 && h.used == [purposes]int{} {
		delete(s.hosts, key)
	}
}
