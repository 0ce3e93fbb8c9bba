package engine

import (
	"context"
	"errors"
	"iter"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/internal/swap"
	"github.com/swapper-go/swapper/internal/trial"
	"github.com/swapper-go/swapper/storage"
)

// refusing is a store that does not take what is written to one swap.
type refusing struct {
	storage.Store
	mu sync.Mutex
	id string
}

func (s *refusing) Update(ctx context.Context, e storage.Entry) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if e.ID == s.id {
		return &storage.KeyTakenError{Index: swap.ByPaying}
	}
	return s.Store.Update(ctx, e)
}

func (s *refusing) refuse(id string) {
	s.mu.Lock()
	s.id = id
	s.mu.Unlock()
}

// One swap that cannot be stored, or read, keeps no hint from the others, nor does
// it end whoever brings the hints. It is looked at again by itself.
func TestHintSurvivesASwapThatCannotBeStored(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &refusing{Store: new(storage.Memory)}
		w := &toyReader{}
		f := lamp()
		var mu sync.Mutex
		hinted := map[string]int{}
		ask := f.Ask
		f.Ask = func(in swap.Decision) swap.Ask {
			if _, ok := in.Input.(swap.Look); ok {
				mu.Lock()
				hinted[in.R.ID]++
				mu.Unlock()
			}
			return ask(in)
		}
		g := toyEngine(t, store, w, &toyExecutor{}, f)
		hash := make([]byte, 32)
		hash[0] = 7
		for _, id := range []string{"bad", "good", "newer"} {
			r := &swap.Record{Head: swap.Head{ID: id, Type: swap.FromBTCLNAuto, Chain: "CITREA", CreatedAt: swap.At(time.Now()), Expiry: swap.At(time.Now().Add(time.Hour))},
				Escrow: &swap.EscrowPart{Expected: &chains.Escrow{ClaimHash: hash}}}
			g.Flows[swap.FromBTCLNAuto] = f
			add(t, g, r)
		}
		e := trial.Must(store.Get(t.Context(), "newer"))(t)
		e.Body = []byte(`{"schema":1000000}`)
		trial.Do(t, store.Store.Update(t.Context(), e))
		store.refuse("bad")
		w.set(chains.EscrowFact{State: chains.EscrowClaimed}, nil)
		if err := g.Look(t.Context(), "CITREA", chains.Hint{ClaimHash: hash}); err != nil {
			t.Errorf("the hint came to nothing: %v", err)
		}
		if r, err := g.Load(t.Context(), "good"); err != nil || r.State != 2 {
			t.Errorf("the other swap: state %d, %v; want 2", r.State, err)
		}
		follow(t, g)
		store.refuse("")
		time.Sleep(5 * time.Second)
		if r, err := g.Load(t.Context(), "bad"); err != nil || r.State != 2 {
			t.Errorf("the swap itself: state %d, %v; want 2", r.State, err)
		}
		mu.Lock()
		if hinted["bad"] < 2 {
			t.Error("the swap was looked at again without its hint")
		}
		mu.Unlock()
	})
}

// Swaps that one batch of hints is about are looked at in parallel, a bounded number
// at a time, and each of them once.
func TestHintsAreLookedAtInParallel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const swaps = 2*lookers + 1
		w := &toyReader{}
		f := lamp()
		g := toyEngine(t, new(storage.Memory), w, &toyExecutor{}, f)
		g.Flows[swap.FromBTCLNAuto] = f
		var all []chains.Hint
		for i := range swaps {
			hash := make([]byte, 32)
			hash[0], hash[1] = byte(i+1), byte((i+1)>>8)
			r := &swap.Record{Head: swap.Head{ID: string(rune('a' + i)), Type: swap.FromBTCLNAuto, Chain: "CITREA", CreatedAt: swap.At(time.Now()), Expiry: swap.At(time.Now().Add(time.Hour))},
				Escrow: &swap.EscrowPart{Expected: &chains.Escrow{ClaimHash: hash}}}
			add(t, g, r)
			all = append(all, chains.Hint{ClaimHash: hash}, chains.Hint{ClaimHash: hash})
		}
		w.delay = time.Second
		began := time.Now()
		trial.Do(t, g.Look(t.Context(), "CITREA", all...))
		if took := time.Since(began); took != 3*time.Second {
			t.Errorf("%d swaps took %v, want three rounds of %d", swaps, took, lookers)
		}
		if n := w.asked.Load(); n != swaps {
			t.Errorf("%d questions about %d swaps", n, swaps)
		}
	})
}

// A store that finds nothing keeps the hint with whoever brings it.
func TestHintIsKeptWhileTheStoreIsDown(t *testing.T) {
	g := toyEngine(t, downStore{new(storage.Memory)}, &toyReader{}, &toyExecutor{}, lamp())
	if err := g.Look(t.Context(), "CITREA", chains.Hint{ClaimHash: []byte{1}}); err == nil {
		t.Error("the hint is taken, and lost")
	}
}

type downStore struct{ storage.Store }

func (downStore) Find(context.Context, storage.Query) iter.Seq2[storage.Entry, error] {
	return func(yield func(storage.Entry, error) bool) { yield(storage.Entry{}, errors.New("the disk is gone")) }
}
