package read

import (
	"context"

	"github.com/swapper-go/swapper/internal/solana/rpc"
)

// Block returns the block of a slot. It takes one round trip, none for one that was
// read before. A slot that has no block, or none that a node still has, is an error
// that [solrpc.IsSkipped] knows.
func (l *Ledger) Block(ctx context.Context, slot uint64) (rpc.Block, error) {
	if b, ok := l.blocks.Get(slot); ok {
		return b, nil
	}
	var b rpc.Block
	if err := rpc.AskAll(ctx, l.Node, []rpc.Request{rpc.BlockRequest(slot, rpc.Confirmed, &b)}); err != nil {
		return rpc.Block{}, err
	}
	l.blocks.Add(slot, b)
	return b, nil
}
