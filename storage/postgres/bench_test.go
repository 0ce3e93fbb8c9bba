//go:build unix

package postgres

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/swapper-go/swapper/internal/pgtest"
	"github.com/swapper-go/swapper/internal/trial"
	"github.com/swapper-go/swapper/storage"
	"github.com/swapper-go/swapper/storage/bolt"
)

// BenchmarkSideBySide measures a file and a database with the same swaps and calls:
// 1e3 and 1e5 of them, and 1e6 (some gigabytes and many minutes) if
// SWAPPER_BENCH_LARGE is set. Both force each write to disk. The server is one that
// is started here, on the same machine, with its defaults: 128 MB of memory of its own.
func BenchmarkSideBySide(b *testing.B) {
	sizes := []int{1e3, 1e5}
	if os.Getenv("SWAPPER_BENCH_LARGE") != "" {
		sizes = append(sizes, 1e6)
	}
	for _, n := range sizes {
		b.Run(fmt.Sprintf("swaps=%d/bolt", n), func(b *testing.B) {
			s := trial.Must(bolt.Open(b.Context(), filepath.Join(b.TempDir(), "swaps"), bolt.Options{}))(b)
			defer s.Close()
			benchmark(b, s, n)
		})
		b.Run(fmt.Sprintf("swaps=%d/postgres", n), func(b *testing.B) {
			server := pgtest.Start(b)
			s := openTest(b, server.DSN(), Options{})
			benchmark(b, s, n)
			var size int64
			trial.Do(b, s.pool.QueryRow(b.Context(), `select pg_database_size(current_database())`).Scan(&size))
			b.Logf("%.1f kB on disk for each of the swaps first stored", float64(size)/float64(n)/1e3)
		})
	}
}

// BenchmarkMove copies a file of 60,704 swaps into a database with examples/move, which
// verifies and compares both, and verifies the copy once more on its own.
func BenchmarkMove(b *testing.B) {
	const swaps = 60_704
	path := filepath.Join(b.TempDir(), "swaps.db")
	file := trial.Must(bolt.Open(b.Context(), path, bolt.Options{}))(b)
	var group errgroup.Group
	group.SetLimit(256)
	for i := range swaps {
		group.Go(func() error { return file.Create(b.Context(), benchSwap(i)) })
	}
	trial.Do(b, errors.Join(group.Wait(), file.Close()))
	command := moveCommand(b)
	for b.Loop() {
		server := pgtest.Start(b)
		c := exec.CommandContext(b.Context(), command, "-from", path, "-to", asURL(b, server.DSN()))
		began := time.Now()
		if out, err := c.CombinedOutput(); err != nil || !strings.Contains(string(out), "verified: 60704 entries") {
			b.Fatalf("%v\n%s", err, out)
		}
		b.Logf("moved and compared in %s", time.Since(began).Round(100*time.Millisecond))
		if use, ok := c.ProcessState.SysUsage().(*syscall.Rusage); ok {
			b.Logf("with %d MB of memory", use.Maxrss>>10) // kB on Linux; of it what the file has in memory
		}
		s := openTest(b, server.DSN(), Options{ReadOnly: true})
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		began = time.Now()
		trial.Do(b, s.Verify(b.Context()))
		runtime.ReadMemStats(&after)
		b.Logf("the copy verified in %s, with %d MB from the system and %d MB allocated in all", time.Since(began).Round(100*time.Millisecond), (after.Sys-before.Sys)>>20, (after.TotalAlloc-before.TotalAlloc)>>20)
	}
}

