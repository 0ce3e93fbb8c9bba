package bolt_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/swapper-go/swapper/internal/trial"
	"github.com/swapper-go/swapper/storage"
	"github.com/swapper-go/swapper/storage/bolt"
)

// A copy that is made while others write is a whole store of one moment: what was
// acknowledged before is in it, and a pair that is written together is in it together.
func TestBackupWhileWriting(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := trial.Must(bolt.Open(t.Context(), filepath.Join(dir, "swaps.db"), bolt.Options{}))(t)
	defer s.Close()
	add := func(i int) error {
		return s.Create(t.Context(), storage.Entry{ID: fmt.Sprint(i), Body: make([]byte, 2000), Keys: []storage.Key{{Index: "i", Value: "v", Order: int64(i)}}})
	}
	for i := range 200 {
		trial.Do(t, add(i))
	}
	ctx, stop := context.WithCancel(t.Context())
	var writers sync.WaitGroup
	for w := range 4 {
		writers.Go(func() {
			for i := 1000 * (w + 1); ctx.Err() == nil; i++ {
				if err := add(i); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	path := filepath.Join(dir, "copy.db")
	for range 5 { // each replaces the one before
		trial.Do(t, s.Backup(t.Context(), path))
		info, err := os.Stat(path)
		if err != nil || info.Mode().Perm() != 0o600 {
			t.Fatalf("%v, %v", info, err)
		}
		c := trial.Must(bolt.Open(t.Context(), path, bolt.Options{}))(t)
		if err := c.Verify(t.Context()); err != nil {
			t.Error(err)
		}
		for i := range 200 {
			if _, err := c.Get(t.Context(), fmt.Sprint(i)); err != nil {
				t.Fatalf("entry %d: %v", i, err)
			}
		}
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	}
	stop()
	writers.Wait()
	if left, _ := filepath.Glob(filepath.Join(dir, "*.part")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

// A copy that fails leaves what was there, and nothing beside it.
func TestBackupThatFails(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "copy.db")
	trial.Do(t, os.WriteFile(path, []byte("before"), 0o600))
	s := trial.Must(bolt.Open(t.Context(), filepath.Join(dir, "swaps.db"), bolt.Options{}))(t)
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if err := s.Backup(ended, path); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if err := s.Backup(t.Context(), s.Path()); err == nil {
		t.Error("the store was copied onto itself")
	}
	if err := s.Backup(t.Context(), filepath.Join(dir, "none", "copy.db")); err == nil {
		t.Error("a folder that does not exist")
	}
	trial.Do(t, s.Close())
	if err := s.Backup(t.Context(), path); !errors.Is(err, storage.ErrClosed) {
		t.Errorf("of a closed store: %v", err)
	}
	if text, err := os.ReadFile(path); err != nil || string(text) != "before" {
		t.Errorf("%q, %v", text, err)
	}
	if all, _ := os.ReadDir(dir); len(all) != 2 {
		t.Errorf("%v", all)
	}
}
