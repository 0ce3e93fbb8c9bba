package postgres

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/swapper-go/swapper/storage"
)

// Create implements [storage.Store]. It is one round trip.
func (s *Store) Create(ctx context.Context, e storage.Entry) error {
	return s.put(ctx, "create", e, func(ctx context.Context, c *pgx.Conn) error {
		b := &pgx.Batch{}
		b.Queue(s.sql.begin)
		b.Queue(s.sql.create, raw(e.ID), int64(e.Version+1), encodeKeys(e.Keys), some(e.Body))
		s.insertKeys(b, e.ID, e.Keys)
		failed, err := s.commit(ctx, c, b)
		if failed == 1 && code(err) == "23505" {
			return storage.ErrExists
		}
		return err
	})
}

// Update implements [storage.Store]. It is two round trips: one locks and reads
// the entry's version and keys, one writes what is new.
func (s *Store) Update(ctx context.Context, e storage.Entry) error {
	return s.put(ctx, "update", e, func(ctx context.Context, c *pgx.Conn) error {
		old, err := s.expect(ctx, c, e.ID, e.Version)
		if err != nil {
			return err
		}
		b := &pgx.Batch{}
		s.deleteKeys(b, e.ID, without(old, e.Keys))
		s.insertKeys(b, e.ID, without(e.Keys, old))
		b.Queue(s.sql.update, raw(e.ID), int64(e.Version+1), encodeKeys(e.Keys), some(e.Body))
		_, err = s.commit(ctx, c, b)
		return err
	})
}

// put makes a write that may collide with a unique key.
func (s *Store) put(ctx context.Context, doing string, e storage.Entry, write func(context.Context, *pgx.Conn) error) error {
	if err := e.Validate(); err != nil {
		return err
	}
	err := s.write(ctx, func(ctx context.Context, c *pgx.Conn) error {
		err := write(ctx, c)
		if code(err) != "23505" {
			return err
		}
		s.settle(ctx, c, err)
		taken, lookup := s.holder(ctx, c, e)
		if lookup != nil {
			return lookup
		} else if taken != nil {
			return taken
		}
		return again{fmt.Errorf("a unique key was held by an entry that has given it up since: %w", err)}
	})
	if err != nil {
		return fmt.Errorf("%s %q: %w", doing, storage.Label(e.ID), err)
	}
	return nil
}

// holder returns the first of the entry's unique keys that another entry holds, nil if there is none.
func (s *Store) holder(ctx context.Context, c *pgx.Conn, e storage.Entry) (*storage.KeyTakenError, error) {
	b := &pgx.Batch{}
	var unique []storage.Key
	for _, k := range e.Keys {
		if k.Unique {
			unique = append(unique, k)
			b.Queue(s.sql.holder, raw(k.Index), raw(k.Value), raw(e.ID))
		}
	}
	results := c.SendBatch(ctx, b)
	defer results.Close()
	for _, k := range unique {
		var id []byte
		if err := results.QueryRow().Scan(&id); err == nil {
			return &storage.KeyTakenError{Index: k.Index, Value: k.Value, Holder: string(id)}, nil
		} else if !errors.Is(err, pgx.ErrNoRows) {
			return nil, err
		}
	}
	return nil, nil
}

