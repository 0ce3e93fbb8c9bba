package storage

import (
	"errors"
	"fmt"
)

var (
	// ErrNotFound: no entry has the ID.
	ErrNotFound = errors.New("entry not found")
	// ErrExists: Create found an entry with the ID.
	ErrExists = errors.New("entry already exists")
	// ErrConflict: the version is not the stored one, because another writer
	// was first.
	ErrConflict = errors.New("version does not match the stored one")
	// ErrInvalid: an argument exceeds the limits; the same call can never
	// succeed.
	ErrInvalid = errors.New("invalid argument")
	// ErrUnknown: it is not known whether the write was made; read the entry
	// again.
	ErrUnknown = errors.New("outcome of the write is unknown")
	// ErrCorrupt: the stored data is damaged.
	ErrCorrupt = errors.New("stored data is damaged")
	// ErrClosed: the store was closed.
	ErrClosed = errors.New("store is closed")
	// ErrReadOnly: the store was opened read-only.
	ErrReadOnly = errors.New("store is read-only")
)

// KeyTakenError is the error of a write whose unique key is held by another
// entry.
type KeyTakenError struct {
	Index, Value string
	Holder       string // ID of the entry that holds the key; must not be shown to callers
}

// Error names only the index: the value may come from a caller, and the
// holder's id must not be revealed.
func (e *KeyTakenError) Error() string {
	return fmt.Sprintf("a unique key of index %q is already used by another entry", e.Index)
}
