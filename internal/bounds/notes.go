package bounds

import "context"

// Store is what keeps notes.
type Store interface {
	Note(ctx context.Context, name string) (value []byte, version uint64, err error)
	SetNote(ctx context.Context, name string, value []byte, version uint64) error
}

// Notes are those of a store whose names begin with a prefix: those of one chain, or of what is
// known of liquidity providers. Nothing else of the store can be reached through them.
type Notes struct {
	store  Store
	prefix string
}

// NotesOf returns the notes of a store that begin with a prefix.
func NotesOf(store Store, prefix string) Notes { return Notes{store, prefix} }

// Note returns a note.
func (n Notes) Note(ctx context.Context, name string) ([]byte, uint64, error) {
	return n.store.Note(ctx, n.prefix+name)
}

// SetNote stores a note.
func (n Notes) SetNote(ctx context.Context, name string, value []byte, version uint64) error {
	return n.store.SetNote(ctx, n.prefix+name, value, version)
}
