package swapper

import (
	"context"
	"github.com/swapper-go/swapper/chains/lightning"
	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/lnurl"
	"github.com/swapper-go/swapper/swap"
	"time"
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
	ids, err := c.engine.Submit(ctx, c.reader, in.SwapID, in.SignedTxs)
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
	r, err := c.engine.Load(ctx, in.SwapID)
	if err != nil {
		return nil, err
	}
	if r.Type != swap.FromBTCLNAuto && r.Type != swap.FromBTCLN {
		return nil, fault.New(fault.Unsupported, "swaps of type %s are not paid over Lightning", r.Type)
	}
	if r.State != 0 {
		return nil, fault.New(fault.InvalidState, "the swap is not awaiting payment")
	}
	use, err := c.withdrawal(ctx, r, in.LnurlWithdraw)
	if err != nil {
		return nil, err
	}
	res, err := c.engine.Advance(ctx, r.ID, use)
	if err != nil {
		// The payment may have come while this call was on its way.
		if now, e := c.engine.Load(ctx, r.ID); e == nil && fault.CodeOf(err) == fault.InvalidState && now.State > 0 {
			return &SettleWithLnurlOutput{PaymentHash: now.Lightning.Hash}, nil
		}
		return nil, err
	}
	for {
		switch state := res.Record.State; {
		case state > 0:
			return &SettleWithLnurlOutput{PaymentHash: res.Record.Lightning.Hash}, nil
		case state < 0:
			return nil, fault.New(fault.InvalidState, "the invoice expired before it was paid; create a new swap")
		}
		if try := res.Record.Tried[string(swap.CallWithdraw)]; try.Outcome == swap.Refused {
			return nil, fault.New(fault.Upstream, "the LNURL service refused to pay: %s", try.Reason)
		}
		select {
		case <-ctx.Done():
			return nil, fault.New(fault.Timeout, "the payment has not arrived yet; check the swap's status: %w", context.Cause(ctx))
		case <-time.After(settlePoll):
		}
		if res, err = c.engine.Advance(ctx, r.ID, nil); err != nil {
			return nil, err
		}
	}
}

// withdrawal resolves the link that a payment is to come from.
func (c *Client) withdrawal(ctx context.Context, r *swap.Record, link string) (swap.UseWithdraw, error) {
	switch have := r.Lightning.Withdraw != nil; {
	case have && link != "":
		return swap.UseWithdraw{}, fault.Invalid("lnurlWithdraw", "must be empty: the swap already has an LNURL-withdraw link")
	case have:
		return swap.UseWithdraw{}, nil
	case link == "":
		return swap.UseWithdraw{}, fault.Invalid("lnurlWithdraw", "is required: the swap was created without an LNURL-withdraw link")
	}
	d, err := c.lnurl.Resolve(ctx, link)
	if err != nil {
		return swap.UseWithdraw{}, fault.At("lnurlWithdraw", err)
	}
	w, ok := d.(*lnurl.Withdraw)
	if !ok {
		return swap.UseWithdraw{}, fault.Invalid("lnurlWithdraw", "is not an LNURL-withdraw link")
	}
	invoice, err := lightning.Decode(r.Lightning.Invoice)
	if err != nil {
		return swap.UseWithdraw{}, err
	}
	if msat := invoice.AmountMsat; msat == nil || *msat < w.Params.MinWithdrawable || *msat > w.Params.MaxWithdrawable {
		return swap.UseWithdraw{}, fault.Invalid("lnurlWithdraw", "pays out between %d and %d msat, which does not include the invoice's amount", w.Params.MinWithdrawable, w.Params.MaxWithdrawable)
	}
	return swap.UseWithdraw{Link: w.Params.URL, With: &swap.Withdraw{Params: w.Params}}, nil
}

// settlePoll is how often the LP is asked while a payment is awaited (protocol:
// swap-flows-escrow.md §11).
const settlePoll = 2 * time.Second