// Delete implements [storage.Store].
func (s *Store) Delete(ctx context.Context, id string, version uint64) error {
	err := s.write(ctx, func(ctx context.Context, c *pgx.Conn) error {
		old, err := s.expect(ctx, c, id, version)
		if err != nil {
			return err
		}
		b := &pgx.Batch{}
		s.deleteKeys(b, id, old)
		b.Queue(s.sql.delete, raw(id))
		_, err = s.commit(ctx, c, b)
		return err
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
	err := s.write(ctx, func(ctx context.Context, c *pgx.Conn) error {
		text, args := s.sql.nextNote, []any{raw(name), int64(version + 1), some(data), int64(version)}
		if version == 0 {
			text, args = s.sql.firstNote, args[:3]
		}
		lasting, cancel := s.outliving(ctx)
		defer cancel()
		tag, err := c.Exec(lasting, text, args...)
		if err == nil && tag.RowsAffected() == 0 {
			return storage.ErrConflict
		}
		return committing(err)
	})
	if err != nil {
		return fmt.Errorf("set note %q: %w", name, err)
	}
	return nil
}

func (s *Store) write(ctx context.Context, f func(context.Context, *pgx.Conn) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if s.readOnly && !s.closed.Load() {
		return storage.ErrReadOnly
	}
	return s.do(ctx, f)
}

// expect begins a transaction and locks an entry, which must be stored at the version. It returns its keys.
func (s *Store) expect(ctx context.Context, c *pgx.Conn, id string, version uint64) ([]storage.Key, error) {
	b := &pgx.Batch{}
	b.Queue(s.sql.begin)
	b.Queue(s.sql.lock, raw(id))
	results := c.SendBatch(ctx, b)
	defer results.Close()
	if _, err := results.Exec(); err != nil {
		return nil, err
	}
	var stored int64
	var keys []byte
	if err := results.QueryRow().Scan(&stored, &keys); errors.Is(err, pgx.ErrNoRows) {
		return nil, storage.ErrNotFound
	} else if err != nil {
		return nil, err
	}
	if uint64(stored) != version {
		return nil, storage.ErrConflict
	}
	if err := results.Close(); err != nil {
		return nil, err
	}
	return decodeKeys(id, keys)
}

func (s *Store) deleteKeys(b *pgx.Batch, id string, keys []storage.Key) {
	for _, k := range sorted(keys) {
		b.Queue(s.sql.deleteKey, raw(k.Index), raw(k.Value), k.Order, raw(id))
	}
}

func (s *Store) insertKeys(b *pgx.Batch, id string, keys []storage.Key) {
	if len(keys) == 0 {
		return
	}
	var indexes, values [][]byte
	var orders []int64
	var unique []bool
	for _, k := range sorted(keys) {
		indexes, values = append(indexes, raw(k.Index)), append(values, raw(k.Value))
		orders, unique = append(orders, k.Order), append(unique, k.Unique)
	}
	b.Queue(s.sql.insertKeys, indexes, values, orders, raw(id), unique)
}

// sorted returns the keys in the order in which every write claims them, so that two seldom wait for each other.
func sorted(keys []storage.Key) []storage.Key {
	return slices.SortedFunc(slices.Values(keys), func(a, b storage.Key) int {
		return cmp.Or(cmp.Compare(a.Index, b.Index), cmp.Compare(a.Value, b.Value))
	})
}

// commit runs the statements and commits, in one round trip. It says which
// statement failed, from 0. What follows a statement that failed is not run by
// the server, the commit neither; a connection that was lost leaves open
// whether it was.
func (s *Store) commit(ctx context.Context, c *pgx.Conn, b *pgx.Batch) (failed int, err error) {
	statements := b.Len()
	b.Queue("commit")
	lasting, cancel := s.outliving(ctx)
	defer cancel()
	results := c.SendBatch(lasting, b)
	for i := range statements {
		if _, err := results.Exec(); err != nil {
			_ = results.Close() // the same error
			if code(err) == "" && !pgconn.SafeToRetry(err) {
				return i, unsure{err}
			}
			return i, err
		}
	}
	tag, err := results.Exec()
	if err == nil {
		err = results.Close()
	} else {
		_ = results.Close() // the same error
	}
	if err == nil && tag.String() != "COMMIT" {
		err = fmt.Errorf("the server answered %s to the commit", tag)
		return statements, err
	}
	return statements, committing(err)
}

// committing judges the error of a statement that commits. The server's refusal
// is one if it is of a kind that is known to come before the commit.
func committing(err error) error {
	if err == nil || pgconn.SafeToRetry(err) {
		return err
	}
	switch e := code(err); {
	case e == "40003", e == "", len(e) < 2: // the server itself does not know; or the connection was lost
	case e[:2] == "40", e[:2] == "23", e[:2] == "25", e[:2] == "42", e[:2] == "22", e[:2] == "53", e == "57014", e[:2] == "54", e[:2] == "55":
		return err
	}
	return unsure{err}
}
