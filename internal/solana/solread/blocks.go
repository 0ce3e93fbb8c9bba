package solread

import (
	"context"

	"github.com/swapper-go/swapper/internal/solana/solrpc"
)

// Block returns the block of a slot. It takes one round trip, none for one that was
// read before. A slot that has no block, or none that a node still has, is an error
// that [solrpc.IsSkipped] knows.
func (l *Ledger) Block(ctx context.Context, slot uint64) (solrpc.Block, error) {
	if b, ok := l.blocks.Get(slot); ok {
		return b, nil
	}
	var b solrpc.Block
	if err := solrpc.AskAll(ctx, l.Node, []solrpc.Request{solrpc.BlockRequest(slot, solrpc.Confirmed, &b)}); err != nil {
		return solrpc.Block{}, err
	}
	l.blocks.Add(slot, b)
	return b, nil
}
