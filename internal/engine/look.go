package engine

import (
	"context"
	"fmt"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/internal/swap"
	"github.com/swapper-go/swapper/storage"
)

// lookers bounds how many swaps one call of [Engine.Look] looks at together: a
// block may concern many swaps, whose passes wait for chains and LPs, not for us.
const lookers = 128

// Look brings forward the swaps that the hints are about and returns when each has
// been looked at, so that the cursor behind the hints may be stored. Different swaps
// are looked at in parallel, each once. A swap that cannot be read or written keeps
// the hints from no other: it is logged, and [Engine.Run] looks at it again for
// their sake until that succeeds.
//
// Errors: that of a store in which nothing can be found; the context's.
func (g *Engine) Look(ctx context.Context, chain string, all ...chains.Hint) error {
	ids := map[string]bool{}
	for _, h := range all {
		for _, hash := range [][]byte{h.EscrowHash, h.ClaimHash, h.BitcoinTx[:]} {
			if len(hash) == 0 || len(hash) == 32 && [32]byte(hash) == [32]byte{} {
				continue
			}
			for e, err := range g.Store.Find(ctx, storage.Query{Index: swap.ByEvent, Value: swap.EventValue(chain, hash)}) {
				if err != nil && e.ID == "" {
					return fmt.Errorf("find swaps of an event: %w", err)
				}
				ids[e.ID] = true
			}
		}
	}
	var passes errgroup.Group
	passes.SetLimit(lookers)
	for id := range ids {
		passes.Go(func() error { return g.lookAt(ctx, id) })
	}
	return passes.Wait()
}

// lookAt makes one swap's pass for the sake of a hint.
func (g *Engine) lookAt(ctx context.Context, id string) error {
	_, err := g.Advance(ctx, id, swap.Look{})
	switch {
	case err == nil || fault.CodeOf(err) == fault.NotFound:
	case ctx.Err() != nil:
		return fmt.Errorf("check swap %s: %w", storage.Label(id), err)
	default:
		g.log.Error("checking a swap after a chain event failed", "swap", storage.Label(id), "err", err)
		g.hints.add(id)
	}
	return nil
}

// hints are the swaps that still owe a pass to a hint. Safe for concurrent use.
type hints struct {
	mu          sync.Mutex
	owed        map[string]bool
	unscheduled []string // of owed: not yet on the schedule
}

func (h *hints) add(id string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.owed == nil {
		h.owed = map[string]bool{}
	}
	if !h.owed[id] {
		h.owed[id] = true
		h.unscheduled = append(h.unscheduled, id)
	}
}

// input is the input of a swap's next pass.
func (h *hints) input(id string) swap.Input {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.owed[id] {
		return swap.Look{}
	}
	return nil
}

func (h *hints) paid(id string) {
	h.mu.Lock()
	delete(h.owed, id)
	h.mu.Unlock()
}

// schedule gives the swaps that failed just now a turn soon.
func (h *hints) schedule(s *schedule, now time.Time) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, id := range h.unscheduled {
		s.soon(id, now.Add(swap.Backoff(0)), true)
	}
	h.unscheduled = nil
}
