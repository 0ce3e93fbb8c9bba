// Package storage defines what the engine needs from a database: entries with
// opaque bodies, found by id and by index keys, changed only by
// compare-and-set.
//
// Package storage/bolt keeps a [Store] in one file, storage/postgres in a
// PostgreSQL database, and [Memory] keeps one in memory; package storagetest holds the conformance suite that
// every implementation passes unchanged. A store that several processes share also
// implements [Leaser], with which they divide the work.
package storage

import (
	"context"
	"iter"
)

// Store keeps entries and notes. This comment is the complete contract: any
// type that fulfils it can replace any other Store, and storagetest.Run checks
// that it does.
//
// # Entries and versions
//
// An entry is found by its ID and has a body, which is opaque to the store, and
// keys, by which [Store.Find] finds it. IDs, indexes, values and names are
// strings of arbitrary bytes, compared bytewise; NUL, invalid UTF-8 and empty
// values are ordinary. Nil and empty bodies are the same. The limits
// are the same for every implementation; an entry that exceeds them, or
// has the same (Index, Value) twice, is refused with an error that wraps
// [ErrInvalid] before anything else is checked.
//
// Every write is compare-and-set. [Store.Update] and [Store.Delete] succeed
// only if the Version that they carry is the stored one; Create and Update
// store the entry at Version+1. So a caller that wins knows the new version
// without reading, and of several callers that start from one version exactly
// one wins. Create usually carries Version 0; an id that is created again after
// a deletion should start at a different version if a caller may still hold the
// deleted entry, because the store does not remember it.
//
// A write changes the body, the version and all keys together or not at all:
// no reader ever sees a body with the keys of another version.
//
// # Unique keys
//
// No two entries ever hold the same Index and Value as a key with Unique set.
// A write that would bring this about fails with a [*KeyTakenError] that names
// the holder. Keys without Unique neither claim a value nor are hindered by a
// claim on it. The check and the write are one step: of several callers that
// claim a free value exactly one wins. Update and Delete free what they drop.
//
// # Durability
//
// A write that returned nil has been forced to stable storage: it survives the
// death of the process and of the machine. A write that returned an error was
// not made and never will be, with one exception: an error that wraps
// [ErrUnknown] says that the store cannot tell (a disk or connection failed
// while it was being made durable, or the context ended at that moment); read
// the entry again. A read returns what the latest acknowledged write stored;
// it may also see a write that is about to be acknowledged.
//
// # Contexts and concurrency
//
// All methods are safe for concurrent use by any number of goroutines, and by
// several processes where an implementation says so. Every method returns
// soon after its context ends, with an error that wraps ctx.Err(). A context
// that has ended before the call means that nothing was done.
//
// The store does not keep or change the slices that it is given, and what it
// returns belongs to the caller.
//
// # Errors
//
// [ErrNotFound], [ErrExists], [ErrConflict], [*KeyTakenError], [ErrInvalid] and
// [ErrUnknown] are part of the contract. A store that can be closed or opened
// for reading only answers with [ErrClosed] and [ErrReadOnly], one that finds
// its data damaged with [ErrCorrupt]. Test with errors.Is and errors.As;
// everything else is a failure of the database.
type Store interface {
	// Get returns the entry, or an error that wraps ErrNotFound. Its Keys are
	// in the order in which they were written.
	Get(ctx context.Context, id string) (Entry, error)

	// Create stores an entry whose ID is not stored yet, at e.Version+1.
	// It fails with ErrExists if the ID is stored, whatever its version, else
	// with a *KeyTakenError if one of its unique keys is held by another entry.
	Create(ctx context.Context, e Entry) error

	// Update replaces body and keys of the stored entry, which is then at
	// e.Version+1. It fails with ErrNotFound if there is none, else with
	// ErrConflict unless e.Version is the stored version, else with a
	// *KeyTakenError if one of its unique keys is held by another entry.
	Update(ctx context.Context, e Entry) error

	// Delete removes an entry and its keys. It fails with ErrNotFound if there
	// is none, else with ErrConflict unless version is the stored version.
	Delete(ctx context.Context, id string, version uint64) error

	// Find yields the entries that hold a key with the query's Index and Value,
	// Unique or not, sorted by the Order of that key and then by ID. The
	// sequence can be ranged over several times; each time it starts over.
	//
	// Entries are read in pages of bounded size, and nothing is held while one
	// is yielded: no lock, no transaction, no connection. The loop's body may
	// take its time and may call any method of the store. Memory does not grow
	// with the number of entries found.
	//
	// Each page is one consistent view, but other pages may be of other
	// moments. An entry that holds its key unchanged from the beginning to the
	// end of the iteration is yielded exactly once, whatever happens to others,
	// even if those just yielded are deleted. One that is created, deleted or
	// changed meanwhile may or may not be yielded, as it was when its page was
	// read; one whose Order moves forward (in the direction of the iteration)
	// may be yielded at both places. Compare-and-set catches what is stale.
	//
	// An entry that is found but cannot be read is yielded as Entry{ID: id}
	// with an error that wraps ErrCorrupt, and the iteration goes on if the
	// loop does. Every other error comes with the zero Entry and is the last
	// thing yielded.
	Find(ctx context.Context, q Query) iter.Seq2[Entry, error]

	// Note returns a small named blob and its version: nil and 0, without an
	// error, if it was never set.
	Note(ctx context.Context, name string) (data []byte, version uint64, err error)

	// SetNote stores a note at version+1. It fails with ErrConflict unless
	// version is the stored one; a note that was never set has version 0.
	SetNote(ctx context.Context, name string, data []byte, version uint64) error
}

// Entry is what a [Store] keeps under an ID.
type Entry struct {
	ID      string // 1 to 256 bytes
	Version uint64 // the stored version; see Store on what a write makes of it
	Body    []byte // at most 8 MiB
	Keys    []Key  // at most 64, each (Index, Value) once
}

// Key makes an entry findable. Order sorts the entries that share Index and
// Value, ascending from the lowest negative number.
type Key struct {
	Index  string // 1 to 64 bytes
	Value  string // at most 512 bytes
	Order  int64
	Unique bool // no other entry may hold this Index and Value with Unique set
}

// Query selects the entries that hold a key with this Index and Value.
type Query struct {
	Index, Value string
	Range        *Range    // nil: whatever the Order
	Descending   bool      // from the highest (Order, ID) to the lowest
	After        *Position // nil: from the start; else only what follows the position in the direction of the query
	Ahead        int       // how many results the caller means to take, so that a store reads as many at once and none beyond; 0: not known; all are yielded whatever it is
}

// Range is an interval of Order. Both ends belong to it; it is empty if Min is
// greater than Max.
type Range struct{ Min, Max int64 }

// Position is a place in the results of a query. An iteration is resumed with
// Query.After, whether or not the entry at the position still exists.
type Position struct {
	Order int64
	ID    string
}

// Position returns the place at which the query yields the entry; false if
// the entry has no key with the query's Index and Value.
func (q Query) Position(e Entry) (Position, bool) {
	for _, k := range e.Keys {
		if k.Index == q.Index && k.Value == q.Value {
			return Position{Order: k.Order, ID: e.ID}, true
		}
	}
	return Position{}, false
}

// Note is a note as a store lists it: the stores of this module have, beside the
// contract, Entries and Notes, which yield all that they keep.
type Note struct {
	Name    string // 1 to 256 bytes
	Version uint64 // the stored version
	Data    []byte // at most 8 MiB
}