// benchSwap returns a swap like those of the engine: number i, one in four pending,
// twenty of each signer, with all the keys that a swap can have at once.
func benchSwap(i int) storage.Entry {
	r := rand.New(rand.NewPCG(uint64(i), 0))
	random := func(n int) string {
		b := make([]byte, n)
		for i := range b {
			b[i] = byte(r.Uint32())
		}
		return hex.EncodeToString(b)
	}
	created := 1_700_000_000_000 + int64(i)*1000
	e := storage.Entry{
		ID:   random(48),
		Body: benchBody[r.IntN(1000):][:3000+r.IntN(3000)],
		Keys: []storage.Key{
			{Index: "signer", Value: benchSigner(i), Order: created},
			{Index: "watch", Order: created + 1_800_000},
			{Index: "event", Value: "CITREA/" + random(32), Unique: true},
			{Index: "hash", Value: random(32), Unique: true},
			{Index: "request", Value: random(16), Unique: true},
			{Index: "change", Value: "CITREA", Order: created},
		},
	}
	if i%4 == 0 {
		e.Keys = append(e.Keys, storage.Key{Index: "pending", Value: benchSigner(i), Order: created})
	}
	return e
}

func benchSigner(i int) string {
	return fmt.Sprintf("CITREA/0x%040x", uint64(i%50_000)*0x9E3779B97F4A7C15)
}

var benchBody = []byte(`{"schema":1,"state":2,"terms":"` + strings.Repeat("0123456789abcdef", 500) + `"}`)

func benchmark(b *testing.B, s storage.Store, n int) {
	ctx := context.Background()
	start := time.Now()
	var group errgroup.Group
	group.SetLimit(256)
	for i := range n {
		group.Go(func() error { return s.Create(ctx, benchSwap(i)) })
	}
	trial.Do(b, group.Wait())
	b.Logf("%d swaps stored in %s by 256 writers", n, time.Since(start).Round(time.Second))
	page := func(b *testing.B, q storage.Query, limit, want int) {
		found := 0
		for _, err := range s.Find(ctx, q) {
			if err != nil {
				b.Fatal(err)
			}
			if found++; found == limit {
				break
			}
		}
		if found < want {
			b.Fatalf("found %d, want %d", found, want)
		}
	}
	median := func(name string, f func(b *testing.B, i int)) {
		b.Run(name, func(b *testing.B) {
			var took []time.Duration
			for i := 0; b.Loop(); i++ {
				start := time.Now()
				f(b, i)
				took = append(took, time.Since(start))
			}
			slices.Sort(took)
			b.ReportMetric(float64(took[len(took)/2].Nanoseconds())/1e3, "median-µs")
			b.ReportMetric(float64(took[len(took)*99/100].Nanoseconds())/1e3, "p99-µs")
		})
	}
	median("get", func(b *testing.B, i int) {
		if _, err := s.Get(ctx, benchSwap(i*7919%n).ID); err != nil {
			b.Fatal(err)
		}
	})
	median("list of one signer", func(b *testing.B, i int) {
		page(b, storage.Query{Index: "signer", Value: benchSigner(i * 7919 % n), Descending: true}, 50, 1)
	})
	median("page of 50 of all", func(b *testing.B, i int) {
		at := storage.Position{Order: 1_700_001_800_000 + int64(i*7919%(n-50))*1000}
		page(b, storage.Query{Index: "watch", After: &at}, 50, 50)
	})
	median("by unique key", func(b *testing.B, i int) {
		k := benchSwap(i * 7919 % n).Keys[2]
		page(b, storage.Query{Index: k.Index, Value: k.Value}, 2, 1)
	})
	var next atomic.Int64
	next.Store(int64(n))
	for _, writers := range []int{1, 64} {
		write := func(name string, f func(i int) error) {
			b.Run(fmt.Sprintf("%s/writers=%d", name, writers), func(b *testing.B) {
				var group errgroup.Group
				var left atomic.Int64
				left.Store(int64(b.N))
				for w := range writers {
					group.Go(func() error {
						for i := w; left.Add(-1) >= 0; i += writers {
							if err := f(i % n); err != nil {
								return err
							}
						}
						return nil
					})
				}
				trial.Do(b, group.Wait())
				b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "writes/s")
			})
		}
		write("create", func(int) error { return s.Create(ctx, benchSwap(int(next.Add(1)))) })
		write("update", func(i int) error { // as a swap moves: the body, and when it changed
			e, err := s.Get(ctx, benchSwap(i).ID)
			if err != nil {
				return err
			}
			e.Keys[5].Order++
			return s.Update(ctx, e)
		})
	}
}
