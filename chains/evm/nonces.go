package evm

import (
	"context"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/crypto"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/internal/bigs"
	"github.com/swapper-go/swapper/internal/evm/rpc"
	"github.com/swapper-go/swapper/internal/evm/wire"
	"github.com/swapper-go/swapper/internal/settle"
)

// sentTxs are what was sent for accounts, which a node may not have heard of (protocol:
// chain-evm.md §7.2, §13.15).
type sentTxs = settle.SentTxs[*wire.Transaction]

// deed names what a call does: its destination and the part of its data that
// says which method is called for which escrow. A proof behind it does not count.
func deed(to common.Address, data []byte) settle.Deed {
	const escrowCall = 4 + 13*32
	return settle.Deed(crypto.Keccak256Hash(to[:], data[:min(len(data), escrowCall)]))
}

// firstNonce returns the nonce of the first of the calls that a swap asks for, and
// remembers them: see [settle.NonceBook.First]. pending and mined are the node's counts.
func (c *chain) firstNonce(sender, swap string, calls []wire.Call, pending, mined uint64) uint64 {
	deeds := make([]settle.Deed, len(calls))
	for i, call := range calls {
		deeds[i] = deed(call.To, call.Data)
	}
	first := c.nonces.First(sender, swap, deeds, mined, pending, c.env.Now())
	c.nonces.Give(sender, swap, deeds, first)
	return first
}

// noteSent remembers a transaction, for nodes that have not heard of it.
func (c *chain) noteSent(tx chains.Signed) {
	var what *settle.Deed
	if p, err := wire.ParseTransaction(hexutil.Encode(tx.Raw)); err == nil && p.To != nil {
		d := deed(*p.To, p.Data)
		what = &d
		c.nonces.NoteOffer(tx.From, tx.Nonce, &wire.Transaction{Nonce: p.Nonce, FeeCap: bigs.OrZero(p.FeeCap), TipCap: bigs.OrZero(p.TipCap)})
	}
	c.nonces.Sent(tx.From, tx.Nonce, what, c.env.Now())
}

// checkNonce refuses a transaction that comes before others that are missing: see
// [settle.NonceBook.Gap]. The node is asked unless it is known that nothing is missing.
func (c *chain) checkNonce(ctx context.Context, tx chains.Signed) error {
	if c.nonces.Follows(tx.From, tx.Nonce, c.env.Now()) {
		return nil
	}
	var pending hexutil.Uint64
	if err := rpc.AskAll(ctx, c.node, []rpc.Request{{Method: "eth_getTransactionCount", Params: []any{tx.From, "pending"}, Result: &pending}}); err != nil {
		return err
	}
	if tx.Nonce > uint64(pending) {
		return c.nonces.Gap(tx.ID, tx.Nonce, uint64(pending), c.env.Now())
	}
	c.nonces.Reached(tx.From, tx.Nonce)
	return nil
}
