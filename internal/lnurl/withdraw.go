package lnurl

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"net/url"

	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/internal/httpx"
	"github.com/swapper-go/swapper/internal/lightning"
)

// ErrUnknownOutcome is wrapped by errors of [Client.SubmitInvoice] after which
// the service may still pay the invoice: there was no response, or one that
// neither accepts nor refuses. Check whether the payment arrives before
// repeating the call.
var ErrUnknownOutcome = errors.New("it is not known whether the service will pay")

// SubmitInvoice sends an invoice to an LNURL-withdraw service and returns nil
// if the service accepts to pay it. Its amount must be within the service's
// bounds, and its network the client's. The invoice is sent exactly once, and
// the call takes at most 10 s. After an error that does not wrap
// [ErrUnknownOutcome] the service will not pay this invoice (protocol:
// utilities.md §7.3).
func (c *Client) SubmitInvoice(ctx context.Context, w WithdrawParams, invoice string) error {
	u, err := url.Parse(w.Callback)
	if err != nil {
		return fault.New(fault.InvalidInput, "the LNURL service's callback is not a valid web address")
	}
	if err := c.checkURL(u); err != nil {
		return err
	}
	if err := c.checkWithdrawal(w, invoice); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	o, err := c.get(ctx, withParams(u, param{"pr", invoice}, param{"k1", w.K1}), httpx.RetryPolicy{Calls: 1})
	if _, refused := errors.AsType[*serviceError](err); refused {
		return err
	}
	if err != nil {
		return &fault.Error{Code: fault.CodeOf(err), Message: fault.Public(err), Err: fmt.Errorf("%w: %w", ErrUnknownOutcome, err)}
	}
	if status, _ := o.text("status"); status != "OK" {
		return &fault.Error{Code: fault.Upstream, Message: wrong(u.Hostname(), "neither accepted nor refused the withdrawal").Error(), Err: ErrUnknownOutcome}
	}
	return nil
}

func (c *Client) checkWithdrawal(w WithdrawParams, invoice string) error {
	inv, err := lightning.Decode(invoice)
	if err != nil {
		return fault.New(fault.InvalidInput, "%w", err)
	}
	if err := inv.RequireNetwork(c.network); err != nil {
		return fault.New(fault.InvalidInput, "%w", err)
	}
	switch {
	case w.K1 == "":
		return fault.New(fault.InvalidInput, "the withdrawal parameters have no k1")
	case inv.AmountMsat == nil:
		return fault.New(fault.InvalidInput, "the invoice must have an amount")
	case *inv.AmountMsat < w.MinWithdrawable || *inv.AmountMsat > w.MaxWithdrawable:
		return fault.OutOfBounds("amount", big.NewInt(*inv.AmountMsat/1000), big.NewInt(satsUp(w.MinWithdrawable)), big.NewInt(w.MaxWithdrawable/1000))
	}
	return nil
}
