package bolt

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"iter"
	"math"

	"go.etcd.io/bbolt"

	"github.com/swapper-go/swapper/storage"
)

// Bounds of one page of a query. Pages begin with what the caller means to take, or
// small, and double up to the bound; a page ends after the entry with which it reaches
// its bytes, so that one of any size fits.
const (
	firstPage = 16
	fullPage  = 128
	pageBytes = 1 << 20
)

// Find implements [storage.Store].
func (s *Store) Find(ctx context.Context, q storage.Query) iter.Seq2[storage.Entry, error] {
	return func(yield func(storage.Entry, error) bool) {
		fail := func(err error) { yield(storage.Entry{}, fmt.Errorf("find %q in index %q: %w", q.Value, q.Index, err)) }
		if err := q.Validate(); err != nil {
			fail(err)
			return
		}
		q := q
		limit := firstPage
		if q.Ahead > 0 {
			limit = min(q.Ahead, fullPage)
		}
		for ; ; limit = min(2*limit, fullPage) {
			var page []found
			var more bool
			err := s.read(ctx, func(b buckets) (err error) {
				page, more, err = b.page(q, limit)
				return err
			})
			if err != nil {
				fail(err)
				return
			}
			for i := range page {
				if err := ctx.Err(); err != nil {
					fail(err)
					return
				}
				if !yield(page[i].entry, page[i].err) {
					return
				}
				page[i].entry = storage.Entry{}
			}
			if !more {
				return
			}
			q.After = &page[len(page)-1].at
		}
	}
}

// found is one result of a query.
type found struct {
	at    storage.Position
	entry storage.Entry
	err   error // entry has only its ID
}

// page reads the next results, at most limit; more says that others follow.
func (b buckets) page(q storage.Query, limit int) (page []found, more bool, err error) {
	w := newWalk(b, q)
	size := 0
	for {
		at, ok, err := w.next()
		if err != nil || !ok {
			return page, false, err
		}
		if len(page) >= limit || size >= pageBytes {
			return page, true, nil
		}
		f := found{at: at}
		f.entry, f.err = b.get(at.ID)
		if p, ok := q.Position(f.entry); f.err == nil && (!ok || p != at) {
			f.err = fmt.Errorf("entry %q does not carry its index key: %w", storage.Label(at.ID), storage.ErrCorrupt)
		} else if errors.Is(f.err, storage.ErrNotFound) {
			f.err = fmt.Errorf("entry %q is missing: %w", storage.Label(at.ID), storage.ErrCorrupt)
		}
		if f.err != nil {
			f.entry = storage.Entry{ID: at.ID}
		}
		f.entry.Body = bytes.Clone(f.entry.Body)
		size += len(f.entry.Body)
		page = append(page, f)
	}
}

// walk goes through the places of a query: those in the index, and the one that
// a unique key may have besides.
type walk struct {
	cursor     *bbolt.Cursor
	descending bool
	scope      []byte
	low, high  []byte // keys of the results: low <= key < high
	started    bool
	single     []byte // key that the unique key would have in the index, nil if there is none left
	shared     []byte // key under the cursor, nil at the end
}

func newWalk(b buckets, q storage.Query) *walk {
	w := &walk{cursor: b.index.Cursor(), descending: q.Descending, scope: scope(q.Index, q.Value)}
	w.low, w.high = w.scope, after(w.scope)
	if r := q.Range; r != nil {
		w.low = appendOrder(bytes.Clone(w.scope), r.Min)
		if r.Max < math.MaxInt64 {
			w.high = appendOrder(bytes.Clone(w.scope), r.Max+1)
		}
	}
	if q.After != nil {
		at := appendPlace(bytes.Clone(w.scope), *q.After)
		if q.Descending && bytes.Compare(at, w.high) < 0 {
			w.high = at
		} else if next := append(at, 0); !q.Descending && bytes.Compare(next, w.low) > 0 {
			w.low = next
		}
	}
	if place := b.unique.Get(w.scope); place != nil {
		if key := append(bytes.Clone(w.scope), place...); w.within(key) {
			w.single = key
		}
	}
	return w
}

func (w *walk) within(key []byte) bool {
	return bytes.Compare(w.low, key) <= 0 && bytes.Compare(key, w.high) < 0
}

// next returns the next place; ok is false at the end.
func (w *walk) next() (at storage.Position, ok bool, err error) {
	if !w.started {
		w.started = true
		w.shared = w.seek()
	}
	key := w.shared
	if w.single != nil && (key == nil || bytes.Compare(w.single, key) < 0 != w.descending) {
		key, w.single = w.single, nil
	} else if key == nil {
		return storage.Position{}, false, nil
	} else {
		defer func() { w.shared = w.advance() }()
	}
	at, ok = parsePlace(key[len(w.scope):])
	if !ok {
		return storage.Position{}, false, damaged("invalid index key %x", key)
	}
	return at, true, nil
}

// seek moves the cursor to the first key.
func (w *walk) seek() []byte {
	if !w.descending {
		return w.bounded(w.cursor.Seek(w.low))
	}
	if key, _ := w.cursor.Seek(w.high); key == nil {
		return w.bounded(w.cursor.Last())
	}
	return w.bounded(w.cursor.Prev())
}

func (w *walk) advance() []byte {
	if w.descending {
		return w.bounded(w.cursor.Prev())
	}
	return w.bounded(w.cursor.Next())
}

func (w *walk) bounded(key, _ []byte) []byte {
	if key == nil || !w.within(key) {
		return nil
	}
	return key
}
