package swapper

import (
	"context"
	"time"

	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/internal/address"
	"github.com/swapper-go/swapper/internal/quote"
)

// CreateSwap implements [Service]: it asks every liquidity provider that offers
// the pair, refuses answers that do not verify, and stores the best of the rest
// before it returns it.
func (c *Client) CreateSwap(ctx context.Context, in CreateSwapInput) (_ *CreateSwapOutput, err error) {
	ctx, end, err := c.life.begin(ctx)
	if err != nil {
		return nil, err
	}
	defer end(&err)
	if err := in.Validate(); err != nil {
		return nil, err
	}
	q, err := c.readRequest(in)
	if err != nil {
		return nil, err
	}
	q.Caller, q.Owner = CallerOf(ctx), newOwner(ctx)
	if err := c.loaded(ctx); err != nil {
		return nil, err
	}
	m, err := c.quoter.Create(ctx, q)
	if err != nil {
		return nil, err
	}
	return c.created(ctx, m), nil
}

// created is a new swap, or one that was created by the same request before: then its key
// is for its owner alone, who may not be the one who repeats the request.
func (c *Client) created(ctx context.Context, m *quote.Made) *CreateSwapOutput {
	owned := !m.Repeated || owns(ctx, "")(m.Record)
	out := &CreateSwapOutput{SwapOutputBase: c.base(m.Record, c.engine.StoredView(m.Record), owned)}
	if owned {
		out.SwapKey = Secret(m.SwapKey)
	}
	return out
}

// readRequest resolves the tokens of a request and strips its addresses of
// schemes (protocol: utilities.md §1).
func (c *Client) readRequest(in CreateSwapInput) (quote.Request, error) {
	q := quote.Request{
		Amount: in.Amount, ExactIn: in.AmountType == ExactIn,
		SrcAddress: address.Strip(in.SrcAddress), DstAddress: address.Strip(in.DstAddress),
		GasAmount: in.GasAmount, PaymentHash: in.PaymentHash,
		Description: in.LightningInvoiceDescription, DescriptionHash: in.LightningInvoiceDescriptionHash,
		HTLCTimeout: orZero(in.LightningPaymentHTLCTimeout), MaxHTLCTimeout: orZero(in.LightningPaymentMaxHTLCTimeout),
		Key: in.IdempotencyKey,
	}
	var err error
	if q.Src, err = c.registry.Resolve(in.SrcToken); err != nil {
		return q, fault.At("srcToken", err)
	}
	if q.Dst, err = c.registry.Resolve(in.DstToken); err != nil {
		return q, fault.At("dstToken", err)
	}
	return q, nil
}

func orZero(d *time.Duration) time.Duration {
	if d == nil {
		return 0
	}
	return *d
}
