package storage

import (
	"fmt"
	"math"
)

// Limits in bytes, and MaxKeys in keys. They are far above what a swap needs,
// and within what any ordered database can index.
const (
	MaxID    = 256
	MaxIndex = 64
	MaxValue = 512
	MaxKeys  = 64
	MaxBody  = 8 << 20 // of an entry and of a note
	MaxName  = 256     // of a note
)

// Validate returns an error that wraps [ErrInvalid] unless the entry is within
// the limits. Implementations of [Store] call it first in Create and Update.
func (e Entry) Validate() error {
	switch {
	case e.ID == "" || len(e.ID) > MaxID:
		return fmt.Errorf("id has %d bytes, must have 1 to %d: %w", len(e.ID), MaxID, ErrInvalid)
	case e.Version == math.MaxUint64:
		return fmt.Errorf("entry %q: version %d cannot be incremented: %w", Label(e.ID), e.Version, ErrInvalid)
	case len(e.Body) > MaxBody:
		return fmt.Errorf("entry %q: body has %d bytes, must have at most %d: %w", Label(e.ID), len(e.Body), MaxBody, ErrInvalid)
	case len(e.Keys) > MaxKeys:
		return fmt.Errorf("entry %q: has %d keys, must have at most %d: %w", Label(e.ID), len(e.Keys), MaxKeys, ErrInvalid)
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

// ValidateNote returns an error that wraps [ErrInvalid] unless a note of this
// name, content and version can be replaced. Implementations of [Store] call
// it first in Note and SetNote.
func ValidateNote(name string, data []byte, version uint64) error {
	switch {
	case name == "" || len(name) > MaxName:
		return fmt.Errorf("note name has %d bytes, must have 1 to %d: %w", len(name), MaxName, ErrInvalid)
	case len(data) > MaxBody:
		return fmt.Errorf("note %q: has %d bytes, must have at most %d: %w", name, len(data), MaxBody, ErrInvalid)
	case version == math.MaxUint64:
		return fmt.Errorf("note %q: version %d cannot be incremented: %w", name, version, ErrInvalid)
	}
	return nil
}

func validateKey(index, value string) error {
	switch {
	case index == "" || len(index) > MaxIndex:
		return fmt.Errorf("index name has %d bytes, must have 1 to %d: %w", len(index), MaxIndex, ErrInvalid)
	case len(value) > MaxValue:
		return fmt.Errorf("value in index %q has %d bytes, must have at most %d: %w", index, len(value), MaxValue, ErrInvalid)
	}
	return nil
}
