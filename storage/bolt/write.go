package bolt

import (
	"context"
	"fmt"
	"slices"

	"github.com/swapper-go/swapper/storage"
)

// Create implements [storage.Store].
func (s *Store) Create(ctx context.Context, e storage.Entry) error {
	return s.put(ctx, "create", e, func(b buckets) ([]storage.Key, error) {
		if b.entries.Get([]byte(e.ID)) != nil {
			return nil, storage.ErrExists
		}
		return nil, nil
	})
}

// Update implements [storage.Store].
func (s *Store) Update(ctx context.Context, e storage.Entry) error {
	return s.put(ctx, "update", e, func(b buckets) ([]storage.Key, error) {
		return b.expect(e.ID, e.Version)
	})
}

// put writes an entry if allow agrees, which also returns the keys that the
// entry has so far. The record is made here, beside other writers, not in the
// transaction, which holds them up. Most updates change no key.
func (s *Store) put(ctx context.Context, doing string, e storage.Entry, allow func(buckets) ([]storage.Key, error)) error {
	if err := e.Validate(); err != nil {
		return err
	}
	next := e
	next.Version++
	record := encodeEntry(next)
	err := s.write(ctx, len(record), func(b buckets) error {
		old, err := allow(b)
		if err != nil {
			return err
		}
		gone, come := placesOf(e.ID, without(old, e.Keys)), placesOf(e.ID, without(e.Keys, old))
		if err := b.claim(e.ID, come); err != nil {
			return err
		}
		return aborting(b.replace(e.ID, record, gone, come))
	})
	if err != nil {
		return fmt.Errorf("%s %q: %w", doing, storage.Label(e.ID), err)
	}
	return nil
}

// Delete implements [storage.Store].
func (s *Store) Delete(ctx context.Context, id string, version uint64) error {
	err := s.write(ctx, 0, func(b buckets) error {
		old, err := b.expect(id, version)
		if err != nil {
			return err
		}
		return aborting(b.replace(id, nil, placesOf(id, old), nil))
	})
	if err != nil {
		return fmt.Errorf("delete %q: %w", storage.Label(id), err)
	}
	return nil
}

// SetNote implements [storage.Store].
func (s *Store) SetNote(ctx context.Context, name string, data []byte, version uint64) error {
	if err := (storage.Note{Name: name, Data: data, Version: version}).Validate(); err != nil {
		return err
	}
	record := encodeNote(name, data, version+1)
	err := s.write(ctx, len(record), func(b buckets) error {
		_, stored, err := b.note(name)
		if err != nil {
			return err
		}
		if stored != version {
			return storage.ErrConflict
		}
		return aborting(b.notes.Put([]byte(name), record))
	})
	if err != nil {
		return fmt.Errorf("set note %q: %w", name, err)
	}
	return nil
}

// expect returns the keys of an entry that must be stored at the version.
func (b buckets) expect(id string, version uint64) ([]storage.Key, error) {
	e, err := b.get(id)
	if err != nil {
		return nil, err
	}
	if e.Version != version {
		return nil, storage.ErrConflict
	}
	return e.Keys, nil
}

// place is where one key of an entry is kept.
type place struct {
	key    storage.Key
	bucket []byte // the key in the bucket of the index or of unique keys
	value  []byte // what is stored there
}

// present is the value under a key that is not unique. It is not empty
// because bbolt could take a page of such keys, were its type damaged, for a
// branch with plausible children.
var present = []byte{1}

func placesOf(id string, keys []storage.Key) []place {
	places := make([]place, len(keys))
	for i, k := range keys {
		at := storage.Position{Order: k.Order, ID: id}
		if k.Unique {
			places[i] = place{k, scope(k.Index, k.Value), appendPlace(nil, at)}
		} else {
			places[i] = place{k, appendPlace(scope(k.Index, k.Value), at), present}
		}
	}
	return places
}

// claim checks that no other entry holds a unique key.
func (b buckets) claim(id string, keys []place) error {
	for _, p := range keys {
		if !p.key.Unique {
			continue
		}
		held := b.unique.Get(p.bucket)
		if held == nil {
			continue
		}
		holder, ok := parsePlace(held)
		if !ok {
			return damaged("invalid entry for unique key %q of index %q", p.key.Value, p.key.Index)
		}
		if holder.ID != id {
			return &storage.KeyTakenError{Index: p.key.Index, Value: p.key.Value, Holder: holder.ID}
		}
	}
	return nil
}

// replace writes the record, or deletes it if it is nil, and changes the keys.
func (b buckets) replace(id string, record []byte, gone, come []place) error {
	for _, p := range gone {
		if err := b.keysOf(p).Delete(p.bucket); err != nil {
			return err
		}
	}
	for _, p := range come {
		if err := b.keysOf(p).Put(p.bucket, p.value); err != nil {
			return err
		}
	}
	if record == nil {
		return b.entries.Delete([]byte(id))
	}
	return b.entries.Put([]byte(id), record)
}

// without returns the keys that are not, to the letter, among others.
func without(keys, others []storage.Key) []storage.Key {
	return slices.DeleteFunc(slices.Clone(keys), func(k storage.Key) bool { return slices.Contains(others, k) })
}
