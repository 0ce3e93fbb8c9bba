package verify

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"math/big"

	"github.com/swapper-go/swapper"
	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/internal/lightning"
	"github.com/swapper-go/swapper/internal/lnurl"
	"github.com/swapper-go/swapper/tokens"
)

// readLink reads an LNURL link, or a Lightning address, without asking anybody. It refuses a
// link whose form shows that it is for the other direction.
func readLink(field, text string, want lnurl.Tag) (string, error) {
	link, err := lnurl.Parse(text)
	if err != nil {
		return "", fault.At(field, err)
	}
	if tag := link.Wants(); tag != "" && tag != want {
		return "", fault.Invalid(field, "is an LNURL for a %s, but one for a %s is required", tag, want)
	}
	return link.Text(), nil
}

// withdrawLink asks the service behind the link what it pays. It is asked again before it gets
// an invoice: what it says may count once.
func (v *verifier) withdrawLink(ctx context.Context, field, link string) (*lnurl.Withdraw, error) {
	d, err := v.links.Resolve(ctx, link)
	if err != nil {
		return nil, fault.At(field, err)
	}
	w, ok := d.(*lnurl.Withdraw)
	if !ok {
		return nil, fault.Invalid(field, "is not an LNURL-withdraw link")
	}
	return w, nil
}

// pays refuses an amount that the service behind a link does not pay.
func pays(w *lnurl.Withdraw, sats *big.Int) error {
	if low, high := big.NewInt(w.MinSats), big.NewInt(w.MaxSats); sats.Cmp(low) < 0 || sats.Cmp(high) > 0 {
		return fault.OutOfBounds("amount", sats, low, high)
	}
	return nil
}

// SettleWithLnurl implements [swapper.Service]. The service behind the link is asked by the
// wallet itself, and gets the swap's verified invoice. Where the wallet has not seen it yet, the
// swap service is asked for it. The call returns as soon as the link's service accepts: that the
// payment has arrived would be the swap service's word, and GetSwapStatus shows it.
func (v *verifier) SettleWithLnurl(ctx context.Context, in swapper.SettleWithLnurlInput) (*swapper.SettleWithLnurlOutput, error) {
	if err := in.Validate(); err != nil {
		return nil, err
	}
	t, version, err := v.agreed(ctx, in.SwapID)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, longest)
	defer cancel()
	o, err := v.chains(ctx)
	if err == nil {
		err = v.reaches(o, t)
	}
	if err != nil {
		return nil, err
	}
	link := t.Link
	switch {
	case t.Src != tokens.LightningBTC():
		return nil, fault.New(fault.InvalidState, "the swap is not paid over Lightning")
	case t.Escrow != nil || !t.Revealed.IsZero():
		return nil, fault.New(fault.InvalidState, "the invoice was paid already")
	case link != "" && in.LnurlWithdraw != "":
		return nil, fault.Invalid("lnurlWithdraw", "must be empty: the swap already has an LNURL-withdraw link")
	case link == "" && in.LnurlWithdraw == "":
		return nil, fault.Invalid("lnurlWithdraw", "is required: the swap was created without an LNURL-withdraw link")
	case link == "":
		if link, err = readLink("lnurlWithdraw", in.LnurlWithdraw, lnurl.TagWithdraw); err != nil {
			return nil, err
		}
	}
	text := t.Invoice
	if text == "" {
		if text, err = v.askInvoice(ctx, o, version, t, in); err != nil {
			return nil, err
		}
	}
	inv, err := lightning.Decode(text)
	if err != nil {
		return nil, err
	}
	if inv.ExpiresAt() <= v.config.Now().Unix() {
		return nil, fault.New(fault.InvalidState, "the invoice expired before it was paid; create a new swap")
	}
	from, err := v.withdrawLink(ctx, "lnurlWithdraw", link)
	if err == nil {
		err = pays(from, t.Input)
	}
	if err == nil {
		err = fault.At("lnurlWithdraw", v.links.SubmitInvoice(ctx, from.Params, text))
	}
	if err != nil {
		return nil, err
	}
	return &swapper.SettleWithLnurlOutput{PaymentHash: hex.EncodeToString(inv.PaymentHash[:])}, nil
}

// askInvoice asks the swap service for the invoice of a swap, and verifies it.
func (v *verifier) askInvoice(ctx context.Context, o *opened, version uint64, t terms, in swapper.SettleWithLnurlInput) (string, error) {
	got, err := v.told(ctx, o, t, swapper.GetSwapStatusInput{SwapID: in.SwapID, SwapKey: in.SwapKey})
	if err != nil {
		return "", err
	}
	asked, ok := got.CurrentAction.(*swapper.SendToAddress)
	if !ok {
		return "", fault.New(fault.InvalidState, "the service asks for no payment: ask for the swap's status")
	}
	verified := v.invoice
	if t.trusts() {
		verified = v.trustedPayment
	}
	pay, err := verified(ctx, in.SwapID, version, t, asked)
	if err != nil {
		return "", err
	}
	return pay.Txs[0].Address, nil
}

// link shows the link of a swap, and what the service behind it says once it was paid: by the
// preimage that the wallet's own nodes show.
func (t terms) link(fact *chains.EscrowFact) *swapper.SwapOutputLNURL {
	switch {
	case t.Link == "":
		return nil
	case t.receives():
		return &swapper.SwapOutputLNURL{Withdraw: t.Link}
	}
	out := &swapper.SwapOutputLNURL{Pay: t.Link}
	if fact == nil || fact.Err != nil || fact.State != chains.EscrowClaimed {
		return out
	}
	inv, err := lightning.Decode(t.Recipient)
	if hash := sha256.Sum256(fact.Result); err != nil || !bytes.Equal(hash[:], inv.PaymentHash[:]) {
		return out
	}
	if d := t.Thanks.Decode(fact.Result); d != nil {
		out.SuccessAction = &swapper.SuccessAction{Description: d.Description}
		if d.Text != nil {
			out.SuccessAction.Text = *d.Text
		}
		if d.URL != nil {
			out.SuccessAction.URL = *d.URL
		}
	}
	return out
}
