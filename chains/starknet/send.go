package starknet

import (
	"context"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/internal/starknet/rpc"
	"github.com/swapper-go/swapper/internal/starknet/wire"
)

// Send takes one round trip, to every node at the same time: the node is asked along the
// way whether it knows the transaction, so that one which was executed already counts as
// sent. A nonce that is neither the one handed out nor follows one that was sent takes
// another one before, which looks for a gap: see [chain.checkNonce]. One that reveals a
// preimage takes another one before, which looks whether it can still be executed: it
// must not become public in vain.
func (c *chain) Send(ctx context.Context, tx chains.Signed) error {
	parsed, err := wire.ParseTransaction(string(tx.Raw))
	if err != nil {
		return fault.New(fault.InvalidState, "%w", err)
	}
	id, err := parsed.Hash()
	if err != nil {
		return fault.New(fault.InvalidState, "%w", err)
	}
	if tx.Reveals {
		if done, err := c.beforeReveal(ctx, id, parsed); done || err != nil {
			return err
		}
	}
	if err := c.checkNonce(ctx, tx.ID, parsed); err != nil {
		return err
	}
	if err := c.ledger.Send(ctx, parsed); err != nil {
		return err
	}
	c.noteSent(parsed)
	return nil
}

// beforeReveal judges a transaction that shows a preimage and was not sent yet. done means
// that it need not be.
func (c *chain) beforeReveal(ctx context.Context, id wire.Felt, tx *wire.Transaction) (done bool, err error) {
	var progress rpc.Progress
	s := sender{at: tx.Sender}
	requests := append(s.requests(), rpc.ProgressRequest(id, &progress))
	if err := c.nodes.Batch(ctx, requests); err != nil {
		return false, err
	}
	if requests[senderRequests].Err == nil && progress == rpc.Executed {
		c.noteSent(tx)
		return true, nil
	}
	if err := s.read(requests); err != nil {
		return false, err
	}
	if tx.Nonce < s.mined {
		return false, fault.New(fault.InvalidState, "the account's nonce %d was used by another transaction: the next one is %d", tx.Nonce, s.mined)
	}
	return false, nil
}
