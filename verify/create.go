package verify

import (
	"context"
	"encoding/hex"
	"errors"
	"math/big"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/swapper-go/swapper"
	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/internal/address"
	"github.com/swapper-go/swapper/internal/bounds"
	"github.com/swapper-go/swapper/internal/lightning"
	"github.com/swapper-go/swapper/internal/lnurl"
	"github.com/swapper-go/swapper/internal/lp"
	lpverify "github.com/swapper-go/swapper/internal/lp/verify"
	"github.com/swapper-go/swapper/tokens"
)

// CreateSwap implements [swapper.Service] for the swaps that the package verifies. What it
// returns is what was verified and is stored; parts of the answer that were not are left
// out. The market is asked while the service is.
func (v *verifier) CreateSwap(ctx context.Context, in swapper.CreateSwapInput) (*swapper.CreateSwapOutput, error) {
	if err := in.Validate(); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, longest)
	defer cancel()
	o, err := v.chains(ctx)
	if err != nil {
		return nil, err
	}
	want, err := v.wanted(o, in)
	if err != nil {
		return nil, err
	}
	fixed := in // by which the answer is judged
	switch {
	case want.Src == tokens.LightningBTC():
		fixed.PaymentHash, fixed.SrcAddress = hex.EncodeToString(want.Hash[:]), ""
	case want.Link != "":
		if fixed, err = v.payLink(ctx, &want, in); err != nil {
			return nil, err
		}
	}
	asked := fixed
	asked.Amount = new(big.Int).Set(fixed.Amount) // a service in this process cannot change what it is compared with
	var got *swapper.CreateSwapOutput
	var market *big.Int
	var from *lnurl.Withdraw
	smart := want.smart() // read here: the heads below write into want
	g, gctx := errgroup.WithContext(ctx)
	g.Go(func() (err error) { got, err = v.service.CreateSwap(gctx, asked); return err })
	g.Go(func() (err error) { market, err = v.config.Prices.Price(gctx, smart); return err })
	if want.receives() {
		if want.Link != "" {
			g.Go(func() (err error) { from, err = v.withdrawLink(gctx, "srcAddress", want.Link); return err })
		}
		g.Go(func() error {
			heads, err := o.byID[want.Dst.Chain].Heads(gctx)
			want.From = heads.Final.Height
			return err
		})
	}
	if err := g.Wait(); err != nil {
		return nil, err
	}
	if got == nil {
		return nil, fault.New(fault.Upstream, "the service gave no answer")
	}
	if err := v.take(o, &want, fixed, got.SwapOutputBase, market); err != nil {
		return nil, err
	}
	if fixed.AmountType != in.AmountType {
		if err := spendsAbout(want, in.Amount); err != nil {
			return nil, err
		}
	}
	if from != nil {
		if err := pays(from, want.Input); err != nil {
			return nil, err
		}
	}
	t, err := v.agree(ctx, got.SwapID, want)
	if err != nil {
		return nil, err
	}
	return &swapper.CreateSwapOutput{SwapOutputBase: t.base(got.SwapID, asTold(got.State)), SwapKey: got.SwapKey}, nil
}

