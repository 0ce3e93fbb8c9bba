package engine

import (
	"bytes"
	"context"
	"fmt"
	"iter"
	"path/filepath"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/swapper-go/swapper/internal/bounds"
	"github.com/swapper-go/swapper/internal/swap"
	"github.com/swapper-go/swapper/internal/trial"
	"github.com/swapper-go/swapper/storage"
)

// copies is a store of many swaps that are like a few, and take no memory.
type copies struct {
	*storage.Memory
	models []storage.Entry
	count  int
	shards map[string][]int
	bytes  int // of the bodies that were read; Run alone reads
}

// of returns what the swap with a number is like, and its id.
func (s *copies) of(i int) (model storage.Entry, id string) {
	model = s.models[i%len(s.models)]
	return model, fmt.Sprintf("%0*x", len(model.ID), i)
}

func (s *copies) Find(ctx context.Context, q storage.Query) iter.Seq2[storage.Entry, error] {
	if q.Index != swap.ByWatch || q.Value == "" {
		return s.Memory.Find(ctx, q)
	}
	return func(yield func(storage.Entry, error) bool) {
		for _, i := range s.shards[q.Value] {
			m, id := s.of(i)
			e := storage.Entry{ID: id, Version: 1, Body: bytes.ReplaceAll(m.Body, []byte(m.ID), []byte(id))}
			s.bytes += len(e.Body)
			if !yield(e, nil) {
				return
			}
		}
	}
}

// TestMemoryOfWaitingSwaps bounds what Run keeps of each swap whose turn is to come: that,
// and what is counted of it. The records are those of real swaps under way.
func TestMemoryOfWaitingSwaps(t *testing.T) {
	const most = 1024 // bytes
	folders, err := filepath.Glob("testdata/kept/*")
	if err != nil || len(folders) == 0 {
		t.Fatalf("no records are kept: %v", err)
	}
	store := &copies{Memory: new(storage.Memory), count: 5_000, shards: map[string][]int{}}
	g := newEngine(t, Config{Store: store, Flows: swap.Flows(), Now: sync.OnceValue(time.Now)}) // turns never come
	for _, e := range keptEntries(t, folders[0]) {
		r := trial.Must(decode(e))(t)
		if row, _ := g.Flows[r.Type].State(r.State); row.Watched && !r.Settled {
			store.models = append(store.models, e)
		}
	}
	for i := range store.count {
		_, id := store.of(i)
		value := bounds.ShardText(bounds.Shard(id))
		store.shards[value] = append(store.shards[value], i)
	}
	heap := func() uint64 {
		var m runtime.MemStats
		for range 3 {
			runtime.GC()
		}
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	before := heap()
	follow(t, g)
	for end := time.Now().Add(time.Minute); ; time.Sleep(50 * time.Millisecond) {
		n := 0
		for _, count := range g.Census().Groups {
			n += count
		}
		if n == store.count {
			break
		}
		if time.Now().After(end) {
			t.Fatalf("%d of %d swaps are followed", n, store.count)
		}
	}
	each := (int64(heap()) - int64(before)) / int64(store.count)
	t.Logf("%d bytes for a waiting swap, of a record of %d", each, store.bytes/store.count)
	if each > most || each <= 0 {
		t.Errorf("%d bytes, want %d at most", each, most)
	}
	runtime.KeepAlive(store)
}
