package storagetest

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/swapper-go/swapper/storage"
)

func (s *suite) endedContext() {
	e := listed("a", 1)
	s.create(e)
	e.Version = 1
	canceled, cancel := context.WithCancel(s.ctx)
	cancel()
	late, cancel := context.WithTimeout(s.ctx, time.Nanosecond)
	defer cancel()
	<-late.Done()
	for _, ctx := range []context.Context{canceled, late} {
		for name, call := range map[string]func() error{
			"Get":     func() error { _, err := s.store.Get(ctx, "a"); return err },
			"Create":  func() error { return s.store.Create(ctx, listed("b", 1)) },
			"Update":  func() error { return s.store.Update(ctx, storage.Entry{ID: "a", Version: 1}) },
			"Delete":  func() error { return s.store.Delete(ctx, "a", 1) },
			"Note":    func() error { _, _, err := s.store.Note(ctx, "n"); return err },
			"SetNote": func() error { return s.store.SetNote(ctx, "n", []byte("x"), 0) },
			"Find": func() error {
				for e, err := range s.store.Find(ctx, list) {
					if e.ID != "" || err == nil {
						return fmt.Errorf("found %v, %v", e, err)
					}
					return err
				}
				return nil
			},
		} {
			if err := call(); !errors.Is(err, ctx.Err()) {
				s.Errorf("%s: got %v, want %v", name, err, ctx.Err())
			}
		}
	}
	s.stored(e)
	s.finds(list, "a")
	if _, version, err := s.store.Note(s.ctx, "n"); version != 0 || err != nil {
		s.Errorf("note has version %d, %v, want 0", version, err)
	}
}

func (s *suite) contextEndsDuringFind() {
	s.fill(50)
	ctx, cancel := context.WithCancel(s.ctx)
	defer cancel()
	n, failed := 0, 0
	for e, err := range s.store.Find(ctx, list) {
		if err != nil {
			failed++
			if e.ID != "" || !errors.Is(err, context.Canceled) {
				s.Errorf("got %v, %v, want the zero entry and context.Canceled", e, err)
			}
			continue
		}
		if n++; n == 5 {
			cancel()
		}
	}
	if n != 5 || failed != 1 {
		s.Errorf("%d entries and %d errors, want 5 and 1", n, failed)
	}
}

// contextEndsDuringWrite ends contexts at all moments: what a write answers
// must be what has become of it.
func (s *suite) contextEndsDuringWrite() {
	var mu sync.Mutex
	outcomes := map[string]error{}
	s.together(func(i int) error {
		for n := range 30 {
			ctx, cancel := context.WithTimeout(s.ctx, time.Duration(n*100)*time.Microsecond)
			id := fmt.Sprintf("%d-%d", i, n)
			err := s.store.Create(ctx, storage.Entry{ID: id, Keys: []storage.Key{{Index: "u", Value: id, Unique: true}}})
			cancel()
			if err != nil && !errors.Is(err, context.DeadlineExceeded) {
				return err
			}
			mu.Lock()
			outcomes[id] = err
			mu.Unlock()
		}
		return nil
	})
	s.create(storage.Entry{ID: "after all others"})
	for id, err := range outcomes {
		_, missing := s.store.Get(s.ctx, id)
		switch {
		case missing != nil && !errors.Is(missing, storage.ErrNotFound):
			s.Fatal(missing)
		case err == nil && missing != nil:
			s.Errorf("%s was acknowledged and is not there", id)
		case err != nil && !errors.Is(err, storage.ErrUnknown) && missing == nil:
			s.Errorf("%s is there, although the write answered %v", id, err)
		}
		s.finds(storage.Query{Index: "u", Value: id}, map[bool][]string{true: {id}}[missing == nil]...)
	}
}
