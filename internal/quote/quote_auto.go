package quote

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"math/big"
	"strings"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/internal/lightning"
	"github.com/swapper-go/swapper/internal/lp"
	"github.com/swapper-go/swapper/lnurl"
	"github.com/swapper-go/swapper/storage"
	"github.com/swapper-go/swapper/swap"
)

func (o *order) fromBTCLNAuto(ctx context.Context) (*swap.Record, error) {
	source, err := o.withdrawLink(ctx)
	if err != nil {
		return nil, err
	}
	var preimage chains.Preimage
	var hash [32]byte
	if o.PaymentHash != "" {
		if hash, err = lightning.ParseHash(o.PaymentHash); err != nil {
			return nil, invalid("paymentHash", err)
		}
		if err := o.fresh(ctx, hash); err != nil {
			return nil, err
		}
	} else {
		if _, err := io.ReadFull(o.Rand, preimage[:]); err != nil {
			return nil, fmt.Errorf("read randomness: %w", err)
		}
		hash = sha256.Sum256(preimage[:])
	}
	described := strings.ToLower(o.DescriptionHash) // some LPs read lower case only
	market, native := o.price(ctx, o.token), o.price(ctx, o.info.Native)
	heads := lp.Start(ctx, o.chain.Heads)
	bounties := o.perVersion(ctx, func(ctx context.Context, k chains.Contract) (*big.Int, error) {
		return autoBounty(ctx, k, o.token.Address)
	})
	return o.collect(ctx, func(ctx context.Context, c lp.Candidate, k chains.Contract) (*swap.Record, error) {
		promised := bounties(k)
		early, node := o.node(ctx)
		funds := lp.Start(ctx, func(ctx context.Context) (chains.LPFunds, error) { return k.Liquidity(ctx, c.Address, o.token.Address) })
		got, err := o.LPs.FromBTCLNAuto(ctx, c.LP.URL, lp.FromBTCLNAutoRequest{Chain: o.info.ID, PaymentHash: hex.EncodeToString(hash[:]), Amount: o.Amount, Claimer: o.user,
			Token: c.Token, Description: o.Description, DescriptionHash: described, ExactOut: !o.ExactIn, GasToken: o.info.Native.Address, GasAmount: o.GasAmount, ClaimerBounty: promised}, early)
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
		a, err := lp.VerifyFromBTCLNAuto(lp.FromBTCLNAutoExpected{Agreed: want,
			InvoiceExpected: lp.InvoiceExpected{Network: o.Reader.Bitcoin.Network(), PaymentHash: hash, Description: o.Description, DescriptionHash: described},
			GasAmount:       o.GasAmount, Bounty: bounty}, got, has.Balance, node(got.Invoice))
		if err != nil {
			return nil, err
		}
		if source != nil && (a.Input.Cmp(sats(source.MinSats)) < 0 || a.Input.Cmp(sats(source.MaxSats)) > 0) {
			return nil, fault.Invalid("amount", "costs %s sats, but the LNURL-withdraw link pays between %d and %d sats", a.Input, source.MinSats, source.MaxSats)
		}
		final, err := heads.Wait(ctx)
		if err != nil {
			return nil, err
		}
		return o.autoRecord(c, k, a, got, preimage, hash, source, final.Final.Height)
	})
}

// fresh refuses a payment hash for which a swap waits already: its preimage may be
// shown at any moment, and LPs make one invoice for a hash.
func (o *order) fresh(ctx context.Context, hash [32]byte) error {
	for _, err := range o.Engine.Store.Find(ctx, storage.Query{Index: swap.ByHash, Value: hex.EncodeToString(hash[:])}) {
		if err != nil {
			return err
		}
		return fault.Invalid("paymentHash", "is already used by another swap: each swap needs its own preimage")
	}
	return nil
}

// perVersion computes something once for each contract version among the
// candidates, when it is first needed.
func (o *order) perVersion(ctx context.Context, compute func(context.Context, chains.Contract) (*big.Int, error)) func(chains.Contract) *lp.Future[*big.Int] {
	all := map[string]*lp.Future[*big.Int]{}
	for _, v := range o.info.Versions {
		if k, ok := o.chain.Contract(v.Name); ok {
			all[v.Name] = lp.Start(ctx, func(ctx context.Context) (*big.Int, error) { return compute(ctx, k) })
		}
	}
	return func(k chains.Contract) *lp.Future[*big.Int] { return all[k.Version()] }
}

// withdrawLink resolves the link that the payment is to come from, if any.
func (o *order) withdrawLink(ctx context.Context) (*lnurl.Withdraw, error) {
	if o.SrcAddress == "" {
		return nil, nil
	}
	d, err := o.LNURL.Resolve(ctx, o.SrcAddress)
	if err != nil {
		return nil, fault.At("srcAddress", err)
	}
	w, ok := d.(*lnurl.Withdraw)
	if !ok {
		return nil, fault.Invalid("srcAddress", "is not an LNURL-withdraw link")
	}
	if o.ExactIn && (o.Amount.Cmp(sats(w.MinSats)) < 0 || o.Amount.Cmp(sats(w.MaxSats)) > 0) {
		return nil, fault.OutOfBounds("amount", sats(w.MinSats), sats(w.MaxSats))
	}
	return w, nil
}

func (o *order) autoRecord(c lp.Candidate, k chains.Contract, a lp.Accepted, got lp.FromBTCLNAutoQuote, preimage chains.Preimage, hash [32]byte, source *lnurl.Withdraw, from uint64) (*swap.Record, error) {
	r, err := o.record(c, k.ClaimHashText(a.Escrow.ClaimHash), a)
	if err != nil {
		return nil, err
	}
	ends, err := a.Invoice.DefinitiveExpiry(false)
	if err != nil {
		return nil, lp.Lie("the invoice: %w", err)
	}
	r.From = from
	r.Escrow = &swap.EscrowPart{Expected: a.Escrow}
	r.Lightning = &swap.LightningPart{Invoice: got.Invoice, Hash: hex.EncodeToString(hash[:]), Preimage: preimage, OwnHash: o.PaymentHash != "", EndsAt: swap.Millis(ends * 1000)}
	if source != nil {
		r.Lightning.Link = source.Params.URL
		r.Lightning.Withdraw = &swap.Withdraw{Params: source.Params}
	}
	o.receivedFees(r, got.SwapFeeBTC, got.GasSwapFeeBTC, WatchtowerSats(new(big.Int).Sub(got.BTCAmountGas, got.GasSwapFeeBTC), a.Escrow), o.GasAmount)
	return r, nil
}

// WatchtowerSats is the part of the sats paid for gas and bounty that is the
// bounty's (protocol: swap-flows-escrow.md §8.8).
func WatchtowerSats(gasSats *big.Int, e *chains.Escrow) *big.Int {
	deposit, bounty := swap.OrZero(e.SecurityDeposit), swap.OrZero(e.ClaimerBounty)
	whole := deposit
	if bounty.Cmp(whole) > 0 {
		whole = bounty
	}
	if whole.Sign() == 0 {
		return new(big.Int)
	}
	return swap.MulDiv(gasSats, bounty, whole)
}
