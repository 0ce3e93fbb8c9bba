package swapper

import "context"

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
	ids, err := c.engine.Submit(ctx, handedIn{c.reader, owns(ctx, in.SwapKey)}, in.SwapID, in.SignedTxs)
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
	hash, err := c.engine.Settle(ctx, c.lnurl, in.SwapID, in.LnurlWithdraw, owns(ctx, in.SwapKey))
	if err != nil {
		return nil, err
	}
	return &SettleWithLnurlOutput{PaymentHash: hash}, nil
}
