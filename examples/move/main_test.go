package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/swapper-go/swapper/storage"
	"github.com/swapper-go/swapper/storage/bolt"
)

// filled makes a file with entries of many versions, keys and sizes, and notes.
func filled(t *testing.T, entries int) (path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "swaps.db")
	s, err := bolt.Open(t.Context(), path, bolt.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	var all sync.WaitGroup
	for i := range entries {
		e := storage.Entry{ID: fmt.Sprintf("%c%d", byte(i*7), i), Version: uint64(i % 9), Body: bytes.Repeat([]byte{byte(i)}, i*13%5000)}
		for k := range i % 4 {
			e.Keys = append(e.Keys, storage.Key{Index: fmt.Sprint("index ", 3-k), Value: fmt.Sprint(i % 5 * k), Order: int64(i - 50)},
				storage.Key{Index: "unique", Value: fmt.Sprint(i, k), Order: int64(-i), Unique: true})
		}
		all.Go(func() { // several share a write of the file
			if err := s.Create(t.Context(), e); err != nil {
				t.Error(err)
			}
		})
	}
	for i := range 12 {
		all.Go(func() {
			for version := range uint64(i%3 + 1) {
				if err := s.SetNote(t.Context(), fmt.Sprint("note ", i), fmt.Append(nil, i, version), version); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	return path
}

// A move that is stopped at any moment goes on when the command is given again.
func TestResume(t *testing.T) {
	t.Parallel()
	path := filled(t, 200)
	to := filepath.Join(t.TempDir(), "copy.db")
	copied, stopped := 0, 0
	for stop := 1; ; stop += 40 {
		source, err := open(t.Context(), path, "", true)
		if err != nil {
			t.Fatal(err)
		}
		target, err := open(t.Context(), to, "", false)
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		counted := &stopping{whole: target, cancel: cancel}
		counted.left.Store(int64(stop))
		done, err := copyAll(ctx, source, counted, func(progress) {})
		cancel()
		if closed := errors.Join(source.Close(), target.Close()); closed != nil {
			t.Fatal(closed)
		}
		if err == nil {
			if copied = int(done.entries); done.there == 0 {
				t.Error("nothing was there from the attempts before")
			}
			break
		} else if stopped++; !errors.Is(err, context.Canceled) {
			t.Fatal(err)
		}
	}
	if copied != 200 || stopped < 3 {
		t.Errorf("copied %d after it was stopped %d times", copied, stopped)
	}
	var out strings.Builder
	if err := run(t.Context(), []string{"-from", path, "-to", to}, &out); err != nil || !strings.Contains(out.String(), "212 were there") {
		t.Errorf("%v, %q", err, out.String())
	}
}

// stopping ends the context after some writes.
type stopping struct {
	whole
	left   atomic.Int64
	cancel func()
}

func (s *stopping) count() {
	if s.left.Add(-1) == 0 {
		s.cancel()
	}
}

func (s *stopping) Create(ctx context.Context, e storage.Entry) error {
	defer s.count()
	return s.whole.Create(ctx, e)
}

func (s *stopping) SetNote(ctx context.Context, name string, data []byte, version uint64) error {
	defer s.count()
	return s.whole.SetNote(ctx, name, data, version)
}

// What is not a copy is not called one, and not overwritten.
func TestNotACopy(t *testing.T) {
	t.Parallel()
	path := filled(t, 40)
	for name, test := range map[string]struct {
		change func(*bolt.Store) error
		want   string
	}{
		"another body": {func(s *bolt.Store) error {
			return s.Update(t.Context(), storage.Entry{ID: "\x000", Version: 1, Body: []byte("x")})
		}, "is another than the source's"},
		"another note":     {func(s *bolt.Store) error { return s.SetNote(t.Context(), "note 0", []byte("x"), 1) }, "is another than the source's"},
		"one entry more":   {func(s *bolt.Store) error { return s.Create(t.Context(), storage.Entry{ID: "more"}) }, "of the target is not in the source"},
		"one at the end":   {func(s *bolt.Store) error { return s.Create(t.Context(), storage.Entry{ID: "\xff\xff"}) }, "of the target is not in the source"},
		"one note more":    {func(s *bolt.Store) error { return s.SetNote(t.Context(), "zz", nil, 0) }, "of the target is not in the source"},
		"a key is claimed": {func(s *bolt.Store) error { return claim(t.Context(), s) }, "already used by another entry"},
	} {
		t.Run(name, func(t *testing.T) {
			to := filepath.Join(t.TempDir(), "copy.db")
			var out strings.Builder
			if err := run(t.Context(), []string{"-from", path, "-to", to}, &out); err != nil {
				t.Fatal(err)
			}
			s, err := bolt.Open(t.Context(), to, bolt.Options{})
			if err != nil {
				t.Fatal(err)
			}
			if err := errors.Join(test.change(s), s.Close()); err != nil {
				t.Fatal(err)
			}
			if err := run(t.Context(), []string{"-from", path, "-to", to}, &out); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, want %q", err, test.want)
			}
			if err := run(t.Context(), []string{"-check", "-from", path, "-to", to}, &out); err == nil {
				t.Error("the check found nothing")
			}
		})
	}
}

// claim has another entry hold what an entry of the source holds.
func claim(ctx context.Context, s *bolt.Store) error {
	var first storage.Entry
	for e, err := range s.Find(ctx, storage.Query{Index: "unique", Value: "1 0"}) {
		if err != nil {
			return err
		}
		first = e
	}
	if err := s.Delete(ctx, first.ID, first.Version); err != nil {
		return err
	}
	first.ID = "other"
	return s.Create(ctx, first)
}

// A file that a service has open is not copied from under it, and none is made by a wrong name.
func TestRefused(t *testing.T) {
	path := filled(t, 1)
	s, err := bolt.Open(t.Context(), path, bolt.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	to := filepath.Join(t.TempDir(), "copy.db")
	var out strings.Builder
	soon, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if err := run(soon, []string{"-from", path, "-to", to}, &out); !errors.Is(err, bolt.ErrInUse) {
		t.Errorf("got %v, want ErrInUse", err)
	}
	if err := run(t.Context(), []string{"-from", path + "x", "-to", to}, &out); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("got %v, want ErrNotExist", err)
	}
	if err := run(t.Context(), []string{"-from", path}, &out); err == nil {
		t.Error("-to is missing")
	}
	if _, err := os.Stat(to); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the target was made: %v", err)
	}
}
