package storage

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"iter"
	"slices"
	"sync"
)

// Memory is a [Store] in memory: for wallets that live as shortly as their swaps, for tests, and
// as the model that other implementations are compared with. What it holds is gone with the
// process, so that no swap must be under way when it ends. Its queries scan all entries. The
// zero value is an empty store.
type Memory struct {
	mu      sync.Mutex
	entries map[string]Entry
	notes   map[string]note
}

type note struct {
	data    []byte
	version uint64
}

var _ Store = (*Memory)(nil)

// Get implements [Store].
func (m *Memory) Get(ctx context.Context, id string) (Entry, error) {
	if err := ctx.Err(); err != nil {
		return Entry{}, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	e, ok := m.entries[id]
	if !ok {
		return Entry{}, fmt.Errorf("get %q: %w", Label(id), ErrNotFound)
	}
	return clone(e), nil
}

// Create implements [Store].
func (m *Memory) Create(ctx context.Context, e Entry) error {
	return m.write(ctx, "create", e, func(_ Entry, found bool) error {
		if found {
			return ErrExists
		}
		return nil
	})
}

// Update implements [Store].
func (m *Memory) Update(ctx context.Context, e Entry) error {
	return m.write(ctx, "update", e, func(old Entry, found bool) error {
		return allowed(old, found, e.Version)
	})
}

func (m *Memory) write(ctx context.Context, doing string, e Entry, allow func(old Entry, found bool) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := e.Validate(); err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	old, found := m.entries[e.ID]
	if err := allow(old, found); err != nil {
		return fmt.Errorf("%s %q: %w", doing, Label(e.ID), err)
	}
	for _, k := range e.Keys {
		if holder := m.holder(k); k.Unique && holder != "" && holder != e.ID {
			return fmt.Errorf("%s %q: %w", doing, Label(e.ID), &KeyTakenError{Index: k.Index, Value: k.Value, Holder: holder})
		}
	}
	if m.entries == nil {
		m.entries = map[string]Entry{}
	}
	e = clone(e)
	e.Version++
	m.entries[e.ID] = e
	return nil
}

// holder returns the entry that holds the key as a unique one, or "".
func (m *Memory) holder(k Key) string {
	for id, e := range m.entries {
		for _, held := range e.Keys {
			if held.Unique && held.Index == k.Index && held.Value == k.Value {
				return id
			}
		}
	}
	return ""
}

// Delete implements [Store].
func (m *Memory) Delete(ctx context.Context, id string, version uint64) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	old, found := m.entries[id]
	if err := allowed(old, found, version); err != nil {
		return fmt.Errorf("delete %q: %w", Label(id), err)
	}
	delete(m.entries, id)
	return nil
}

func allowed(old Entry, found bool, version uint64) error {
	switch {
	case !found:
		return ErrNotFound
	case old.Version != version:
		return ErrConflict
	}
	return nil
}

// Find implements [Store]; the whole result is one page.
func (m *Memory) Find(ctx context.Context, q Query) iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		if err := cmp.Or(ctx.Err(), q.Validate()); err != nil {
			yield(Entry{}, err)
			return
		}
		for _, e := range m.matches(q) {
			if err := ctx.Err(); err != nil {
				yield(Entry{}, err)
				return
			}
			if !yield(e, nil) {
				return
			}
		}
	}
}

func (m *Memory) matches(q Query) []Entry {
	m.mu.Lock()
	defer m.mu.Unlock()
	compare := func(a, b Position) int {
		c := cmp.Or(cmp.Compare(a.Order, b.Order), cmp.Compare(a.ID, b.ID))
		if q.Descending {
			return -c
		}
		return c
	}
	var found []Entry
	for _, e := range m.entries {
		p, ok := q.Position(e)
		if !ok || q.Range != nil && (p.Order < q.Range.Min || p.Order > q.Range.Max) || q.After != nil && compare(p, *q.After) <= 0 {
			continue
		}
		found = append(found, clone(e))
	}
	slices.SortFunc(found, func(a, b Entry) int {
		p, _ := q.Position(a)
		o, _ := q.Position(b)
		return compare(p, o)
	})
	return found
}

// Note implements [Store].
func (m *Memory) Note(ctx context.Context, name string) ([]byte, uint64, error) {
	if err := ctx.Err(); err != nil {
		return nil, 0, err
	}
	if err := (Note{Name: name}).Validate(); err != nil {
		return nil, 0, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	n := m.notes[name]
	return bytes.Clone(n.data), n.version, nil
}

// SetNote implements [Store].
func (m *Memory) SetNote(ctx context.Context, name string, data []byte, version uint64) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := (Note{Name: name, Data: data, Version: version}).Validate(); err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.notes[name].version != version {
		return fmt.Errorf("set note %q: %w", name, ErrConflict)
	}
	if m.notes == nil {
		m.notes = map[string]note{}
	}
	m.notes[name] = note{data: bytes.Clone(data), version: version + 1}
	return nil
}

func clone(e Entry) Entry {
	e.Body, e.Keys = bytes.Clone(e.Body), slices.Clone(e.Keys)
	return e
}