// wanted reads what a request says of the swap's terms. It refuses what cannot be
// verified yet, before the service is asked.
func (v *verifier) wanted(o *opened, in swapper.CreateSwapInput) (t terms, err error) {
	t = terms{Schema: termsSchema, Key: in.IdempotencyKey, Recipient: address.Strip(in.DstAddress), CreatedAt: v.now()}
	if t.Src, err = o.tokens.Resolve(in.SrcToken); err != nil {
		return t, fault.At("srcToken", err)
	}
	if t.Dst, err = o.tokens.Resolve(in.DstToken); err != nil {
		return t, fault.At("dstToken", err)
	}
	switch t.Src {
	case tokens.LightningBTC():
		err = v.fromLightning(o, &t, in)
		return t, err
	case tokens.BTC():
		err = v.fromBitcoin(o, &t, in)
		return t, err
	}
	for field, given := range map[string]bool{
		"gasAmount": in.GasAmount != nil && in.GasAmount.Sign() != 0, "paymentHash": in.PaymentHash != "",
		"lightningInvoiceDescription": in.LightningInvoiceDescription != "", "lightningInvoiceDescriptionHash": in.LightningInvoiceDescriptionHash != "",
	} {
		if given {
			return t, fault.Invalid(field, "does not apply to swaps to Bitcoin or Lightning")
		}
	}
	chain := o.byID[t.Src.Chain]
	if chain == nil {
		return t, fault.New(fault.Unsupported, "swaps from %s are not verified yet", t.Src)
	}
	if t.Payer, err = chain.Address(address.Strip(in.SrcAddress)); err != nil {
		return t, fault.At("srcAddress", err)
	}
	switch t.Dst.Chain {
	case tokens.Bitcoin:
		t.Type = swapper.SwapToBTC
		to, err := bitcoin.ParseAddress(t.Recipient, v.config.Network)
		if err != nil {
			return t, fault.Invalid("dstAddress", "%w", err)
		}
		t.Recipient = to.String()
	case tokens.Lightning:
		t.Type = swapper.SwapToBTCLN
		if lnurl.IsLink(in.DstAddress) {
			t.Link, err = readLink("dstAddress", in.DstAddress, lnurl.TagPay)
		} else {
			err = v.readInvoice(&t, in)
		}
		return t, err
	default:
		return t, fault.New(fault.Unsupported, "swaps from %s to %s are not verified yet", t.Src, t.Dst)
	}
	return t, nil
}

// waitSlack is how much later than asked for by the wallet's clock an escrow may end, which
// the service reckons by its own.
const waitSlack = 10 * time.Minute

// readInvoice checks the invoice that is to be paid, whose amount is the output, and
// reckons how long its payment may take.
func (v *verifier) readInvoice(t *terms, in swapper.CreateSwapInput) error {
	inv, err := lightning.Decode(t.Recipient)
	if err == nil {
		err = inv.RequireNetwork(v.config.Network)
	}
	if err != nil {
		return fault.Invalid("dstAddress", "%w", err)
	}
	sats, ok := inv.AmountSats()
	switch {
	case !ok || sats <= 0:
		return fault.Invalid("dstAddress", "the invoice has no amount")
	case in.AmountType != swapper.ExactOut:
		return fault.Invalid("amountType", "must be %s for an invoice, which fixes what is received", swapper.ExactOut)
	case in.Amount.Cmp(big.NewInt(sats)) != 0:
		return fault.Invalid("amount", "is %s sats, but the invoice is for %d", in.Amount, sats)
	}
	wait, _, err := lightning.HTLCWait(orZero(in.LightningPaymentHTLCTimeout), orZero(in.LightningPaymentMaxHTLCTimeout), inv.MinFinalCLTV)
	t.Latest = v.config.Now().Add(waitSlack).Unix() + wait
	return err
}

func orZero(d *time.Duration) time.Duration {
	if d == nil {
		return 0
	}
	return *d
}

