// Package limit limits the rate of requests and how many are served at once.
//
// [Requests] limits how many requests a sender makes within a time; [InFlight] limits how
// many are served at once. A [Sender] is counted by its name, or else by its network address,
// and within a group of senders of its kind, so that a flood of strangers keeps out only
// strangers. Both answer an excess request with a sentence, a code and Retry-After. Their
// memory is bounded, however many senders there are.
package limit

import (
	"crypto/sha256"
	"math"
	"net/http"
	"sync"
	"time"

	"github.com/swapper-go/swapper/internal/httpx"
)

// Rate is so many requests in each window of time. The zero value is no limit.
type Rate struct {
	Requests int64
	Window   time.Duration
}

func (r Rate) unlimited() bool { return r.Requests <= 0 || r.Window <= 0 }

// Share returns the part of the rate that each of several processes allows, so that
// together they keep to it: an equal one, of one request at least. A balancer before them
// must spread a sender's requests evenly. swapper.Client.Instances says how many there are.
func (r Rate) Share(instances int) Rate {
	if !r.unlimited() && instances > 1 {
		r.Requests = max(1, r.Requests/int64(instances))
	}
	return r
}

// times is how many requests so many senders have.
func (r Rate) times(n int) int64 {
	if r.Requests > math.MaxInt64/int64(n) {
		return math.MaxInt64
	}
	return r.Requests * int64(n)
}

// maxBuckets bounds the memory that strangers can make us take: 10 MB or so.
const maxBuckets = 100_000

// Limiter counts requests in fixed windows, in a bucket for each key. It is safe for
// concurrent use; make one with [New].
type Limiter struct {
	now func() time.Time

	mu      sync.Mutex
	buckets map[bucketKey]bucket
	swept   time.Time
}

// bucketKey is a hash, so that long keys take no more room than short ones.
type bucketKey [16]byte

type bucket struct {
	ends time.Time
	used int64
}

// New returns a limiter that has counted nothing. now tells the time; nil is time.Now.
func New(now func() time.Time) *Limiter {
	if now == nil {
		now = time.Now
	}
	return &Limiter{now: now, buckets: map[bucketKey]bucket{}}
}

// Allow counts a request and reports whether it is within the rate; if not, it says
// when to come again. A refused request does not count.
func (l *Limiter) Allow(key string, at Rate) (ok bool, retry time.Duration) {
	return l.AllowSender(Sender{parts: []part{{key, 1}}}, at, 1)
}

// AllowSender is Allow for a sender, in each of his parts, and a request that counts as
// cost of them. One that counts as more than the rate allows is the only one of its window.
func (l *Limiter) AllowSender(s Sender, at Rate, cost int64) (ok bool, retry time.Duration) {
	return l.count(s, at, max(cost, 1))
}

// Left reports whether a request of a sender would be allowed, and counts nothing.
func (l *Limiter) Left(s Sender, at Rate) bool {
	ok, _ := l.count(s, at, 0)
	return ok
}

func (l *Limiter) count(s Sender, at Rate, cost int64) (ok bool, retry time.Duration) {
	if at.unlimited() {
		return true, 0
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.now()
	ids, all := make([]bucketKey, len(s.parts)), make([]bucket, len(s.parts))
	for i, p := range s.parts {
		sum := sha256.Sum256([]byte(s.key(p)))
		id := bucketKey(sum[:len(bucketKey{})])
		b, ok := l.buckets[id]
		if !ok || !now.Before(b.ends) {
			b = bucket{ends: now.Add(at.Window)}
		}
		most := at.times(p.times)
		if most-b.used < max(min(cost, most), 1) {
			return false, b.ends.Sub(now)
		}
		b.used += min(cost, most)
		ids[i], all[i] = id, b
	}
	if cost == 0 {
		return true, 0
	}
	for i, id := range ids {
		l.sweep(now)
		l.buckets[id] = all[i]
	}
	return true, 0
}

// sweep drops expired buckets, once a minute and when the table is full. Under a
// flood from ever new senders it then drops arbitrary buckets: losing counts
// is better than growing or locking everybody out.
func (l *Limiter) sweep(now time.Time) {
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

// Len returns the number of senders that are being counted.
func (l *Limiter) Len() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.buckets)
}

// Requests passes on the requests that are within the rate of their sender, and answers
// 429 to all others. of says whose request it is and how many he may send, cost for how
// many it counts; nil: one.
func Requests(l *Limiter, of func(*http.Request) (Sender, Rate), cost func(*http.Request) int64) func(http.Handler) http.Handler {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			counts := int64(1)
			if cost != nil {
				counts = cost(r)
			}
			s, at := of(r)
			if ok, retry := l.AllowSender(s, at, counts); !ok {
				httpx.WriteError(w, http.StatusTooManyRequests, "rate_limited", "Rate limit exceeded", retry)
				return
			}
			next.ServeHTTP(w, r)
		})
	}
}
