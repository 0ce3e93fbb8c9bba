package lp

import (
	"context"
	"net/url"
	"sync"
)

// slots bounds how many calls to one host are under way (protocol:
// lp-protocol.md §3.7). Hosts without calls take no memory.
type slots struct {
	most  int
	mu    sync.Mutex
	hosts map[string]*host
}

type host struct {
	free  chan struct{}
	users int // callers that hold or wait for a slot; slots.mu guards it
}

// take waits for a slot and returns what gives it back, or the cause of ctx's
// end.
func (s *slots) take(ctx context.Context, base string) (release func(), err error) {
	key := base
	if u, err := url.Parse(base); err == nil {
		key = u.Host
	}
	s.mu.Lock()
	h := s.hosts[key]
	if h == nil {
		h = &host{free: make(chan struct{}, s.most)}
		if s.hosts == nil {
			s.hosts = map[string]*host{}
		}
		s.hosts[key] = h
	}
	h.users++
	s.mu.Unlock()

	leave := func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if h.users--; h.users == 0 {
			delete(s.hosts, key)
		}
	}
	select {
	case h.free <- struct{}{}:
		return func() { <-h.free; leave() }, nil
	case <-ctx.Done():
		leave()
		return nil, context.Cause(ctx)
	}
}
