package bolt

import (
	"bytes"
	"context"
	"fmt"
	"iter"

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
			err := s.read(ctx, func(b buckets) error {
				cursor := b.entries.Cursor()
				key, record := cursor.Seek([]byte(after + "\x00"))
				for size := 0; key != nil && len(page) < fullPage && size < pageBytes; key, record = cursor.Next() {
					f := found{at: storage.Position{ID: string(key)}}
					if f.entry, f.err = decodeEntry(f.at.ID, record); f.err != nil {
						f.entry = storage.Entry{ID: f.at.ID}
					}
					f.entry.Body = bytes.Clone(f.entry.Body)
					size += len(f.entry.Body)
					page = append(page, f)
				}
				return nil
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
			if len(page) == 0 {
				return
			}
		}
	}
}

// Notes yields all notes whose name is after the given one, by name; "" yields
// all. One that cannot be read ends it with storage.ErrCorrupt.
func (s *Store) Notes(ctx context.Context, after string) iter.Seq2[storage.Note, error] {
	return func(yield func(storage.Note, error) bool) {
		for {
			var n storage.Note
			err := s.read(ctx, func(b buckets) (err error) {
				key, record := b.notes.Cursor().Seek([]byte(after + "\x00"))
				if n = (storage.Note{Name: string(key)}); key == nil {
					return nil
				}
				n.Data, n.Version, err = decodeNote(n.Name, record)
				n.Data = bytes.Clone(n.Data)
				return err
			})
			if err != nil {
				yield(storage.Note{}, fmt.Errorf("list notes: %w", err))
				return
			}
			if n.Name == "" || !yield(n, nil) {
				return
			}
			after = n.Name
		}
	}
}
