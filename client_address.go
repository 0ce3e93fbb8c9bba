package swapper

import (
	"context"
	"math/big"

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
	return &ParseAddressOutput{Address: r.Address, Type: r.Type, LNURL: linkOf(r), Min: amountOrNone(r.Min), Max: amountOrNone(r.Max), Amount: amountOrNone(r.Amount)}, nil
}

// linkOf converts what the service of a link offers.
func linkOf(r address.Result) *LNURL {
	if r.Details == nil {
		return nil
	}
	low, high := r.Details.Sats()
	sats := func(n int64) Amount { return AmountOf(tokens.NewAmount(big.NewInt(n), tokens.LightningBTC())) }
	min, max := sats(low), sats(high)
	switch d := r.Details.(type) {
	case *lnurl.Pay:
		p := d.Params
		return &LNURL{Pay: &LNURLPay{Min: min, Max: max, CommentMaxLength: int(p.CommentAllowed),
			ShortDescription: d.ShortDescription, LongDescription: d.LongDescription, Icon: d.Icon,
			Params: LNURLPayParams{Tag: string(p.Tag), Callback: p.Callback, Domain: p.Domain, MinSendable: p.MinSendable, MaxSendable: p.MaxSendable,
				Metadata: p.Metadata, DecodedMetadata: listsOf(p.DecodedMetadata), CommentAllowed: int(p.CommentAllowed), URL: p.URL}}}
	case *lnurl.Withdraw:
		p := d.Params
		return &LNURL{Withdraw: &LNURLWithdraw{Min: min, Max: max,
			Params: LNURLWithdrawParams{Tag: string(p.Tag), K1: p.K1, Callback: p.Callback, Domain: p.Domain, MinWithdrawable: p.MinWithdrawable,
				MaxWithdrawable: p.MaxWithdrawable, DefaultDescription: p.DefaultDescription, BalanceCheck: p.BalanceCheck, PayLink: p.PayLink, URL: p.URL}}}
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