// take checks the answer and completes the terms with it.
func (v *verifier) take(o *opened, t *terms, in swapper.CreateSwapInput, got swapper.SwapOutputBase, market *big.Int) error {
	q := got.Quote
	if got.SwapID == "" || len(entryID(got.SwapID)) > bounds.MaxID {
		return &RefusedError{Reason: reasonID, Field: "swapId", Said: got.SwapID, True: "an id of at most " + big.NewInt(int64(bounds.MaxID-len(entryID("")))).String() + " bytes"}
	}
	network := swapper.AmountOf(tokens.NewAmount(nil, t.Src))
	if q.Fees.NetworkOutput != nil {
		network = *q.Fees.NetworkOutput
	}
	if t.receives() && !t.trusts() && slices.Contains(slices.Concat(types(o.byID[t.Dst.Chain], t.Src), v.trusted(o, *t)), got.SwapType) {
		t.Type = got.SwapType // the service's choice
	}
	if err := errors.Join(
		same(reasonType, "swapType", string(got.SwapType), string(t.Type)),
		ofToken("quote.inputAmount", q.InputAmount, t.Src),
		ofToken("quote.outputAmount", q.OutputAmount, t.Dst),
		ofToken("quote.fees.swap", q.Fees.Swap, t.Src),
		ofToken("quote.fees.networkOutput", network, t.Src),
		v.sameRecipient(o, "", *t, q.OutputAddress),
	); err != nil {
		return err
	}
	if !q.Expiry.After(v.config.Now()) {
		return &RefusedError{Reason: reasonExpiry, Field: "quote.expiry", Said: q.Expiry.UTC().String(), True: "after " + v.config.Now().UTC().String()}
	}
	agreed := lpverify.Agreed{Token: t.smart(), Amount: in.Amount, ExactIn: in.AmountType == swapper.ExactIn, Price: market, Now: v.config.Now(), Policy: lpverify.Policy(v.config.Policy)}
	var err error
	if t.receives() {
		err = lpverify.ReceiveTold(agreed, lpverify.ToldReceive{Sats: q.InputAmount.RawAmount, SwapFee: q.Fees.Swap.RawAmount, Output: q.OutputAmount.RawAmount,
			Vault: t.Type == swapper.SwapSPVVaultFromBTC, Besides: t.Type == swapper.SwapFromBTC || t.Type == swapper.SwapFromBTCLN || t.trusts()})
	} else {
		err = lpverify.Told(agreed,
			lpverify.ToldSend{Input: q.InputAmount.RawAmount, SwapFee: q.Fees.Swap.RawAmount, NetworkFee: network.RawAmount, Sats: q.OutputAmount.RawAmount, Lightning: t.Dst.Chain == tokens.Lightning})
	}
	if bad, ok := errors.AsType[*lp.LPError](err); ok {
		return &RefusedError{Reason: reasonQuote, Field: "quote", Said: figures(q, network), True: bad.Public(), Err: err}
	}
	if err != nil {
		return err
	}
	t.Input, t.Output, t.SwapFee, t.NetworkFee, t.Expiry = q.InputAmount.RawAmount, q.OutputAmount.RawAmount, q.Fees.Swap.RawAmount, network.RawAmount, q.Expiry
	return v.mayTrust(*t)
}

// figures are the numbers that are judged together.
func figures(q swapper.SwapQuote, network swapper.Amount) string {
	return text(q.InputAmount.RawAmount) + " in, " + text(q.OutputAmount.RawAmount) + " out, fees " + text(q.Fees.Swap.RawAmount) + " and " + text(network.RawAmount)
}

func text(n *big.Int) string {
	if n == nil {
		return "nothing"
	}
	return n.String()
}

// ofToken checks that an amount is one of a token as the wallet knows it.
func ofToken(field string, got swapper.Amount, want tokens.Token) error {
	return errors.Join(
		same(reasonToken, field+".chain", got.Chain, want.Chain),
		same(reasonToken, field+".symbol", got.Symbol, want.Ticker),
		same(reasonToken, field+".decimals", big.NewInt(int64(got.Decimals)).String(), big.NewInt(int64(want.Decimals)).String()),
	)
}

// sameRecipient compares by what is paid: addresses by their canonical text, invoices
// whatever their case.
func (v *verifier) sameRecipient(o *opened, at string, t terms, said string) error {
	got := said
	if chain := o.byID[t.Dst.Chain]; chain != nil {
		if to, err := chain.Address(said); err == nil {
			got = to
		}
	} else if to, err := bitcoin.ParseAddress(said, v.config.Network); err == nil {
		got = to.String()
	} else if t.Type == swapper.SwapToBTCLN && strings.EqualFold(said, t.Recipient) {
		got = t.Recipient
	}
	return same(reasonRecipient, at+"quote.outputAddress", got, t.Recipient)
}
