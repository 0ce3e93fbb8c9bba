package read

import (
	"context"
	"errors"
	"math/big"

	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/internal/settle"
	"github.com/swapper-go/swapper/internal/solana/rpc"
	"github.com/swapper-go/swapper/internal/solana/wire"
)

// Paid returns what one node says that a transaction transfers to a wallet, in lamports. It
// takes one round trip.
func Paid(ctx context.Context, node rpc.Node, tx wire.Signature, to wire.Key) (p settle.Payment, err error) {
	at := newState(nil, rpc.Confirmed)
	var seen rpc.Seen
	if err := rpc.AskAll(ctx, node, append(at.requests, rpc.TransactionRequest(tx, rpc.Confirmed, &seen))); err != nil {
		return p, err
	}
	if p.Head, err = at.head(); err != nil {
		return p, err
	}
	p.Amount = new(big.Int)
	if !seen.Known || errors.Is(seen.Err, wire.ErrTxForm) { // a transaction that cannot be read transfers nothing that counts
		return p, nil
	}
	if seen.Err != nil {
		return p, fault.New(fault.Upstream, "transaction %s: %w", tx, seen.Err)
	}
	p.Height = seen.Tx.Slot
	for _, ix := range seen.Tx.Instructions {
		if at, lamports, ok := wire.Transferred(ix); ok && at == to && !seen.Tx.Failed {
			p.Amount.Add(p.Amount, new(big.Int).SetUint64(lamports))
		}
	}
	return p, nil
}
