package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"github.com/swapper-go/swapper/storage"
)

// whole is a store of which everything can be read.
type whole interface {
	storage.Store
	Entries(ctx context.Context, after string) iter.Seq2[storage.Entry, error]
	Notes(ctx context.Context, after string) iter.Seq2[storage.Note, error]
	Verify(ctx context.Context) error
	Close() error
}

// progress counts what has been copied or compared.
type progress struct{ entries, notes, there int64 }

const (
	// Writes at once: bolt puts them into one commit, a database into its pool's connections.
	writers = 32
	shown   = 10_000 // entries from one line of progress to the next
	again   = 3      // times that a write of unknown outcome is made
)

// copyAll writes what the source has and the target has not. What the target has must be the same.
func copyAll(ctx context.Context, source, target whole, show func(progress)) (progress, error) {
	var entries, there atomic.Int64
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(writers)
	var notes int64
	group.Go(func() error {
		for n, err := range source.Notes(ctx, "") {
			if err != nil {
				return err
			}
			already, err := copyNote(ctx, target, n)
			if err != nil {
				return err
			}
			if already {
				there.Add(1)
			}
			notes++
		}
		return nil
	})
	var failed error
	for e, err := range source.Entries(ctx, "") {
		if failed = err; failed != nil {
			break
		}
		group.Go(func() error {
			already, err := copyEntry(ctx, target, e)
			if err != nil {
				return err
			}
			if already {
				there.Add(1)
			}
			if n := entries.Add(1); n%shown == 0 {
				show(progress{entries: n})
			}
			return nil
		})
	}
	err := group.Wait()
	if err == nil || errors.Is(failed, storage.ErrCorrupt) {
		err = errors.Join(failed, err)
	}
	return progress{entries.Load(), notes, there.Load()}, err
}

// copyEntry stores an entry at its version. already: it was there.
func copyEntry(ctx context.Context, target whole, e storage.Entry) (already bool, err error) {
	if e.Version == 0 {
		return false, fmt.Errorf("entry %q has version 0, which no store gives", storage.Label(e.ID))
	}
	created := e
	created.Version--
	for range again {
		if err = target.Create(ctx, created); !errors.Is(err, storage.ErrUnknown) {
			break
		}
	}
	if !errors.Is(err, storage.ErrExists) {
		return false, err
	}
	stored, err := target.Get(ctx, e.ID)
	if err == nil && !equal(stored, e) {
		err = fmt.Errorf("entry %q of the target is another than the source's: the target must be empty, or a copy that was begun", storage.Label(e.ID))
	}
	return true, err
}

func copyNote(ctx context.Context, target whole, n storage.Note) (already bool, err error) {
	for range again {
		if err = target.SetNote(ctx, n.Name, n.Data, 0); !errors.Is(err, storage.ErrUnknown) {
			break
		}
	}
	if !errors.Is(err, storage.ErrConflict) {
		return false, err
	}
	data, _, err := target.Note(ctx, n.Name)
	if err == nil && !bytes.Equal(data, n.Data) {
		err = fmt.Errorf("note %q of the target is another than the source's: the target must be empty, or a copy that was begun", n.Name)
	}
	return true, err
}

func equal(a, b storage.Entry) bool {
	return a.ID == b.ID && a.Version == b.Version && bytes.Equal(a.Body, b.Body) && slices.Equal(a.Keys, b.Keys)
}

// compare reads both stores whole and returns how much is the same, or the first difference.
func compare(ctx context.Context, source, target whole) (same progress, err error) {
	for name, s := range map[string]whole{"source": source, "target": target} {
		if err := s.Verify(ctx); err != nil {
			return same, fmt.Errorf("%s: %w", name, err)
		}
	}
	same.entries, err = sideBySide(source.Entries(ctx, ""), target.Entries(ctx, ""), func(e storage.Entry) string { return fmt.Sprintf("entry %q", storage.Label(e.ID)) }, equal,
		func(a, b storage.Entry) bool { return a.ID < b.ID })
	if err != nil {
		return same, err
	}
	same.notes, err = sideBySide(source.Notes(ctx, ""), target.Notes(ctx, ""), func(n storage.Note) string { return fmt.Sprintf("note %q", n.Name) },
		func(a, b storage.Note) bool { return a.Name == b.Name && bytes.Equal(a.Data, b.Data) },
		func(a, b storage.Note) bool { return a.Name < b.Name })
	return same, err
}

// sideBySide goes through two sorted sequences, which must have the same.
func sideBySide[T any](source, target iter.Seq2[T, error], name func(T) string, equal, less func(a, b T) bool) (n int64, err error) {
	next, stop := iter.Pull2(target)
	defer stop()
	for want, err := range source {
		if err != nil {
			return n, fmt.Errorf("source: %w", err)
		}
		got, err, more := next()
		switch {
		case err != nil:
			return n, fmt.Errorf("target: %w", err)
		case !more || less(want, got):
			return n, fmt.Errorf("%s is missing from the target", name(want))
		case less(got, want):
			return n, fmt.Errorf("%s of the target is not in the source", name(got))
		case !equal(want, got):
			return n, fmt.Errorf("%s is not the same in both", name(want))
		}
		n++
	}
	if got, err, more := next(); err != nil {
		return n, fmt.Errorf("target: %w", err)
	} else if more {
		return n, fmt.Errorf("%s of the target is not in the source", name(got))
	}
	return n, nil
}
