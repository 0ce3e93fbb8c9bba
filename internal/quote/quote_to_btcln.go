package quote

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"math/big"
	"time"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/internal/async"
	"github.com/swapper-go/swapper/internal/lightning"
	"github.com/swapper-go/swapper/internal/lnurl"
	"github.com/swapper-go/swapper/internal/lp"
	"github.com/swapper-go/swapper/internal/lp/discovery"
	"github.com/swapper-go/swapper/internal/lp/verify"
	"github.com/swapper-go/swapper/internal/swap"
)

// payee is who a Lightning payout goes to.
type payee struct {
	text    string // the invoice
	invoice *lightning.Invoice
	link    *lnurl.Pay
	action  json.RawMessage // what the service says after the payment
}

func (o *order) toBTCLN(ctx context.Context) (*swap.Record, error) {
	if o.invoice != nil {
		return o.payInvoice(ctx, payee{text: o.DstAddress, invoice: o.invoice})
	}
	d, err := o.LNURL.Resolve(ctx, o.DstAddress)
	if err != nil {
		return nil, fault.At("dstAddress", err)
	}
	link, ok := d.(*lnurl.Pay)
	if !ok {
		return nil, fault.Invalid("dstAddress", "is an LNURL-withdraw link; an LNURL-pay link is required")
	}
	if o.ExactIn {
		return o.toLinkExactIn(ctx, link)
	}
	low, high := link.Sats()
	if o.Amount.Cmp(sats(low)) < 0 || o.Amount.Cmp(sats(high)) > 0 {
		return nil, fault.OutOfBounds("amount", o.Amount, sats(low), sats(high))
	}
	to, err := o.invoiceOf(ctx, link, o.Amount.Int64())
	if err != nil {
		return nil, err
	}
	return o.payInvoice(ctx, to)
}

func (o *order) invoiceOf(ctx context.Context, link *lnurl.Pay, amountSats int64) (payee, error) {
	p, err := o.LNURL.RequestInvoice(ctx, link.Params, amountSats, "")
	if err != nil {
		return payee{}, fault.At("dstAddress", err)
	}
	to := payee{text: p.PR, invoice: p.Invoice, link: link}
	if p.SuccessAction != nil {
		if to.action, err = json.Marshal(p.SuccessAction); err != nil {
			return payee{}, err
		}
	}
	return to, nil
}

// htlc returns when the escrow is to end, in Unix seconds, and whether that is
// later than usual.
func (o *order) htlc(inv *lightning.Invoice) (expiry int64, long bool, err error) {
	wait, long, err := lightning.HTLCWait(o.HTLCTimeout, o.MaxHTLCTimeout, inv.MinFinalCLTV)
	o.lasts = wait
	return o.now.Unix() + wait, long, err
}

// Time that LPs need to pay an invoice: a block may take half as long again as it
// should, they want an hour of grace, and the way to the recipient takes blocks of
// its own (protocol: lp-protocol.md §8.4).
const (
	lpBlockTime = 900 * time.Second
	lpGrace     = time.Hour
	routeBlocks = 144
)

// tight returns err as the caller's error if an LP found no route within the time that
// the caller allows, because the invoice itself needs most of it.
func (o *order) tight(err error, inv *lightning.Invoice, expiry int64) error {
	r, refused := errors.AsType[*lp.RequestError](err)
	left := time.Duration(expiry-o.now.Unix()) * time.Second
	if !refused || r.Code != lp.CodeNoRoute || left >= lpGrace+time.Duration(min(inv.MinFinalCLTV, 1<<20)+routeBlocks)*lpBlockTime {
		return err
	}
	field := "lightningPaymentHTLCTimeout"
	if o.MaxHTLCTimeout != 0 || o.HTLCTimeout == 0 {
		field = "lightningPaymentMaxHTLCTimeout"
	}
	return fault.Invalid(field, "is too short: the invoice alone requires %d blocks (%w)", inv.MinFinalCLTV, err)
}

// unpaid refuses an invoice that another swap is paying, or has paid.
func (o *order) unpaid(ctx context.Context, inv *lightning.Invoice) error {
	paid, err := o.Engine.Rival(ctx, "", swap.RivalAsk{Index: swap.ByPaying, Value: hex.EncodeToString(inv.PaymentHash[:])})
	if err == nil && paid {
		err = swap.ErrPaidElsewhere
	}
	return err
}

func (o *order) payInvoice(ctx context.Context, to payee) (*swap.Record, error) {
	if err := o.unpaid(ctx, to.invoice); err != nil {
		return nil, err
	}
	expiry, long, err := o.htlc(to.invoice)
	if err != nil {
		return nil, err
	}
	amount, _ := to.invoice.AmountSats()
	routing := sats(lightning.MaxRoutingFee(amount, lightning.RoutingFeeBaseSats, lightning.RoutingFeePPM))
	market, rate := o.price(ctx, o.token), o.feeRate(ctx)
	return o.collect(ctx, func(ctx context.Context, c discovery.Candidate, k chains.Contract) (*swap.Record, error) {
		got, err := o.LPs.ToBTCLN(ctx, c.LP.URL, lp.ToBTCLNRequest{Chain: o.info.ID, Invoice: to.text, MaxFee: routing, Expiry: expiry, Token: c.Token, Offerer: o.user, FeeRate: rate}, lp.Early{})
		if err != nil {
			return nil, o.tight(err, to.invoice, expiry)
		}
		p, err := market.Wait(ctx)
		if err != nil {
			return nil, err
		}
		return o.acceptToBTCLN(ctx, c, k, to, got, rate, long, verify.ToBTCLNExpected{Agreed: o.agreed(c, k, p, nil), Invoice: to.invoice, Expiry: expiry, MaxRoutingSats: routing})
	})
}

