package starknet

import (
	"context"
	"crypto/sha256"

	"github.com/swapper-go/swapper/internal/settle"
	"github.com/swapper-go/swapper/internal/starknet/wire"
)

// sentTxs are what was sent for accounts, which the nodes' states do not tell while it waits
// in pools (protocol: chain-starknet.md §10.2): of a transaction nonce, bounds and tip.
type sentTxs = settle.SentTxs[*wire.Transaction]

// deedOf names what a transaction does: the entry point of its last call, and the part of
// its calldata that says for which escrow. A proof behind it does not count, nor do
// approvals before it. A transaction without calls is a deployment.
func deedOf(calls []wire.Call) settle.Deed {
	if len(calls) == 0 {
		return settle.Deed{}
	}
	const escrowFelts = 16
	last := calls[len(calls)-1]
	selector := last.Selector
	if last.Entry != "" {
		selector = wire.Selector(last.Entry)
	}
	h := sha256.New()
	for _, f := range append([]wire.Felt{last.To, selector}, last.Calldata[:min(len(last.Calldata), escrowFelts)]...) {
		b := f.Bytes()
		h.Write(b[:])
	}
	return settle.Deed(h.Sum(nil))
}

// noteSent remembers a transaction, for nodes that have not heard of it.
func (c *chain) noteSent(tx *wire.Transaction) {
	var what *settle.Deed
	if calls, err := wire.ParseExecuteCalldata(tx.Calldata); err == nil || tx.Type == wire.DeployAccount {
		d := deedOf(calls)
		what = &d
	}
	c.sent.NoteOffer(wire.Hex64(tx.Sender), tx.Nonce, &wire.Transaction{Details: wire.Details{Nonce: tx.Nonce, Bounds: tx.Bounds, Tip: tx.Tip}})
	c.sent.Sent(wire.Hex64(tx.Sender), tx.Nonce, what, c.env.Now())
}

// checkNonce refuses a transaction that comes before others that are missing: see
// [settle.NonceBook.Gap]. The node is asked unless it is known that nothing is missing.
func (c *chain) checkNonce(ctx context.Context, id string, tx *wire.Transaction) error {
	sender := wire.Hex64(tx.Sender)
	if c.sent.Follows(sender, tx.Nonce, c.env.Now()) {
		return nil
	}
	at, err := c.ledger.Account(ctx, tx.Sender)
	if err != nil {
		return err
	}
	if pending := uint64(at.Next); tx.Nonce > pending {
		return c.sent.Gap(id, tx.Nonce, pending, c.env.Now())
	}
	c.sent.Reached(sender, tx.Nonce)
	return nil
}
