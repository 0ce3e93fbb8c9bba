package lnurl

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"math/big"
	"net/url"
	"strconv"
	"unicode/utf16"

	golnurl "github.com/fiatjaf/go-lnurl"

	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/internal/lightning"
)

// Payment is an LNURL-pay service's response to a request for an invoice.
type Payment struct {
	PR            string // the invoice as received
	Invoice       *lightning.Invoice
	SuccessAction *SuccessAction // to be displayed once paid; nil if there is none or it is invalid
}

// RequestInvoice asks an LNURL-pay service for an invoice for an amount in
// whole sats, with a comment unless it is empty. The invoice is for exactly
// that amount, commits to the service's metadata, is for the client's network
// and has not expired. Amounts outside the service's bounds and comments that
// are too long are refused without a request. An invalid success action is
// dropped: it must not stop a payment. The call takes at most 10 s and may be
// repeated (protocol: utilities.md §7.2).
func (c *Client) RequestInvoice(ctx context.Context, p PayParams, amountSats int64, comment string) (*Payment, error) {
	u, err := url.Parse(p.Callback)
	if err != nil {
		return nil, fault.New(fault.InvalidInput, "the LNURL service's callback is not a valid web address")
	}
	low, high, err := satRange(p.MinSendable, p.MaxSendable, u.Hostname())
	if err != nil {
		return nil, err
	}
	if amountSats < low || amountSats > high {
		return nil, fault.OutOfBounds("amount", big.NewInt(amountSats), big.NewInt(low), big.NewInt(high))
	}
	amountMsat := amountSats * 1000
	params := []param{{"amount", strconv.FormatInt(amountMsat, 10)}}
	if comment != "" {
		if n := utf16Length(comment); int64(n) > p.CommentAllowed {
			return nil, fault.Invalid("comment", "has %d characters, but the LNURL service accepts at most %d", n, p.CommentAllowed)
		}
		params = append(params, param{"comment", comment})
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	o, err := c.get(ctx, withParams(u, params...), c.retry)
	if err != nil {
		return nil, err
	}
	return c.readPayment(o, p, u, amountMsat)
}

func (c *Client) readPayment(o object, p PayParams, callback *url.URL, amountMsat int64) (*Payment, error) {
	host := callback.Hostname()
	wire, err := wireOf[golnurl.LNURLPayValues](o, []string{"pr"}, nil)
	if err != nil {
		return nil, wrong(host, "sent a response that could not be decoded: %v", err)
	}
	pr := wire.PR
	var routes []json.RawMessage
	var disposable bool
	switch {
	case pr == "":
		return nil, wrong(host, "sent no invoice")
	case !o.absent("routes") && json.Unmarshal(o["routes"], &routes) != nil:
		return nil, wrong(host, "sent routes that are not a list")
	case !o.absent("disposable") && json.Unmarshal(o["disposable"], &disposable) != nil:
		return nil, wrong(host, "sent a value for disposable that is not true or false")
	}
	inv, err := lightning.Decode(pr)
	if err != nil {
		return nil, wrong(host, "sent an unusable invoice: %v", err)
	}
	if err := c.checkInvoice(inv, p.Metadata, amountMsat); err != nil {
		return nil, wrong(host, "sent a wrong invoice: %v", err)
	}
	payment := &Payment{PR: pr, Invoice: inv}
	if a, err := parseSuccessAction(o["successAction"]); err == nil && a.onHost(callback) {
		payment.SuccessAction = a
	}
	return payment, nil
}

// checkInvoice demands what was asked for. The description hash binds the
// invoice to the metadata that the payer was shown.
func (c *Client) checkInvoice(inv *lightning.Invoice, metadata string, amountMsat int64) error {
	hash := sha256.Sum256([]byte(metadata))
	switch {
	case inv.DescriptionHash == nil || *inv.DescriptionHash != hash:
		return fmt.Errorf("it does not commit to the service's metadata")
	case inv.AmountMsat == nil:
		return fmt.Errorf("it has no amount")
	case *inv.AmountMsat != amountMsat:
		return fmt.Errorf("it is for %d msat instead of %d", *inv.AmountMsat, amountMsat)
	case inv.ExpiresAt() <= c.now().Unix():
		return fmt.Errorf("it has expired")
	}
	return inv.RequireNetwork(c.network)
}

// utf16Length counts as JavaScript does.
func utf16Length(s string) (n int) {
	for _, r := range s {
		n += max(1, utf16.RuneLen(r))
	}
	return n
}
