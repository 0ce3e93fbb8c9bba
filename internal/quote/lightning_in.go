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
	"github.com/swapper-go/swapper/internal/engine"
	"github.com/swapper-go/swapper/internal/lightning"
	"github.com/swapper-go/swapper/internal/lnurl"
	"github.com/swapper-go/swapper/internal/lp/verify"
	"github.com/swapper-go/swapper/internal/swap"
	"github.com/swapper-go/swapper/storage"
)

// lightningIn holds what all swaps that are paid over Lightning share, whichever side opens
// the escrow.
type lightningIn struct {
	source    *lnurl.Withdraw // that the payment is to come from; nil: none
	preimage  chains.Preimage // zero if the caller keeps it
	hash      [32]byte
	described string // description hash
}

func (o *order) readLightningIn(ctx context.Context) (*lightningIn, error) {
	in := &lightningIn{described: strings.ToLower(o.DescriptionHash)} // some LPs read lower case only
	var err error
	if in.source, err = o.withdrawLink(ctx); err != nil {
		return nil, err
	}
	if o.PaymentHash == "" {
		if _, err := io.ReadFull(o.Rand, in.preimage[:]); err != nil {
			return nil, fmt.Errorf("read randomness: %w", err)
		}
		in.hash = sha256.Sum256(in.preimage[:])
		return in, nil
	}
	if in.hash, err = lightning.ParseHash(o.PaymentHash); err != nil {
		return nil, invalid("paymentHash", err)
	}
	return in, o.fresh(ctx, in.hash)
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
		return nil, fault.OutOfBounds("amount", o.Amount, sats(w.MinSats), sats(w.MaxSats))
	}
	return w, nil
}

// withdrawable refuses an input that the link does not pay.
func (in *lightningIn) withdrawable(input *big.Int) error {
	w := in.source
	if w != nil && (input.Cmp(sats(w.MinSats)) < 0 || input.Cmp(sats(w.MaxSats)) > 0) {
		return fault.Invalid("amount", "costs %s sats, but the LNURL-withdraw link pays between %d and %d sats", input, w.MinSats, w.MaxSats)
	}
	return nil
}

// invoiceExpected is what an LP's invoice is compared with.
func (o *order) invoiceExpected(in *lightningIn) verify.InvoiceExpected {
	return verify.InvoiceExpected{Network: o.Reader.Bitcoin.Network(), PaymentHash: in.hash, Description: o.Description, DescriptionHash: in.described}
}

// lightningPart is what a record keeps of the payment. ends is from when on, Unix
// seconds, none can be under way.
func (o *order) lightningPart(in *lightningIn, invoice string, ends int64) *swap.LightningPart {
	l := &swap.LightningPart{Invoice: invoice, Hash: hex.EncodeToString(in.hash[:]), Preimage: in.preimage, OwnHash: o.PaymentHash != "", EndsAt: swap.Millis(ends * 1000)}
	if in.source != nil {
		l.Link = in.source.Params.URL
		l.Withdraw = engine.Withdrawal(in.source)
	}
	return l
}
