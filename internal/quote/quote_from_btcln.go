package quote

import (
	"context"
	"encoding/hex"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/internal/async"
	"github.com/swapper-go/swapper/internal/lp"
	"github.com/swapper-go/swapper/internal/lp/discovery"
	"github.com/swapper-go/swapper/internal/lp/verify"
	"github.com/swapper-go/swapper/internal/swap"
	"github.com/swapper-go/swapper/tokens"
)

// fromBTCLN quotes a swap that is paid over Lightning, and whose escrow the user opens
// once the LP holds the payment (protocol: lp-protocol.md §5.6, §6.5).
func (o *order) fromBTCLN(ctx context.Context) (*swap.Record, error) {
	in, err := o.readLightningIn(ctx)
	if err != nil {
		return nil, err
	}
	market, native, rate := o.price(ctx, o.token), o.price(ctx, o.info.Native), o.feeRate(ctx)
	return o.collect(ctx, func(ctx context.Context, c discovery.Candidate, k chains.Contract) (*swap.Record, error) {
		early, node := o.node(ctx)
		funds := async.Start(ctx, func(ctx context.Context) (chains.LPFunds, error) { return k.Liquidity(ctx, c.Address, o.token.Address) })
		got, err := o.LPs.FromBTCLN(ctx, c.LP.URL, lp.FromBTCLNRequest{Chain: o.info.ID, DepositToken: o.info.Native.Address, PaymentHash: hex.EncodeToString(in.hash[:]), Amount: o.Amount,
			Claimer: o.user, Token: c.Token, Description: o.Description, DescriptionHash: in.described, ExactOut: !o.ExactIn, FeeRate: rate}, early)
		if err != nil {
			return nil, err
		}
		want, err := o.receiving(ctx, c, k, market, native)
		if err != nil {
			return nil, err
		}
		has, err := funds.Wait(ctx)
		if err != nil {
			return nil, err
		}
		fees, err := rate.Wait(ctx)
		if err != nil {
			return nil, err
		}
		a, err := verify.FromBTCLN(verify.FromBTCLNExpected{Agreed: want, InvoiceExpected: o.invoiceExpected(in)}, got, has.Balance, node(got.Invoice))
		if err != nil {
			return nil, err
		}
		if err := in.withdrawable(a.Input); err != nil {
			return nil, err
		}
		r, err := o.record(c, k.ClaimHashText(a.Escrow.ClaimHash), a)
		if err != nil {
			return nil, err
		}
		ends, err := a.Invoice.DefinitiveExpiry(true)
		if err != nil {
			return nil, lp.Lie("", "the invoice: %w", err)
		}
		r.Terms.Recipient = o.user
		r.Terms.SwapFee = tokens.NewAmount(a.SwapFeeSats, o.Src)
		r.Escrow = &swap.EscrowPart{Expected: a.Escrow, FeeRate: fees}
		r.Lightning = o.lightningPart(in, got.Invoice, ends)
		return r, nil
	})
}
