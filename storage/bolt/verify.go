package bolt

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"go.etcd.io/bbolt"

	"github.com/swapper-go/swapper/storage"
)

const maxProblems = 100

// Verify reads the whole file and checks its structure, the checksum of every
// record, and that the keys found by queries and held as unique ones are
// exactly those that the entries carry. It returns nil, or an error that wraps
// storage.ErrCorrupt and names the first problems. Writes wait until it is
// done: a few seconds per million entries if the file is in memory.
func (s *Store) Verify(ctx context.Context) error {
	s.commits.Lock()
	defer s.commits.Unlock()
	v := &verifier{ctx: ctx}
	err := s.read(ctx, func(b buckets) error {
		info, err := s.file.Stat()
		if err != nil {
			return err
		}
		structure, err := checkFile(ctx, s.file, info.Size(), true)
		if err != nil {
			return err
		}
		if err := structure.complete(); err != nil {
			return err
		}
		return v.run(b)
	})
	if err := errors.Join(append(v.problems, err)...); err != nil {
		return fmt.Errorf("verify store %s: %w", s.path, err)
	}
	return nil
}

type verifier struct {
	ctx            context.Context
	buckets        buckets
	shared, unique int // keys that the entries carry
	problems       []error
}

// errEnough ends the walk.
var errEnough = fmt.Errorf("too many problems to list: %w", storage.ErrCorrupt)

func (v *verifier) run(b buckets) error {
	v.buckets = b
	if err := v.each(b.entries, v.entry); err != nil {
		return err
	}
	if err := v.each(b.notes, v.note); err != nil {
		return err
	}
	if err := v.keys(b.index, v.shared, parseShared); err != nil {
		return err
	}
	return v.keys(b.unique, v.unique, parseUnique)
}

// each calls check for all that a bucket holds and collects what it returns.
func (v *verifier) each(b *bbolt.Bucket, check func(key, value []byte) error) error {
	return b.ForEach(func(key, value []byte) error {
		if err := v.ctx.Err(); err != nil {
			return err
		}
		if err := check(key, value); err != nil {
			v.problems = append(v.problems, err)
			if len(v.problems) >= maxProblems {
				return errEnough
			}
		}
		return nil
	})
}

// entry checks a record and that its keys are where they belong.
func (v *verifier) entry(key, value []byte) error {
	e, err := decodeEntry(string(key), value)
	if err != nil {
		return err
	}
	for _, p := range placesOf(e.ID, e.Keys) {
		if p.key.Unique {
			v.unique++
		} else {
			v.shared++
		}
		if !bytes.Equal(v.buckets.keysOf(p).Get(p.bucket), p.value) {
			return damaged("entry %q: key %q is missing from index %q", storage.Label(e.ID), p.key.Value, p.key.Index)
		}
	}
	return nil
}

func (v *verifier) note(key, value []byte) error {
	_, _, err := decodeNote(string(key), value)
	return err
}

// keys checks that a bucket holds as many keys as the entries carry, so that
// none is left over, and that each can be read.
func (v *verifier) keys(b *bbolt.Bucket, want int, parse func(key, value []byte) bool) error {
	n := 0
	err := v.each(b, func(key, value []byte) error {
		n++
		if !parse(key, value) {
			return damaged("invalid key %x", key)
		}
		return nil
	})
	if err == nil && n != want {
		return damaged("the indexes hold %d keys, the entries %d", n, want)
	}
	return err
}

func parseShared(key, value []byte) bool {
	_, _, rest, ok := splitScope(key)
	if !ok || !bytes.Equal(value, present) {
		return false
	}
	_, ok = parsePlace(rest)
	return ok
}

func parseUnique(key, value []byte) bool {
	_, _, rest, ok := splitScope(key)
	if !ok || len(rest) > 0 {
		return false
	}
	_, ok = parsePlace(value)
	return ok
}
