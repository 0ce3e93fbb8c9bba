package postgres

import (
	"context"
	"fmt"
	"iter"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/swapper-go/swapper/storage"
)

// Entries yields all entries whose ID is after the given one, by ID; "" yields
// all. As with Find nothing is held while one is yielded, pages are of
// different moments, and an entry that cannot be read comes with
// storage.ErrCorrupt.
func (s *Store) Entries(ctx context.Context, after string) iter.Seq2[storage.Entry, error] {
	return func(yield func(storage.Entry, error) bool) {
		for {
			var page []found
			size := 0
			err := s.do(ctx, func(ctx context.Context, c *pgx.Conn) (err error) {
				page, size, err = s.entriesAfter(ctx, c, after)
				return err
			})
			if err != nil {
				yield(storage.Entry{}, fmt.Errorf("list entries: %w", err))
				return
			}
			for _, f := range page {
				if !yield(f.entry, f.err) {
					return
				}
				after = f.at.ID
			}
			if len(page) < fullPage && size < pageBytes {
				return
			}
		}
	}
}

// entriesAfter reads a page, of one moment, with the bytes of its bodies.
func (s *Store) entriesAfter(ctx context.Context, c querier, after string) (page []found, size int, err error) {
	rows, err := c.Query(ctx, strings.Replace(s.sql.entries, "LIMIT", strconv.Itoa(fullPage), 1), raw(after), pageBytes)
	if err != nil {
		return nil, 0, err
	}
	page, err = pgx.CollectRows(rows, func(row pgx.CollectableRow) (f found, err error) {
		var id, keys, body []byte
		var version int64
		if err := row.Scan(&id, &version, &keys, &body); err != nil {
			return f, err
		}
		size += len(body)
		f.at.ID = string(id)
		if f.entry, f.err = decodeEntry(f.at.ID, version, keys, body); f.err != nil {
			f.entry = storage.Entry{ID: f.at.ID}
		}
		return f, nil
	})
	return page, size, err
}

type querier interface {
	Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error)
}

// Notes yields all notes whose name is after the given one, by name; "" yields all.
func (s *Store) Notes(ctx context.Context, after string) iter.Seq2[storage.Note, error] {
	return func(yield func(storage.Note, error) bool) {
		for {
			var page []storage.Note
			err := s.do(ctx, func(ctx context.Context, c *pgx.Conn) error {
				rows, err := c.Query(ctx, s.sql.notes, raw(after))
				if err != nil {
					return err
				}
				page, err = pgx.CollectRows(rows, func(row pgx.CollectableRow) (n storage.Note, err error) {
					var name []byte
					var version int64
					err = row.Scan(&name, &version, &n.Data)
					n.Name, n.Version = string(name), uint64(version)
					return n, err
				})
				return err
			})
			if err != nil {
				yield(storage.Note{}, fmt.Errorf("list notes: %w", err))
				return
			}
			for _, n := range page {
				if !yield(n, nil) {
					return
				}
				after = n.Name
			}
			if len(page) == 0 {
				return
			}
		}
	}
}
