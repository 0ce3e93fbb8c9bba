package read

import (
	"context"

	"github.com/swapper-go/swapper/internal/solana/rpc"
	"github.com/swapper-go/swapper/internal/solana/wire"
)

// Happened returns all that happened to escrows of a payment hash, newest first, whoever
// opened them and on whatever terms: money that is paid in for a hash whose secret is
// known is lost (protocol: chain-solana.md §17). It takes one round trip if there never
// was one, else those of reading the history of its address.
func (r *Reader) Happened(ctx context.Context, paymentHash [32]byte) ([]wire.Occurrence, error) {
	h := history{of: r.escrowAddress(paymentHash), began: r.ledger.Now()}
	var requests []rpc.Request
	listed := h.list(r.ledger.pageSize, &requests)
	if err := rpc.AskAll(ctx, r.ledger.Node, requests); err != nil {
		return nil, err
	}
	listed.take(requests)
	fetched := map[txKey][]wire.Occurrence{}
	for round := 0; ; round++ {
		h.advance(r, fetched)
		switch {
		case h.complete():
			return h.events, nil
		case h.err != nil:
			return nil, h.err
		}
		if err := r.fetch(ctx, []*history{&h}, round, fetched); err != nil {
			return nil, err
		}
	}
}
