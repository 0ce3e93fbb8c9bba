//go:build js

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"syscall/js"

	"github.com/swapper-go/swapper/storage"
)

// store keeps what was agreed on by two functions of the page, get(name) and set(name, text).
// It implements [verify.Store] for one page: its calls take turns, and it cannot see what
// another page does between two of them.
type store struct {
	page js.Value
	turn sync.Mutex
}

// kept is an entry or a note in the page's hands. Version 0: there is none.
type kept struct {
	Version uint64
	Body    []byte
}

func (s *store) Get(ctx context.Context, id string) (storage.Entry, error) {
	s.turn.Lock()
	defer s.turn.Unlock()
	k, err := s.read(ctx, "entry "+id)
	if err == nil && k.Version == 0 {
		err = fmt.Errorf("get %q: %w", storage.Label(id), storage.ErrNotFound)
	}
	return storage.Entry{ID: id, Version: k.Version, Body: k.Body}, err
}

func (s *store) Create(ctx context.Context, e storage.Entry) error {
	return s.write(ctx, e, func(found uint64) error {
		if found != 0 {
			return fmt.Errorf("create %q: %w", storage.Label(e.ID), storage.ErrExists)
		}
		return nil
	})
}

func (s *store) Update(ctx context.Context, e storage.Entry) error {
	return s.write(ctx, e, func(found uint64) error {
		switch found {
		case 0:
			return fmt.Errorf("update %q: %w", storage.Label(e.ID), storage.ErrNotFound)
		case e.Version:
			return nil
		}
		return fmt.Errorf("update %q: %w", storage.Label(e.ID), storage.ErrConflict)
	})
}

// write stores an entry whose stored version is allowed. Its unique keys are claimed first: a
// page that ends in between has claimed them for the entry that it was about to write.
func (s *store) write(ctx context.Context, e storage.Entry, allowed func(found uint64) error) error {
	s.turn.Lock()
	defer s.turn.Unlock()
	was, err := s.read(ctx, "entry "+e.ID)
	if err != nil {
		return err
	}
	if err := allowed(was.Version); err != nil {
		return err
	}
	for _, k := range e.Keys {
		name := "key " + k.Index + " " + k.Value
		holder, err := s.read(ctx, name)
		switch {
		case err != nil:
			return err
		case holder.Version != 0 && string(holder.Body) != e.ID:
			return &storage.KeyTakenError{Index: k.Index, Value: k.Value, Holder: string(holder.Body)}
		}
		if err := s.set(ctx, name, kept{1, []byte(e.ID)}); err != nil {
			return err
		}
	}
	return s.set(ctx, "entry "+e.ID, kept{e.Version + 1, e.Body})
}

func (s *store) Note(ctx context.Context, name string) ([]byte, uint64, error) {
	s.turn.Lock()
	defer s.turn.Unlock()
	k, err := s.read(ctx, "note "+name)
	return k.Body, k.Version, err
}

func (s *store) SetNote(ctx context.Context, name string, data []byte, version uint64) error {
	s.turn.Lock()
	defer s.turn.Unlock()
	was, err := s.read(ctx, "note "+name)
	if err != nil {
		return err
	}
	if was.Version != version {
		return fmt.Errorf("set the note %q: %w", storage.Label(name), storage.ErrConflict)
	}
	return s.set(ctx, "note "+name, kept{version + 1, data})
}

func (s *store) read(ctx context.Context, name string) (k kept, err error) {
	v, err := call(ctx, s.page.Get("get"), name)
	if err != nil || v.Type() != js.TypeString {
		return k, err
	}
	if err := json.Unmarshal([]byte(v.String()), &k); err != nil {
		return k, fmt.Errorf("%w: %q: %w", storage.ErrCorrupt, storage.Label(name), err)
	}
	return k, nil
}

func (s *store) set(ctx context.Context, name string, k kept) error {
	text, err := json.Marshal(k)
	if err != nil {
		return err
	}
	_, err = call(ctx, s.page.Get("set"), name, string(text))
	return err
}
