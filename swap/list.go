package swap

import (
	"context"
	"errors"
	"fmt"
	"iter"

	"github.com/swapper-go/swapper/storage"
)

// ErrUnreadable marks a stored record that cannot be read. It is never written.
var ErrUnreadable = errors.New("record cannot be read")

// List yields the swaps of a signer on a chain, newest first: all, or those that
// are pending. It asks nobody. A record that cannot be read is yielded as an
// error that wraps [ErrUnreadable] and names it, and the list goes on; any other
// error ends it.
func (g *Engine) List(ctx context.Context, chain, signer string, pending bool) iter.Seq2[*Record, error] {
	index := bySigner
	if pending {
		index = byPending
	}
	return func(yield func(*Record, error) bool) {
		for e, err := range g.store.Find(ctx, storage.Query{Index: index, Value: signerValue(chain, signer), Descending: true}) {
			var r *Record
			switch {
			case err != nil && e.ID == "":
				yield(nil, err)
				return
			case err == nil:
				r, err = decode(e.ID, e.Version, e.Body)
			}
			if err != nil {
				err = fmt.Errorf("%s: %w: %w", e.ID, ErrUnreadable, err)
			}
			if !yield(r, err) {
				return
			}
		}
	}
}
