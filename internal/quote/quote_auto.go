package quote

import (
	"context"
	"encoding/hex"
	"math/big"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/internal/async"
	"github.com/swapper-go/swapper/internal/bigs"
	"github.com/swapper-go/swapper/internal/lp"
	"github.com/swapper-go/swapper/internal/lp/discovery"
	"github.com/swapper-go/swapper/internal/lp/verify"
	"github.com/swapper-go/swapper/internal/swap"
)

func (o *order) fromBTCLNAuto(ctx context.Context) (*swap.Record, error) {
	in, err := o.readLightningIn(ctx)
	if err != nil {
		return nil, err
	}
	market, native := o.price(ctx, o.token), o.price(ctx, o.info.Native)
	heads := async.Start(ctx, o.chain.Heads)
	bounties := perVersion(ctx, o, func(ctx context.Context, k chains.Contract) (*big.Int, error) {
		return autoBounty(ctx, k, o.token.Address)
	})
	return o.collect(ctx, func(ctx context.Context, c discovery.Candidate, k chains.Contract) (*swap.Record, error) {
		promised := bounties(k)
		early, node := o.node(ctx)
		funds := async.Start(ctx, func(ctx context.Context) (chains.LPFunds, error) { return k.Liquidity(ctx, c.Address, o.token.Address) })
		got, err := o.LPs.FromBTCLNAuto(ctx, c.LP.URL, lp.FromBTCLNAutoRequest{Chain: o.info.ID, PaymentHash: hex.EncodeToString(in.hash[:]), Amount: o.Amount, Claimer: o.user,
			Token: c.Token, Description: o.Description, DescriptionHash: in.described, ExactOut: !o.ExactIn, GasToken: o.info.Native.Address, GasAmount: o.GasAmount, ClaimerBounty: promised}, early)
		if err != nil {
			return nil, err
		}
		bounty, err := promised.Wait(ctx)
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
		a, err := verify.FromBTCLNAuto(verify.FromBTCLNAutoExpected{Agreed: want,
			InvoiceExpected: o.invoiceExpected(in),
			GasAmount:       o.GasAmount, Bounty: bounty}, got, has.Balance, node(got.Invoice))
		if err != nil {
			return nil, err
		}
		if err := in.withdrawable(a.Input); err != nil {
			return nil, err
		}
		final, err := heads.Wait(ctx)
		if err != nil {
			return nil, err
		}
		return o.autoRecord(c, k, a, got, in, final.Final.Height)
	})
}

// perVersion computes something once for each contract version among the
// candidates, when it is first needed.
func perVersion[T any](ctx context.Context, o *order, compute func(context.Context, chains.Contract) (T, error)) func(chains.Contract) *async.Future[T] {
	all := map[string]*async.Future[T]{}
	for _, v := range o.info.Versions {
		if k, ok := o.chain.Contract(v.Name); ok {
			all[v.Name] = async.Start(ctx, func(ctx context.Context) (T, error) { return compute(ctx, k) })
		}
	}
	return func(k chains.Contract) *async.Future[T] { return all[k.Version()] }
}

func (o *order) autoRecord(c discovery.Candidate, k chains.Contract, a verify.Accepted, got lp.FromBTCLNAutoQuote, in *lightningIn, from uint64) (*swap.Record, error) {
	r, err := o.record(c, k.ClaimHashText(a.Escrow.ClaimHash), a)
	if err != nil {
		return nil, err
	}
	ends, err := a.Invoice.DefinitiveExpiry(false)
	if err != nil {
		return nil, lp.Lie("", "the invoice: %w", err)
	}
	r.From = from
	r.Escrow = &swap.EscrowPart{Expected: a.Escrow}
	r.Lightning = o.lightningPart(in, got.Invoice, ends)
	o.receivedFees(r, got.SwapFeeBTC, got.GasSwapFeeBTC, WatchtowerSats(new(big.Int).Sub(got.BTCAmountGas, got.GasSwapFeeBTC), a.Escrow), o.GasAmount)
	return r, nil
}

// WatchtowerSats is the part of the sats paid for gas and bounty that is the
// bounty's (protocol: swap-flows-escrow.md §8.8).
func WatchtowerSats(gasSats *big.Int, e *chains.Escrow) *big.Int {
	deposit, bounty := bigs.OrZero(e.SecurityDeposit), bigs.OrZero(e.ClaimerBounty)
	whole := deposit
	if bounty.Cmp(whole) > 0 {
		whole = bounty
	}
	if whole.Sign() == 0 {
		return new(big.Int)
	}
	return bigs.MulDiv(gasSats, bounty, whole)
}
