package storagetest

import (
	"context"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/swapper-go/swapper/storage"
)

// MemoryLeases is a [storage.Leaser] in memory. Embedded beside a [storage.Memory] it makes a store
// that several clients of one process share in a test. The zero value has no leases.
type MemoryLeases struct {
	mu   sync.Mutex
	held map[string]lease
}

type lease struct {
	owner string
	until time.Time
}

var _ storage.Leaser = (*MemoryLeases)(nil)

// Lease implements [storage.Leaser].
func (l *MemoryLeases) Lease(ctx context.Context, owner string, ttl time.Duration, names ...string) ([]string, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if err := storage.ValidateLease(owner, ttl, names); err != nil {
		return nil, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.drop()
	if l.held == nil {
		l.held = map[string]lease{}
	}
	var held []string
	for _, name := range slices.Compact(slices.Sorted(slices.Values(names))) {
		if other, ok := l.held[name]; !ok || other.owner == owner {
			l.held[name] = lease{owner: owner, until: time.Now().Add(ttl)}
			held = append(held, name)
		}
	}
	return held, nil
}

// Release implements [storage.Leaser].
func (l *MemoryLeases) Release(ctx context.Context, owner string, names ...string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := storage.ValidateLease(owner, time.Millisecond, names); err != nil {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, name := range names {
		if l.held[name].owner == owner {
			delete(l.held, name)
		}
	}
	return nil
}

// Leases implements [storage.Leaser].
func (l *MemoryLeases) Leases(ctx context.Context, prefix string) (map[string]string, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.drop()
	owners := map[string]string{}
	for name, held := range l.held {
		if strings.HasPrefix(name, prefix) {
			owners[name] = held.owner
		}
	}
	return owners, nil
}

// drop forgets what has ended. l.mu is held.
func (l *MemoryLeases) drop() {
	now := time.Now()
	maps.DeleteFunc(l.held, func(_ string, held lease) bool { return !now.Before(held.until) })
}
