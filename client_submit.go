package swapper

import (
	"context"

	"github.com/swapper-go/swapper/internal/engine"
	"github.com/swapper-go/swapper/swap"
)

// SubmitTransaction implements [Service].
func (c *Client) SubmitTransaction(ctx context.Context, in SubmitTransactionInput) (_ *SubmitTransactionOutput, err error) {
	ctx, end, err := c.life.begin(ctx)
	if err != nil {
		return nil, err
	}
	defer end(&err)
	if err := in.Validate(); err != nil {
		return nil, err
	}
	ids, err := c.engine.Submit(ctx, handedIn{c.reader, c.owned}, in.SwapID, in.SignedTxs)
	if err != nil {
		return nil, err
	}
	return &SubmitTransactionOutput{TxHashes: ids}, nil
}

// SettleWithLnurl implements [Service]. The invoice is sent to the service
// once. If the service's response is lost, the LP is asked whether the payment
// arrived; only another call sends the invoice again.
func (c *Client) SettleWithLnurl(ctx context.Context, in SettleWithLnurlInput) (_ *SettleWithLnurlOutput, err error) {
	ctx, end, err := c.life.begin(ctx)
	if err != nil {
		return nil, err
	}
	defer end(&err)
	if err := in.Validate(); err != nil {
		return nil, err
	}
	hash, err := c.engine.Settle(ctx, c.lnurl, in.SwapID, in.LnurlWithdraw, c.owned)
	if err != nil {
		return nil, err
	}
	return &SettleWithLnurlOutput{PaymentHash: hash}, nil
}

// handedIn notes of what is submitted whether it comes from the swap's owner.
type handedIn struct {
	engine.Checker
	owned func(*swap.Record) bool
}

// Check implements [engine.Checker].
func (h handedIn) Check(ctx context.Context, r *swap.Record, a swap.Action, signed []string) (swap.Submit, error) {
	in, err := h.Checker.Check(ctx, r, a, signed)
	in.ByOwner = h.owned(r)
	return in, err
}

// owned reports whether a call comes from a swap's owner or from the service itself.
func (c *Client) owned(*swap.Record) bool { return true }
