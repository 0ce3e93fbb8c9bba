//go:build unix

package scale

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"runtime"
	"runtime/metrics"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/swapper-go/swapper"
	"github.com/swapper-go/swapper/internal/pgtest"
	"github.com/swapper-go/swapper/internal/swap"
	"github.com/swapper-go/swapper/internal/trial"
	"github.com/swapper-go/swapper/storage"
	"github.com/swapper-go/swapper/storage/bolt"
	"github.com/swapper-go/swapper/storage/postgres"
)

// A page of a list takes the same few milliseconds wherever it is, whosever it is and
// whatever is settled, with very many swaps in the store, of which half are one signer's.
func TestPages(t *testing.T) {
	beside(t)
	t.Run("bolt", func(t *testing.T) {
		beside(t)
		s := trial.Must(bolt.Open(t.Context(), filepath.Join(t.TempDir(), "swaps.db"), bolt.Options{}))(t)
		defer s.Close()
		pages(t, s, 5*time.Millisecond)
	})
	t.Run("postgres", func(t *testing.T) {
		beside(t)
		dsn := pgtest.DSN(t)
		s := trial.Must(postgres.Open(t.Context(), dsn, postgres.Options{Schema: pgtest.Schema(t, dsn)}))(t)
		defer s.Close()
		pages(t, s, 10*time.Millisecond)
	})
}

// page is how many swaps a wallet shows at once.
const page = 50

func pages(t *testing.T, store storage.Store, most time.Duration) {
	n := swapsOf(t, 1000, 1_000_000)
	b := newBench(t)
	began := time.Now()
	of := b.archive(t, store, n)
	t.Logf("%d swaps are stored after %s", n, time.Since(began).Round(time.Millisecond))
	o := child{Name: "pages", Quiet: true, REST: b.net.Bitcoin.URL(), Relay: b.net.Nostr.URL(), LPs: b.net.LPURLs(),
		EVM: node[evmNetwork]{b.net.EVM.URL(), b.net.EVM.Config(), b.net.Tokens()}}
	client, closeAll, err := o.client(t.Context(), store)
	if err != nil {
		t.Fatal(err)
	}
	defer closeAll()

	list := func(in swapper.ListSwapsInput) func(context.Context) (int, error) {
		return func(ctx context.Context) (int, error) {
			all, err := client.ListSwaps(ctx, in)
			return len(all), err
		}
	}
	pending := func(in swapper.ListSwapsInput) func(context.Context) (int, error) {
		return func(ctx context.Context) (int, error) {
			all, err := client.ListPendingSwaps(ctx, in)
			return len(all), err
		}
	}
	before := liveBytes()
	for _, c := range []struct {
		name string
		one  func() func(context.Context) (int, error)
		want int
	}{
		{"the first page of many", func() func(context.Context) (int, error) {
			return list(swapper.ListSwapsInput{Signer: of.whale, Limit: page})
		}, page},
		{"a page anywhere among many", func() func(context.Context) (int, error) {
			at := of.whales[page+rand.IntN(len(of.whales)-page)]
			return list(swapper.ListSwapsInput{Signer: of.whale, Limit: page, After: at})
		}, page},
		{"a page anywhere among many that are pending", func() func(context.Context) (int, error) {
			return pending(swapper.ListSwapsInput{Signer: of.whale, Limit: page, After: of.whales[len(of.whales)-1-rand.IntN(len(of.whales)/10)]})
		}, min(page, n/40)},
		{"all of one with few", func() func(context.Context) (int, error) {
			return list(swapper.ListSwapsInput{Signer: of.others[rand.IntN(len(of.others))], Limit: page})
		}, 1},
	} {
		var took []time.Duration
		for range sized(t, 30, 1000) {
			one := c.one()
			began := time.Now()
			got, err := one(t.Context())
			took = append(took, time.Since(began))
			if err != nil || got < c.want {
				t.Fatalf("%s: %d swaps, %v", c.name, got, err)
			}
		}
		slices.Sort(took)
		median := took[len(took)/2]
		t.Logf("%s: median %s, 99 of 100 within %s", c.name, median.Round(10*time.Microsecond), took[len(took)*99/100].Round(10*time.Microsecond))
		if *scale == "full" && median > most {
			t.Errorf("%s: the median should be below %s, and is %s", c.name, most, median)
		}
	}
	t.Logf("live memory grew by %.1f MB by all of them", float64(int64(liveBytes()-before))/1e6)
}

func liveBytes() uint64 {
	runtime.GC()
	live := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(live)
	return live[0].Value.Uint64()
}

// archived is whose swaps are in a store.
type archived struct {
	whale  string   // who has half of them
	whales []string // ids, the oldest first
	others []string // who have twenty each
}

// archive stores swaps like the models: one in ten is under way, the others are over and
// most of them settled.
func (b *bench) archive(t *testing.T, store storage.Store, n int) (of archived) {
	t.Helper()
	of.whale = b.net.EVM.User.Address.Hex()
	entries := make(chan storage.Entry, 256)
	var writers sync.WaitGroup
	for range 256 { // they share commits
		writers.Go(func() {
			for e := range entries {
				if err := store.Create(t.Context(), e); err != nil {
					t.Error(err)
				}
			}
		})
	}
	first := time.Now().Add(-300 * 24 * time.Hour)
	for i := range n {
		m := b.models[i%len(b.models)]
		signer := of.whale
		if i%2 == 1 {
			signer = fmt.Sprintf("0x%040d", 1<<40+i%(n/20)) // without letters, which have a case
		}
		e := b.old(t, m, i, signer, first.Add(time.Duration(i)*20*time.Second))
		if i%2 == 0 {
			of.whales = append(of.whales, e.ID)
		} else if i < n/20 {
			of.others = append(of.others, signer)
		}
		entries <- e
	}
	close(entries)
	writers.Wait()
	if t.Failed() {
		t.FailNow()
	}
	return of
}

// old is the i-th swap like a model, of a signer: one in ten as the model, one in ten over
// and not settled, the others settled.
func (b *bench) old(t testing.TB, m *model, i int, signer string, created time.Time) storage.Entry {
	t.Helper()
	id := fmt.Sprintf("%0*x", len(m.entry.ID), i+1)
	r, err := swap.Decode(id, 0, bytes.ReplaceAll(m.entry.Body, []byte(m.entry.ID), []byte(id)))
	if err != nil {
		t.Fatal(err)
	}
	r.Signer, r.CreatedAt, r.Changed, r.Expiry = signer, swap.At(created), swap.At(created), swap.At(created.Add(time.Hour))
	row := m.row
	if turn := i / 2 % 10; turn > 0 {
		r.State, r.Ended, r.Settled = map[swap.Type]int{swap.ToBTC: swap.OutClaimed, swap.ToBTCLN: swap.OutClaimed, swap.SPVFromBTC: swap.SPVClaimed}[r.Type], swap.At(created.Add(time.Hour)), turn > 1
		row = rowOf(t, r)
	}
	if r.Type == swap.SPVFromBTC { // unique among all that are stored
		copy(r.Bitcoin.TxID[:], copyOf(r.Bitcoin.TxID[:], i))
	} else {
		real := *r.Escrow.Real
		real.Hash = copyOf(real.Hash, i)
		r.Escrow.Real = &real
		if r.Type == swap.ToBTCLN {
			r.Lightning.Hash = fmt.Sprintf("%064x", i+1)
		}
	}
	e := storage.Entry{ID: id}
	e.Body = trial.Must(r.Encode())(t)
	for _, k := range r.Keys(row) {
		e.Keys = append(e.Keys, storage.Key(k))
	}
	return e
}
