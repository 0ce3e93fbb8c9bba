package scale

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/url"
	"sync"
	"testing"

	"github.com/swapper-go/swapper"
	"github.com/swapper-go/swapper/internal/swap"
	"github.com/swapper-go/swapper/internal/trial"
	"github.com/swapper-go/swapper/storage"
	"github.com/swapper-go/swapper/storage/bolt"
)

// kinds are the types that a full store holds, in turn.
var kinds = []swapper.SwapType{swapper.SwapToBTC, swapper.SwapToBTCLN, swapper.SwapFromBTCLNAuto, swapper.SwapSPVVaultFromBTC}

// models are entries of real swaps that wait for the user, one of each kind.
func (b *bed) models() []storage.Entry {
	var all []storage.Entry
	for _, typ := range kinds {
		e, err := b.store.Get(b.tb.Context(), b.create(typ))
		if err != nil {
			b.tb.Fatal(err)
		}
		all = append(all, e)
	}
	return all
}

// copies stores swaps first to last-1 like the models. Those for which waiting is
// false are over, and successful.
func copies(tb testing.TB, store *bolt.Store, models []storage.Entry, first, last int, waiting func(int) bool) {
	tb.Helper()
	var all sync.WaitGroup
	work := make(chan int)
	for range 256 { // writers share commits
		all.Go(func() {
			for i := range work {
				if err := store.Create(tb.Context(), likeModel(tb, models[i%len(models)], i, waiting(i))); err != nil {
					tb.Error(err)
				}
			}
		})
	}
	for i := first; i < last; i++ {
		work <- i
	}
	close(work)
	all.Wait()
}

func likeModel(tb testing.TB, model storage.Entry, i int, waiting bool) storage.Entry {
	id := fmt.Sprintf("%0*x", len(model.ID), i+1)
	e := storage.Entry{ID: id, Body: bytes.ReplaceAll(model.Body, []byte(model.ID), []byte(id))}
	if !waiting {
		var r swap.Record
		if err := json.Unmarshal(e.Body, &r); err != nil {
			tb.Error(err)
		}
		r.State, r.Settled, r.Ended = map[swap.Type]int{swap.ToBTC: 3, swap.ToBTCLN: 3, swap.FromBTCLNAuto: 3, swap.SPVFromBTC: 6}[r.Type], true, r.CreatedAt
		e.Body, _ = json.Marshal(r)
	}
	for _, k := range model.Keys {
		if k.Index == "signer" || waiting && (k.Index == "pending" || k.Index == "watch") {
			k.Order += int64(i)
			e.Keys = append(e.Keys, k)
		}
	}
	return e
}

// Lists of a signer: all swaps over, and a tenth of them waiting. Nobody is asked.
func BenchmarkLists(t *testing.B) {
	b := start(t)
	c := b.caller()
	models := b.models()
	tenth := func(i int) bool { return i%40 < 4 } // one in ten of each kind
	have := 0
	for _, count := range []int{1_000, 10_000, 100_000} {
		copies(t, b.store, models, have, count, tenth)
		have = count
		q := url.Values{"signer": {b.address()}}
		in := swapper.ListSwapsInput{Signer: b.address()}
		asked := b.far.requests.Load()
		for _, l := range []struct {
			name string
			do   func() error
		}{
			{"listSwaps/go", func() error {
				l, err := b.client.ListSwaps(t.Context(), in)
				if err == nil && len(l) != count+len(models) {
					err = fmt.Errorf("%d swaps", len(l))
				}
				return err
			}},
			{"listSwaps/http", func() error { return c.get("/listSwaps", q) }},
			{"listPendingSwaps/go", func() error {
				l, err := b.client.ListPendingSwaps(t.Context(), in)
				if err == nil && len(l) != count/10+len(models) {
					err = fmt.Errorf("%d swaps", len(l))
				}
				return err
			}},
			{"listPendingSwaps/http", func() error { return c.get("/listPendingSwaps", q) }},
		} {
			t.Run(fmt.Sprintf("%s/%d", l.name, count), func(t *testing.B) {
				before := processor()
				n := 0
				for t.Loop() {
					trial.Do(t, l.do())
					n++
				}
				t.ReportMetric(float64(processor()-before)/float64(n)/1e6, "cpu_ms/op")
			})
		}
		if now := b.far.requests.Load(); now != asked {
			t.Errorf("lists asked %d times", now-asked)
		}
	}
}
