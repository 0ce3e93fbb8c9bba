package verify

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"

	"github.com/swapper-go/swapper"
	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/internal/bigs"
	"github.com/swapper-go/swapper/internal/lnurl"
	lpverify "github.com/swapper-go/swapper/internal/lp/verify"
	"github.com/swapper-go/swapper/storage"
)

// linked is what the service behind a link was asked for under an idempotency key.
type linked struct {
	Schema  int
	Request string // of the wallet, as JSON
	Invoice string
	Sats    int64
	Thanks  *lnurl.SuccessAction
}

// payLink gets the invoice that is to be paid from the service behind the link, and returns the
// request to the swap service, which hears of the invoice alone. Under an idempotency key it is
// the same invoice each time: it is stored before the swap service hears of it.
func (v *verifier) payLink(ctx context.Context, t *terms, in swapper.CreateSwapInput) (swapper.CreateSwapInput, error) {
	got, err := v.linked(ctx, t, in)
	if err != nil {
		return in, err
	}
	t.Recipient, t.Thanks = got.Invoice, got.Thanks
	in.DstAddress, in.AmountType, in.Amount = got.Invoice, swapper.ExactOut, big.NewInt(got.Sats)
	return in, v.readInvoice(t, in)
}

func (v *verifier) linked(ctx context.Context, t *terms, in swapper.CreateSwapInput) (linked, error) {
	request, err := json.Marshal(in)
	if err != nil {
		return linked{}, err
	}
	if t.Key != "" {
		if known, err := v.linkedBefore(ctx, t.Key, string(request)); !errors.Is(err, storage.ErrNotFound) {
			return known, err
		}
	}
	got, err := v.askLink(ctx, t, in)
	if err != nil || t.Key == "" {
		return got, err
	}
	got.Schema, got.Request = termsSchema, string(request)
	body, err := json.Marshal(got)
	if err != nil {
		return got, err
	}
	if err := v.config.Store.Create(ctx, storage.Entry{ID: linkedID(t.Key), Body: body}); !errors.Is(err, storage.ErrExists) {
		return got, err
	}
	return v.linkedBefore(ctx, t.Key, string(request)) // of a call at the same time
}

func linkedID(key string) string { return "verify/link/" + keyHash(key) }

// linkedBefore reads what was asked for under an idempotency key, by the same request.
func (v *verifier) linkedBefore(ctx context.Context, key, request string) (known linked, err error) {
	e, err := v.config.Store.Get(ctx, linkedID(key))
	if err != nil {
		return known, err
	}
	if err := json.Unmarshal(e.Body, &known); err != nil {
		return known, fmt.Errorf("%w: invoice of a link: %w", storage.ErrCorrupt, err)
	}
	switch {
	case known.Schema != termsSchema:
		err = fault.New(fault.Internal, "the invoice of a link has schema %d, which this version does not know", known.Schema)
	case known.Request != request:
		err = fault.Invalid("idempotencyKey", "was already used for a different request")
	}
	return known, err
}

// askLink asks the service behind the link for an invoice.
func (v *verifier) askLink(ctx context.Context, t *terms, in swapper.CreateSwapInput) (linked, error) {
	d, err := v.links.Resolve(ctx, t.Link)
	if err != nil {
		return linked{}, fault.At("dstAddress", err)
	}
	link, ok := d.(*lnurl.Pay)
	if !ok {
		return linked{}, fault.Invalid("dstAddress", "is an LNURL-withdraw link; an LNURL-pay link is required")
	}
	sats := in.Amount
	if in.AmountType == swapper.ExactIn {
		if sats, err = v.buys(ctx, t, link, in); err != nil {
			return linked{}, err
		}
	}
	if !sats.IsInt64() {
		return linked{}, fault.Invalid("amount", "is more bitcoin than there are")
	}
	p, err := v.links.RequestInvoice(ctx, link.Params, sats.Int64(), "")
	if err != nil {
		return linked{}, fault.At("dstAddress", err)
	}
	return linked{Invoice: p.PR, Sats: sats.Int64(), Thanks: p.SuccessAction}, nil
}

// usualFeePPM is about what a swap costs: what the first quote is asked for leaves room for it,
// so that the next one comes close.
const usualFeePPM = 20_000

// buys reckons how many sats an input buys, by what the service wants for another invoice of the
// link, for about as much. That quote is never taken. If it is a lie, the swap is judged as any
// other, and refused if it does not spend about the input (spendsAbout).
func (v *verifier) buys(ctx context.Context, t *terms, link *lnurl.Pay, in swapper.CreateSwapInput) (*big.Int, error) {
	market, err := v.config.Prices.Price(ctx, t.Src)
	if err != nil {
		return nil, err
	}
	worth, err := lpverify.ToBitcoin(in.Amount, market, t.Src.Decimals)
	if err != nil {
		return nil, err
	}
	low, high := link.Sats()
	if !worth.IsInt64() || worth.Int64() < low {
		return nil, fault.Invalid("amount", "is worth %s sats, but the LNURL-pay link accepts between %d and %d sats", worth, low, high)
	}
	about := bigs.MulDiv(worth, big.NewInt(1e6-usualFeePPM), big.NewInt(1e6)).Int64()
	about = min(max(about, low), high)
	p, err := v.links.RequestInvoice(ctx, link.Params, about, "")
	if err != nil {
		return nil, fault.At("dstAddress", err)
	}
	asked := in
	asked.DstAddress, asked.AmountType, asked.Amount, asked.IdempotencyKey = p.PR, swapper.ExactOut, big.NewInt(about), ""
	got, err := v.service.CreateSwap(ctx, asked)
	switch {
	case fault.CodeOf(err) == fault.AmountOutOfBounds:
		return nil, fault.Invalid("amount", "is worth %s sats: %w", worth, err)
	case err != nil:
		return nil, err
	case got == nil || got.Quote.InputAmount.RawAmount == nil || got.Quote.InputAmount.RawAmount.Sign() <= 0:
		return nil, fault.New(fault.Upstream, "the service does not say what it takes for %d sats", about)
	}
	sats := bigs.MulDiv(big.NewInt(about), in.Amount, got.Quote.InputAmount.RawAmount)
	if sats.Cmp(big.NewInt(low)) < 0 || sats.Cmp(big.NewInt(high)) > 0 {
		return nil, fault.Invalid("amount", "buys %s sats, but the LNURL-pay link accepts between %d and %d sats", sats, low, high)
	}
	return sats, nil
}

// maxUnspentPPM is how much less than an exact input a swap to a link may take, whose invoice
// is for whole sats and has to be known before the quote.
const maxUnspentPPM = 1000

// spendsAbout refuses a swap to a link that takes more than the exact input that was asked for,
// or less by more than the bound and two sats.
func spendsAbout(t terms, input *big.Int) error {
	least := bigs.Sub(input, bigs.MulDiv(input, big.NewInt(maxUnspentPPM), big.NewInt(1e6)))
	least.Sub(least, bigs.MulDiv(input, big.NewInt(2), t.Output))
	if t.Input.Cmp(input) > 0 || t.Input.Cmp(least) < 0 {
		return &RefusedError{Reason: reasonQuote, Field: "quote.inputAmount.rawAmount", Said: t.Input.String(), True: least.String() + " to " + input.String()}
	}
	return nil
}
