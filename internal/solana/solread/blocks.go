package solread

import (
	"context"

	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/internal/solana/solrpc"
	"github.com/swapper-go/swapper/internal/solana/wire"
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
	l.note(slot, b)
	return b, nil
}

// note remembers a block, and how long its hash counts.
func (l *Ledger) note(slot uint64, b solrpc.Block) {
	l.blocks.Add(slot, b)
	l.lastValid.Add(b.Hash, *b.Height+wire.TxSlots)
}

// LatestBlockhash returns the hash that new transactions carry, in one round trip.
func (l *Ledger) LatestBlockhash(ctx context.Context) (solrpc.LatestBlockhash, error) {
	var latest solrpc.LatestBlockhash
	if err := solrpc.AskAll(ctx, l.Node, []solrpc.Request{solrpc.LatestBlockhashRequest(solrpc.Confirmed, &latest)}); err != nil {
		return solrpc.LatestBlockhash{}, err
	}
	l.lastValid.Add(latest.Hash, latest.LastValid)
	return latest, nil
}

// blockTries is how many slots are tried for the newest one with a block.
const blockTries = 16

// LatestBlock returns the newest finalized block and its slot: the one that LPs sign
// with (protocol: chain-solana.md §3). It takes two round trips, more where slots have
// no block: those are asked for four at a time.
func (l *Ledger) LatestBlock(ctx context.Context) (slot uint64, b solrpc.Block, err error) {
	if err := solrpc.AskAll(ctx, l.Node, []solrpc.Request{solrpc.SlotRequest(solrpc.Finalized, &slot)}); err != nil {
		return 0, b, err
	}
	const together = 4
	for tried := uint64(0); tried < blockTries && tried < slot; tried += together {
		var blocks [together]solrpc.Block
		var requests []solrpc.Request
		for i := range blocks {
			requests = append(requests, solrpc.BlockRequest(slot-min(slot, tried+uint64(i)), solrpc.Finalized, &blocks[i]))
		}
		if err := l.Node.Batch(ctx, requests); err != nil {
			return 0, b, err
		}
		for i, r := range requests {
			switch {
			case r.Err == nil:
				return slot - tried - uint64(i), blocks[i], nil
			case !solrpc.IsSkipped(r.Err):
				return 0, b, r.Err
			}
		}
	}
	return 0, b, fault.New(fault.Upstream, "none of the %d slots up to %d has a block", blockTries, slot)
}
