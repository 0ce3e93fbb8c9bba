package postgres

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"math"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/swapper-go/swapper/internal/bounds"
	"github.com/swapper-go/swapper/storage"
)

// Get implements [storage.Store].
func (s *Store) Get(ctx context.Context, id string) (e storage.Entry, err error) {
	err = s.do(ctx, func(ctx context.Context, c *pgx.Conn) error {
		var version int64
		var keys, body []byte
		err := c.QueryRow(ctx, s.sql.get, raw(id)).Scan(&version, &keys, &body)
		if errors.Is(err, pgx.ErrNoRows) {
			return storage.ErrNotFound
		} else if err != nil {
			return err
		}
		e, err = decodeEntry(id, version, keys, body)
		return err
	})
	if err != nil {
		return storage.Entry{}, fmt.Errorf("get %q: %w", storage.Label(id), err)
	}
	return e, nil
}

// Note implements [storage.Store].
func (s *Store) Note(ctx context.Context, name string) (data []byte, version uint64, err error) {
	if err := (storage.Note{Name: name}).Validate(); err != nil {
		return nil, 0, err
	}
	err = s.do(ctx, func(ctx context.Context, c *pgx.Conn) error {
		var stored int64
		err := c.QueryRow(ctx, s.sql.note, raw(name)).Scan(&stored, &data)
		if errors.Is(err, pgx.ErrNoRows) {
			data, version = nil, 0
			return nil
		}
		version = uint64(stored)
		return err
	})
	if err != nil {
		return nil, 0, fmt.Errorf("note %q: %w", name, err)
	}
	return data, version, nil
}

// Bounds of one page of a query. Pages begin with what the caller means to take, or
// small, and double up to the bound; a page ends after the entry with which it reaches
// its bytes, so that one of any size fits.
const (
	firstPage = 16
	fullPage  = 128
	pageBytes = 1 << 20
)

// beyond sorts after every id.
var beyond = strings.Repeat("\xff", bounds.MaxID+1)

// Find implements [storage.Store].
func (s *Store) Find(ctx context.Context, q storage.Query) iter.Seq2[storage.Entry, error] {
	return func(yield func(storage.Entry, error) bool) {
		fail := func(err error) { yield(storage.Entry{}, fmt.Errorf("find in index %q: %w", q.Index, err)) }
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
			err := s.do(ctx, func(ctx context.Context, c *pgx.Conn) (err error) {
				page, err = s.page(ctx, c, q, limit)
				return err
			})
			if err != nil {
				fail(err)
				return
			}
			size := 0
			for i := range page {
				if err := ctx.Err(); err != nil {
					fail(err)
					return
				}
				size += len(page[i].entry.Body)
				if !yield(page[i].entry, page[i].err) {
					return
				}
				page[i].entry = storage.Entry{}
			}
			if len(page) < limit && size < pageBytes {
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

// page reads the next results, at most limit, with one statement and so of one moment.
func (s *Store) page(ctx context.Context, c *pgx.Conn, q storage.Query, limit int) ([]found, error) {
	r := storage.Range{Min: math.MinInt64, Max: math.MaxInt64}
	if q.Range != nil {
		r = *q.Range
	}
	// The results lie beyond a position, up to the end.
	text, from, end := s.sql.ascending, storage.Position{Order: r.Min}, r.Max
	if q.Descending {
		text, from, end = s.sql.descending, storage.Position{Order: r.Max, ID: beyond}, r.Min
	}
	if a := q.After; a != nil && cmp.Or(cmp.Compare(a.Order, from.Order), cmp.Compare(a.ID, from.ID)) > 0 != q.Descending {
		from = *a
	}
	rows, err := c.Query(ctx, strings.Replace(text, "LIMIT", strconv.Itoa(limit), 1), raw(q.Index), raw(q.Value), from.Order, raw(from.ID), end, pageBytes)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, func(row pgx.CollectableRow) (found, error) {
		var id, keys, body []byte
		var version *int64
		var f found
		if err := row.Scan(&f.at.Order, &id, &version, &keys, &body); err != nil {
			return f, err
		}
		f.at.ID = string(id)
		if version == nil {
			f.err = fmt.Errorf("entry %q is missing: %w", storage.Label(f.at.ID), storage.ErrCorrupt)
		} else if f.entry, f.err = decodeEntry(f.at.ID, *version, keys, body); f.err == nil {
			if at, ok := q.Position(f.entry); !ok || at != f.at {
				f.err = fmt.Errorf("entry %q does not carry its index key: %w", storage.Label(f.at.ID), storage.ErrCorrupt)
			}
		}
		if f.err != nil {
			f.entry = storage.Entry{ID: f.at.ID}
		}
		return f, nil
	})
}
