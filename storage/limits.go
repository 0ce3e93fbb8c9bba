package storage

import (
	"fmt"
	"math"

	"github.com/swapper-go/swapper/internal/bounds"
)

// Validate returns an error that wraps [ErrInvalid] unless the entry is within
// the limits. Implementations of [Store] call it first in Create and Update.
func (e Entry) Validate() error {
	switch {
	case e.ID == "" || len(e.ID) > bounds.MaxID:
		return fmt.Errorf("id has %d bytes, must have 1 to %d: %w", len(e.ID), bounds.MaxID, ErrInvalid)
	case e.Version == math.MaxUint64:
		return fmt.Errorf("entry %q: version %d cannot be incremented: %w", Label(e.ID), e.Version, ErrInvalid)
	case len(e.Body) > bounds.MaxBody:
		return fmt.Errorf("entry %q: body has %d bytes, must have at most %d: %w", Label(e.ID), len(e.Body), bounds.MaxBody, ErrInvalid)
	case len(e.Keys) > bounds.MaxKeys:
		return fmt.Errorf("entry %q: has %d keys, must have at most %d: %w", Label(e.ID), len(e.Keys), bounds.MaxKeys, ErrInvalid)
	}
	for i, k := range e.Keys {
		if err := validateKey(k.Index, k.Value); err != nil {
			return fmt.Errorf("entry %q: key %d: %w", Label(e.ID), i, err)
		}
		for _, other := range e.Keys[:i] {
			if other.Index == k.Index && other.Value == k.Value {
				return fmt.Errorf("entry %q: key %d: index %q already has value %q: %w", Label(e.ID), i, k.Index, k.Value, ErrInvalid)
			}
		}
	}
	return nil
}

// Validate returns an error that wraps [ErrInvalid] unless some entry could
// match the query's Index and Value. Implementations of [Store] call it first
// in Find.
func (q Query) Validate() error {
	if err := validateKey(q.Index, q.Value); err != nil {
		return fmt.Errorf("query: %w", err)
	}
	return nil
}

// Validate returns an error that wraps [ErrInvalid] unless a note of this
// name, content and version can be replaced. Implementations of [Store] call
// it first in Note and SetNote.
func (n Note) Validate() error {
	switch {
	case n.Name == "" || len(n.Name) > bounds.MaxName:
		return fmt.Errorf("note name has %d bytes, must have 1 to %d: %w", len(n.Name), bounds.MaxName, ErrInvalid)
	case len(n.Data) > bounds.MaxBody:
		return fmt.Errorf("note %q: has %d bytes, must have at most %d: %w", n.Name, len(n.Data), bounds.MaxBody, ErrInvalid)
	case n.Version == math.MaxUint64:
		return fmt.Errorf("note %q: version %d cannot be incremented: %w", n.Name, n.Version, ErrInvalid)
	}
	return nil
}

func validateKey(index, value string) error {
	switch {
	case index == "" || len(index) > bounds.MaxIndex:
		return fmt.Errorf("index name has %d bytes, must have 1 to %d: %w", len(index), bounds.MaxIndex, ErrInvalid)
	case len(value) > bounds.MaxValue:
		return fmt.Errorf("value in index %q has %d bytes, must have at most %d: %w", index, len(value), bounds.MaxValue, ErrInvalid)
	}
	return nil
}