// toLinkExactIn pays a link with whatever an amount of tokens buys. A first
// invoice lets the LP estimate the route, the real one is for what the LP then
// says; both must be for the same recipient (protocol: swap-flows-escrow.md §5.3).
func (o *order) toLinkExactIn(ctx context.Context, link *lnurl.Pay) (*swap.Record, error) {
	low, high := link.Sats()
	probe, err := o.invoiceOf(ctx, link, low)
	if err != nil {
		return nil, err
	}
	expiry, long, err := o.htlc(probe.invoice)
	if err != nil {
		return nil, err
	}
	market, rate := o.price(ctx, o.token), o.feeRate(ctx)
	return o.collect(ctx, func(ctx context.Context, c discovery.Candidate, k chains.Contract) (*swap.Record, error) {
		p, err := market.Wait(ctx)
		if err != nil {
			return nil, err
		}
		routing, err := verify.MaxRoutingUnits(o.Amount, lightning.RoutingFeeBaseSats, lightning.RoutingFeePPM, p, o.token.Decimals)
		if err != nil {
			return nil, err
		}
		worth, err := verify.ToBitcoin(o.Amount, p, o.token.Decimals)
		if err != nil {
			return nil, err
		}
		cap, err := o.Policy.RoutingSats(routing, p, o.token.Decimals)
		if err != nil {
			return nil, err
		}
		least := new(big.Int).Add(cap, big.NewInt(c.Service.BaseFee+3)) // and what rounding takes
		if worth.Cmp(least) <= 0 {
			return nil, fault.Invalid("amount", "is worth %s sats, which does not cover the fee and the routing cost", worth)
		}
		prepared, err := o.LPs.PrepareToBTCLN(ctx, c.LP.URL, lp.PrepareToBTCLNRequest{Chain: o.info.ID, Invoice: probe.text, Amount: o.Amount, MaxFee: routing, Expiry: expiry, Token: c.Token, Offerer: o.user}, lp.Early{})
		if err != nil {
			return nil, o.tight(err, probe.invoice, expiry)
		}
		if err := verify.PreparedToBTCLN(prepared); err != nil {
			return nil, err
		}
		if prepared.Amount.Cmp(sats(low)) < 0 || prepared.Amount.Cmp(sats(high)) > 0 {
			return nil, fault.Invalid("amount", "buys %s sats, but the LNURL-pay link accepts between %d and %d sats", prepared.Amount, low, high)
		}
		to, err := o.invoiceOf(ctx, link, prepared.Amount.Int64())
		if err != nil {
			return nil, err
		}
		if to.invoice.MinFinalCLTV != probe.invoice.MinFinalCLTV || to.invoice.Payee != probe.invoice.Payee {
			return nil, fault.New(fault.Upstream, "the LNURL service returned invoices from two different nodes")
		}
		if err := o.unpaid(ctx, to.invoice); err != nil {
			return nil, err
		}
		got, err := o.LPs.ToBTCLNExactIn(ctx, c.LP.URL, lp.ToBTCLNExactInRequest{Invoice: to.text, ReqID: prepared.ReqID, FeeRate: rate}, lp.Early{})
		if err != nil {
			return nil, err
		}
		return o.acceptToBTCLN(ctx, c, k, to, got, rate, long, verify.ToBTCLNExpected{Agreed: o.agreed(c, k, p, nil), Invoice: to.invoice, Expiry: expiry,
			MaxRoutingSats: cap, MaxRoutingUnits: routing, PreparedSats: prepared.Amount})
	})
}

func (o *order) acceptToBTCLN(ctx context.Context, c discovery.Candidate, k chains.Contract, to payee, got lp.ToBTCLNQuote, rate *async.Future[string], long bool, want verify.ToBTCLNExpected) (*swap.Record, error) {
	auth, fees, err := o.authorized(ctx, k, got.Escrow, got.Auth, rate)
	if err != nil {
		return nil, err
	}
	a, err := verify.ToBTCLN(want, got, auth)
	if err != nil {
		return nil, err
	}
	r, err := o.escrowRecord(c, k, a, fees)
	if err != nil {
		return nil, err
	}
	r.Lightning = &swap.LightningPart{Invoice: to.text, Hash: hex.EncodeToString(to.invoice.PaymentHash[:]), SuccessAction: to.action,
		NonCustodial: to.invoice.IsNonCustodial(), LikelyFails: to.invoice.WillLikelyFail(a.Confidence)}
	if to.link != nil {
		r.Lightning.Link = to.link.Params.URL
	}
	r.Terms.LongHTLC, r.Terms.HTLCExpiry = long, want.Expiry
	return r, nil
}
