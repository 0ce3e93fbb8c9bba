package engine

import (
	"context"

	"github.com/swapper-go/swapper/internal/swap"
	"github.com/swapper-go/swapper/storage"
)

// Rival answers whether another swap holds a key: a fact of the store, which a
// flow asks for like one of the reader.
func (g *Engine) Rival(ctx context.Context, id string, q swap.RivalAsk) (bool, error) {
	for e, err := range g.Store.Find(ctx, storage.Query{Index: q.Index, Value: q.Value}) {
		if err != nil {
			return false, err
		}
		if e.ID != id {
			return true, nil
		}
	}
	return false, nil
}
