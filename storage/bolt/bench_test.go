package bolt

import (
	"context"
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.etcd.io/bbolt"

	"github.com/swapper-go/swapper/internal/trial"
	"github.com/swapper-go/swapper/storage"
)

// BenchmarkStore measures stores of 1e3 and 1e5 swaps, and of 1e6 (7 GB of disk
// and some minutes to build) if SWAPPER_BENCH_LARGE is set.
func BenchmarkStore(b *testing.B) {
	sizes := []int{1e3, 1e5}
	if os.Getenv("SWAPPER_BENCH_LARGE") != "" {
		sizes = append(sizes, 1e6)
	}
	for _, n := range sizes {
		b.Run(fmt.Sprintf("swaps=%d", n), func(b *testing.B) { benchmarkStore(b, n) })
	}
}

// swap returns a swap like those of the engine: number i of n, one in four
// pending, twenty of each signer, with all the keys that a swap can have at once.
func swap(i int) storage.Entry {
	r := rand.New(rand.NewPCG(uint64(i), 0))
	id := randomHex(r, 48)
	created := 1_700_000_000_000 + int64(i)*1000
	e := storage.Entry{
		ID:   id,
		Body: body[r.IntN(1000):][:3000+r.IntN(3000)],
		Keys: []storage.Key{
			{Index: "signer", Value: signer(i), Order: created},
			{Index: "watch", Order: created + 1_800_000},
			{Index: "event", Value: "CITREA/" + randomHex(r, 32), Unique: true},
			{Index: "hash", Value: randomHex(r, 32), Unique: true},
			{Index: "request", Value: randomHex(r, 16), Unique: true},
		},
	}
	if i%4 == 0 {
		e.Keys = append(e.Keys, storage.Key{Index: "pending", Value: signer(i), Order: created})
	}
	return e
}

// signer spreads each one's swaps over all of time.
func signer(i int) string { return fmt.Sprintf("CITREA/0x%040x", uint64(i%50_000)*0x9E3779B97F4A7C15) }

var body = []byte(`{"schema":1,"state":2,"terms":"` + strings.Repeat("0123456789abcdef", 500) + `"}`)

func randomHex(r *rand.Rand, n int) string {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(r.Uint32())
	}
	return hex.EncodeToString(b)
}

// build fills a store past the committer. Larger transactions would be faster,
// but leave a list of free pages behind that is not like that of a store in use.
func build(b *testing.B, n int) *Store {
	b.Helper()
	s := trial.Must(Open(b.Context(), filepath.Join(b.TempDir(), "swaps"), Options{}))(b)
	b.Cleanup(func() { s.Close() })
	s.db.NoSync = true
	const chunk = 500
	for from := 0; from < n; from += chunk {
		err := s.db.Update(func(tx *bbolt.Tx) error {
			k := bucketsOf(tx)
			for i := from; i < min(n, from+chunk); i++ {
				e := swap(i)
				e.Version = 1
				if err := k.replace(e.ID, encodeEntry(e), nil, placesOf(e.ID, e.Keys)); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			b.Fatal(err)
		}
	}
	trial.Do(b, s.db.Sync())
	s.db.NoSync = false
	return s
}

func benchmarkStore(b *testing.B, n int) {
	s := build(b, n)
	ctx := context.Background()
	b.Run("get", func(b *testing.B) {
		ids := make([]string, 1000)
		for i := range ids {
			ids[i] = swap(rand.IntN(n)).ID
		}
		each(b, func(i int) {
			if _, err := s.Get(ctx, ids[i%len(ids)]); err != nil {
				b.Fatal(err)
			}
		})
	})
	b.Run("pending of one signer", func(b *testing.B) {
		found := 0
		each(b, func(i int) { found += count(b, s, storage.Query{Index: "pending", Value: signer(i * 4 % n)}, 1000) })
		b.ReportMetric(float64(found)/float64(b.N), "found/op")
	})
	b.Run("list of one signer", func(b *testing.B) {
		found := 0
		each(b, func(i int) {
			found += count(b, s, storage.Query{Index: "signer", Value: signer(i % n), Descending: true}, 50)
		})
		b.ReportMetric(float64(found)/float64(b.N), "found/op")
	})
	b.Run("by unique key", func(b *testing.B) {
		each(b, func(i int) {
			k := swap(i % min(n, 1000)).Keys[2]
			if count(b, s, storage.Query{Index: k.Index, Value: k.Value}, 2) != 1 {
				b.Fatal("not found")
			}
		})
	})
	b.Run("iterate all", func(b *testing.B) {
		for b.Loop() {
			iterate(b, s, n)
		}
	})
	b.Run("open", func(b *testing.B) {
		info := trial.Must(os.Stat(s.path))(b)
		for b.Loop() {
			if _, err := checkFile(ctx, s.file, info.Size(), false); err != nil {
				b.Fatal(err)
			}
		}
		b.ReportMetric(float64(info.Size())/float64(n), "disk-B/swap")
	})
	next := atomic.Int64{}
	next.Store(int64(n))
	for _, writers := range []int{1, 64} {
		b.Run(fmt.Sprintf("create/writers=%d", writers), func(b *testing.B) {
			concurrently(b, s, writers, func(int) error { return s.Create(ctx, swap(int(next.Add(1)))) })
		})
	}
	for _, writers := range []int{1, 64} {
		b.Run(fmt.Sprintf("update/writers=%d", writers), func(b *testing.B) {
			concurrently(b, s, writers, func(w int) error {
				e, err := s.Get(ctx, swap(w+writers*rand.IntN(n/writers)).ID)
				if err != nil {
					return err
				}
				return s.Update(ctx, e)
			})
		})
	}
}

// each runs f in a loop and reports the median beside the mean, which on a busy
// machine says more about others.
func each(b *testing.B, f func(i int)) {
	var took []time.Duration
	for i := 0; b.Loop(); i++ {
		start := time.Now()
		f(i)
		took = append(took, time.Since(start))
	}
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)/2].Nanoseconds())/1e3, "median-µs")
}

