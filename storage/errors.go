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
	// ErrConflict: the version is not the stored one; somebody else wrote first.
	ErrConflict = errors.New("version does not match the stored one")
	// ErrInvalid: an argument is beyond the limits; the same call will never succeed.
	ErrInvalid = errors.New("invalid argument")
	// ErrUnknown: the write may or may not have been made; read again.
	ErrUnknown = errors.New("outcome of the write is unknown")
	// ErrCorrupt: the stored data is damaged.
	ErrCorrupt = errors.New("stored data is damaged")
	// ErrClosed: the store was closed.
	ErrClosed = errors.New("store is closed")
	// ErrReadOnly: the store was opened for reading only.
	ErrReadOnly = errors.New("store is read-only")
)

// KeyTakenError says that another entry holds a unique key.
type KeyTakenError struct {
	Index, Value string
	Holder       string // ID of the entry that holds the key; not to be shown
}

// Error names the index alone: the value may be a caller's, and the holder's id is
// not for whoever reads errors.
func (e *KeyTakenError) Error() string {
	return fmt.Sprintf("a unique key of index %q is already used by another entry", e.Index)
}
