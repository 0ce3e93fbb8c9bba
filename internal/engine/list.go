package engine

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"runtime"
	"sync"

	"github.com/swapper-go/swapper/internal/swap"
	"github.com/swapper-go/swapper/storage"
)

// ErrUnreadable marks a stored record that cannot be read. It is never written.
var ErrUnreadable = errors.New("record is unreadable")

// settledKept is how many settled records are kept decoded for lists: they are
// most of a long list, and what decoding costs. Some 4 kB each.
const settledKept = 16_384

// maxDecodeBatch is how many records are decoded in parallel for a list at most.
const maxDecodeBatch = 256

// List yields the swaps of a signer on a chain, newest first: all, or only the
// pending ones, from behind the record after on, which need not be in the list any
// more; nil is the whole list. page is how many the caller takes at most, as far as it
// knows, so that no more are decoded; 0: all. It reads only the store. A record that
// cannot be read is yielded as an error that wraps [ErrUnreadable] and names it, and the
// list continues; any other error ends it.
func (g *Engine) List(ctx context.Context, chain, signer string, pending bool, after *swap.Record, page int) iter.Seq2[*swap.Record, error] {
	var from *storage.Position
	if after != nil {
		from = &storage.Position{Order: int64(after.CreatedAt), ID: after.ID}
	}
	index := swap.BySigner
	if pending {
		index = swap.ByPending
	}
	return func(all func(*swap.Record, error) bool) {
		now := g.Now()
		yield := func(r *swap.Record, err error) bool {
			if f := g.flowOf(r); pending && f != nil && f.Over(r, now) {
				return true // since it was written
			}
			return all(r, err)
		}
		batch := maxDecodeBatch
		if page > 0 {
			batch = min(page, maxDecodeBatch)
		}
		some := make([]found, 0, batch)
		for e, err := range g.Store.Find(ctx, storage.Query{Index: index, Value: swap.SignerValue(chain, signer), Descending: true, After: from, Ahead: page}) {
			if err != nil && e.ID == "" {
				if g.yieldAll(some, yield) {
					yield(nil, err)
				}
				return
			}
			if some = append(some, found{entry: e, err: err}); len(some) == batch {
				if !g.yieldAll(some, yield) {
					return
				}
				batch = min(2*batch, maxDecodeBatch) // some were not listed
				some = some[:0]
			}
		}
		g.yieldAll(some, yield)
	}
}

// flowOf is the table of a record; nil for none, or a type that is not configured.
func (g *Engine) flowOf(r *swap.Record) *swap.Flow {
	if r == nil {
		return nil
	}
	return g.Flows[r.Type]
}

// found is an entry of a list, and what it says.
type found struct {
	entry  storage.Entry
	record *swap.Record
	err    error
}

func (g *Engine) decodeFound(f *found) {
	defer func() { // a damaged body must not end the process
		if p := recover(); p != nil {
			f.record, f.err = nil, fmt.Errorf("%s: %w: %v", storage.Label(f.entry.ID), ErrUnreadable, p)
		}
	}()
	if known, ok := g.settled.Get(f.entry.ID); ok && f.err == nil && known.Version == f.entry.Version {
		f.record = known
		return
	}
	if f.err == nil {
		f.record, f.err = decode(f.entry)
	}
	if f.err == nil && f.record.Settled {
		g.settled.Add(f.entry.ID, f.record)
	}
	if f.err != nil {
		f.record, f.err = nil, fmt.Errorf("%s: %w: %w", storage.Label(f.entry.ID), ErrUnreadable, f.err)
	}
}

// yieldAll decodes entries on all processors, since that is what lists of many
// swaps spend their time with, and yields them in their order. It reports whether
// more are wanted.
func (g *Engine) yieldAll(some []found, yield func(*swap.Record, error) bool) bool {
	var all sync.WaitGroup
	workers := min(runtime.GOMAXPROCS(0), 1+len(some)/16)
	for first := range workers {
		all.Go(func() {
			for i := first; i < len(some); i += workers {
				g.decodeFound(&some[i])
			}
		})
	}
	all.Wait()
	for _, f := range some {
		if !yield(f.record, f.err) {
			return false
		}
	}
	return true
}