func count(b *testing.B, s *Store, q storage.Query, limit int) int {
	found := 0
	for _, err := range s.Find(context.Background(), q) {
		if err != nil {
			b.Fatal(err)
		}
		if found++; found == limit {
			break
		}
	}
	return found
}

// iterate goes through all swaps and reports the memory that it takes.
func iterate(b *testing.B, s *Store, n int) {
	var before, now runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	most, found := uint64(0), 0
	for _, err := range s.Find(context.Background(), storage.Query{Index: "watch"}) {
		if err != nil {
			b.Fatal(err)
		}
		if found++; found%(n/20) == 0 {
			runtime.GC()
			runtime.ReadMemStats(&now)
			most = max(most, now.HeapAlloc)
		}
	}
	if found < n {
		b.Fatalf("found %d of %d", found, n)
	}
	b.ReportMetric(float64(most-min(most, before.HeapAlloc))/1e6, "heap-MB")
	anon, file := resident()
	b.ReportMetric(anon, "rss-anon-MB")
	b.ReportMetric(file, "rss-file-MB")
}

// resident returns the resident memory of the process on Linux: its own, and
// the part of the mapped file that happens to be in memory.
func resident() (anonMB, fileMB float64) {
	status, _ := os.ReadFile("/proc/self/status")
	for line := range strings.Lines(string(status)) {
		var kB float64
		if n, _ := fmt.Sscanf(line, "RssAnon: %f kB", &kB); n == 1 {
			anonMB = kB / 1e3
		}
		if n, _ := fmt.Sscanf(line, "RssFile: %f kB", &kB); n == 1 {
			fileMB = kB / 1e3
		}
	}
	return anonMB, fileMB
}

// concurrently makes b.N writes and reports how many are acknowledged a second
// and share a commit.
func concurrently(b *testing.B, s *Store, writers int, write func(writer int) error) {
	commits := -s.latest()
	var left atomic.Int64
	left.Store(int64(b.N))
	var group sync.WaitGroup
	errs := make([]error, writers)
	for w := range writers {
		group.Go(func() {
			for left.Add(-1) >= 0 && errs[w] == nil {
				errs[w] = write(w)
			}
		})
	}
	group.Wait()
	if i := slices.IndexFunc(errs, func(err error) bool { return err != nil }); i >= 0 {
		b.Fatal(errs[i])
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "writes/s")
	b.ReportMetric(float64(b.N)/float64(commits+s.latest()), "writes/commit")
}
