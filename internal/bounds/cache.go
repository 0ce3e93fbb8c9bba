package bounds

import (
	"container/list"
	"sync"
)

// Cache holds the most recently used entries, a fixed number at most, and forgets what was not
// asked for longest. It is safe for concurrent use; make one with [NewCache].
type Cache[K comparable, V any] struct {
	limit int
	mu    sync.Mutex
	order *list.List // of entry, the latest used first
	items map[K]*list.Element
}

type entry[K comparable, V any] struct {
	key   K
	value V
}

// NewCache returns a cache of at most limit entries, one at least.
func NewCache[K comparable, V any](limit int) *Cache[K, V] {
	return &Cache[K, V]{limit: max(limit, 1), order: list.New(), items: make(map[K]*list.Element)}
}

// Get returns the value of key, and whether there is one.
func (c *Cache[K, V]) Get(key K) (V, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	e, ok := c.items[key]
	if !ok {
		var zero V
		return zero, false
	}
	c.order.MoveToFront(e)
	return e.Value.(entry[K, V]).value, true
}

// Add stores a value, and drops the entry used longest ago if there are too many.
func (c *Cache[K, V]) Add(key K, value V) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if e, ok := c.items[key]; ok {
		e.Value = entry[K, V]{key, value}
		c.order.MoveToFront(e)
		return
	}
	c.items[key] = c.order.PushFront(entry[K, V]{key, value})
	if c.order.Len() > c.limit {
		oldest := c.order.Back()
		delete(c.items, c.order.Remove(oldest).(entry[K, V]).key)
	}
}

// Len returns the number of entries.
func (c *Cache[K, V]) Len() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.order.Len()
}
