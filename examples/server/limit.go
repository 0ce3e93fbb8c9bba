package main

import (
	"net/netip"
	"sync"
	"time"
)

// limit is so many requests per window.
type limit struct {
	WindowMs    int64
	MaxRequests int64
}

// limiter counts requests in fixed windows, in a bucket for each entry and
// client: a busy entry does not use up what another one of the same address may
// do. It is safe for concurrent use.
type limiter struct {
	now func() time.Time

	mu      sync.Mutex
	buckets map[bucketKey]bucket
	swept   time.Time
}

type bucketKey struct {
	entry  string
	client netip.Addr
}

type bucket struct {
	ends time.Time
	used int64
}

// maxBuckets bounds the memory that strangers can make us take: 10 MB or so.
const maxBuckets = 100_000

func newLimiter(now func() time.Time) *limiter {
	return &limiter{now: now, buckets: map[bucketKey]bucket{}}
}

// allow counts a request and reports whether it is within the limit; if not, it
// says when to come again. A nil limit allows everything.
func (l *limiter) allow(entry string, client netip.Addr, at *limit) (ok bool, retry time.Duration) {
	if at == nil {
		return true, 0
	}
	// A client with one IPv6 address controls its whole /64 network.
	if client = client.Unmap(); client.Is6() {
		if p, err := client.WithZone("").Prefix(64); err == nil {
			client = p.Addr()
		}
	}
	key := bucketKey{entry, client}
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.now()
	b, ok := l.buckets[key]
	if !ok || !now.Before(b.ends) {
		b = bucket{ends: now.Add(time.Duration(at.WindowMs) * time.Millisecond)}
	}
	if b.used >= at.MaxRequests {
		return false, b.ends.Sub(now)
	}
	b.used++
	l.sweep(now)
	l.buckets[key] = b
	return true, 0
}

// sweep drops expired buckets, once a minute and when the table is full. Under a
// flood from ever new addresses it then drops arbitrary buckets: losing counts
// is better than growing or locking everybody out.
func (l *limiter) sweep(now time.Time) {
	if full := len(l.buckets) >= maxBuckets; !full && now.Sub(l.swept) < time.Minute {
		return
	}
	l.swept = now
	for key, b := range l.buckets {
		if !now.Before(b.ends) {
			delete(l.buckets, key)
		}
	}
	for key := range l.buckets {
		if len(l.buckets) < maxBuckets*9/10 {
			break
		}
		delete(l.buckets, key)
	}
}
