package swapper

import (
	"context"
	"math/big"
	"time"

	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/internal/address"
	"github.com/swapper-go/swapper/internal/lnurl"
	"github.com/swapper-go/swapper/tokens"
)

// ParseAddress implements [Service].
func (c *Client) ParseAddress(ctx context.Context, in ParseAddressInput) (_ *ParseAddressOutput, err error) {
	ctx, end, err := c.life.begin(ctx)
	if err != nil {
		return nil, err
	}
	defer end(&err)
	if err := in.Validate(); err != nil {
		return nil, err
	}
	r, err := c.parser.Parse(ctx, in.Address)
	if err != nil {
		return nil, fault.At("address", err)
	}
	return parsed(r), nil
}

func parsed(r address.Result) *ParseAddressOutput {
	return &ParseAddressOutput{Address: r.Address, Type: r.Type, LNURL: linkOf(r), Min: amountOrNone(r.Min), Max: amountOrNone(r.Max), Amount: amountOrNone(r.Amount)}
}

// ParseLink asks the service behind an LNURL link or a Lightning address what it offers, as
// [Client.ParseAddress] does, for those who have no client. It takes at most 10 seconds. Errors
// have a code; [fault.InvalidInput] if the text is not a link.
func (o LNURLOptions) ParseLink(ctx context.Context, network bitcoin.Network, text string) (*ParseAddressOutput, error) {
	p, err := address.New(address.Config{Network: network, LNURL: o.client(network, nil)})
	if err != nil {
		return nil, err
	}
	if !lnurl.IsLink(text) {
		return nil, fault.New(fault.InvalidInput, "not an LNURL link or Lightning address")
	}
	r, err := p.Parse(ctx, text)
	if err != nil {
		return nil, err
	}
	return parsed(r), nil
}

// client calls services behind links. now nil is time.Now.
func (o LNURLOptions) client(network bitcoin.Network, now func() time.Time) *lnurl.Client {
	return lnurl.New(lnurl.Config{Network: network, OnionProxy: o.OnionProxy, AllowLocal: o.AllowLocal, Transport: o.Transport, Now: now})
}

// linkOf converts what the service of a link offers.
func linkOf(r address.Result) LNURL {
	if r.Details == nil {
		return nil
	}
	low, high := r.Details.Sats()
	sats := func(n int64) Amount { return AmountOf(tokens.NewAmount(big.NewInt(n), tokens.LightningBTC())) }
	min, max := sats(low), sats(high)
	switch d := r.Details.(type) {
	case *lnurl.Pay:
		p := d.Params
		return &LNURLPay{Min: min, Max: max, CommentMaxLength: int(p.CommentAllowed),
			ShortDescription: d.ShortDescription, LongDescription: d.LongDescription, Icon: d.Icon,
			Params: LNURLPayParams{Tag: string(p.Tag), Callback: p.Callback, Domain: p.Domain, MinSendable: p.MinSendable, MaxSendable: p.MaxSendable,
				Metadata: p.Metadata, DecodedMetadata: listsOf(p.DecodedMetadata), CommentAllowed: int(p.CommentAllowed), URL: p.URL}}
	case *lnurl.Withdraw:
		p := d.Params
		return &LNURLWithdraw{Min: min, Max: max,
			Params: LNURLWithdrawParams{Tag: string(p.Tag), K1: p.K1, Callback: p.Callback, Domain: p.Domain, MinWithdrawable: p.MinWithdrawable,
				MaxWithdrawable: p.MaxWithdrawable, DefaultDescription: p.DefaultDescription, BalanceCheck: p.BalanceCheck, PayLink: p.PayLink, URL: p.URL}}
	}
	return nil
}

func listsOf(in [][]string) List[List[string]] {
	out := make(List[List[string]], len(in))
	for i, l := range in {
		out[i] = l
	}
	return out
}
