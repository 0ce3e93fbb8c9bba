package bolt

import (
	"bytes"
	"context"
	"fmt"

	"github.com/swapper-go/swapper/storage"
)

// Get implements [storage.Store].
func (s *Store) Get(ctx context.Context, id string) (e storage.Entry, err error) {
	err = s.read(ctx, func(b buckets) (err error) {
		e, err = b.get(id)
		e.Body = bytes.Clone(e.Body)
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
	err = s.read(ctx, func(b buckets) (err error) {
		data, version, err = b.note(name)
		data = bytes.Clone(data)
		return err
	})
	if err != nil {
		return nil, 0, fmt.Errorf("note %q: %w", name, err)
	}
	return data, version, nil
}

// get returns an entry, whose body is valid until the transaction ends.
func (b buckets) get(id string) (storage.Entry, error) {
	record := b.entries.Get([]byte(id))
	if record == nil {
		return storage.Entry{}, storage.ErrNotFound
	}
	return decodeEntry(id, record)
}

// note returns a note, whose data is valid until the transaction ends; version
// 0 if there is none.
func (b buckets) note(name string) (data []byte, version uint64, err error) {
	record := b.notes.Get([]byte(name))
	if record == nil {
		return nil, 0, nil
	}
	return decodeNote(name, record)
}
