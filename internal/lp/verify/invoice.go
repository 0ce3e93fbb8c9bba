package verify

import (
	"encoding/hex"
	"math/big"
	"strings"
	"time"

	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/internal/lightning"
	"github.com/swapper-go/swapper/internal/lp"
)

// InvoiceExpected is what the invoice of a swap from Lightning is compared with.
type InvoiceExpected struct {
	Network         bitcoin.Network
	PaymentHash     [32]byte
	Description     string // as requested; "": any
	DescriptionHash string // 64 hexadecimal digits, as requested; "": any
}

// NodeFact is what the public graph says of the invoice's payee.
type NodeFact struct {
	Node *bitcoin.NodeLiquidity // nil: the graph does not know it
	Err  error                  // the question was not answered
}

// readInvoice decodes an LP's invoice.
func (w InvoiceExpected) readInvoice(text string) (*lightning.Invoice, error) {
	inv, err := lightning.Decode(text)
	if err != nil {
		return nil, lp.Lie(lp.CheckInvoice, "%w", err)
	}
	if err := inv.RequireNetwork(w.Network); err != nil {
		return nil, lp.Lie(lp.CheckInvoice, "%w", err)
	}
	return inv, nil
}

// check: the invoice is the one that was asked for.
func (w InvoiceExpected) check(inv *lightning.Invoice) error {
	return first(
		func() error { return w.description(inv) },
		func() error { return w.paymentHash(inv) },
		func() error { return w.amount(inv) },
		func() error { return holdable(inv) },
	)
}

// maxHeldBlocks bounds the final CLTV delta of an invoice whose payment an LP holds,
// which is how long it can keep the payer's money: LPs ask for 25 to 53 (protocol:
// lp-protocol.md §8.4, lp-next.md), Lightning's usual most is a day.
const maxHeldBlocks = 144

func holdable(inv *lightning.Invoice) error {
	if inv.MinFinalCLTV > maxHeldBlocks {
		return doubt(lp.CheckInvoice, "the invoice lets the payment be held for %d blocks, at most %d are accepted", inv.MinFinalCLTV, maxHeldBlocks)
	}
	return nil
}

func (w InvoiceExpected) description(inv *lightning.Invoice) error {
	if w.DescriptionHash != "" && (inv.DescriptionHash == nil || !strings.EqualFold(hex.EncodeToString(inv.DescriptionHash[:]), w.DescriptionHash)) {
		return lp.Lie(lp.CheckDescription, "the invoice's description hash differs from the requested one")
	}
	if w.Description != "" && (inv.Description == nil || *inv.Description != w.Description) {
		return lp.Lie(lp.CheckDescription, "the invoice's description differs from the requested one")
	}
	return nil
}

// paymentHash: with another hash, the holder of another preimage would get the payment.
func (w InvoiceExpected) paymentHash(inv *lightning.Invoice) error {
	if inv.PaymentHash != w.PaymentHash {
		return lp.Lie(lp.CheckPaymentHash, "the invoice has payment hash %x, not the requested one", inv.PaymentHash)
	}
	return nil
}

func (w InvoiceExpected) amount(inv *lightning.Invoice) error {
	if sats, ok := inv.AmountSats(); !ok || sats <= 0 {
		return lp.Lie(lp.CheckInvoice, "the invoice has no amount")
	}
	if _, err := inv.QuoteExpiry(); err != nil {
		return lp.Lie(lp.CheckInvoice, "%w", err)
	}
	return nil
}

// expires is when the quote of an invoice ends. One that has ended already is
// blamed on the clocks.
func (a Agreed) expires(inv *lightning.Invoice) (time.Time, error) {
	at := time.Unix(inv.ExpiresAt(), 0)
	if !at.After(a.Now) {
		return at, lp.Late(lp.CheckQuoteExpiry, "the invoice expired at %d", inv.ExpiresAt())
	}
	return at, nil
}

// sats returns the amount of an invoice that passed.
func sats(inv *lightning.Invoice) *big.Int {
	v, _ := inv.AmountSats()
	return big.NewInt(v)
}

// Node checks that the Lightning node that issued an invoice can receive
// it: it is known, it is the one that was looked up, and it has twice the
// capacity (protocol: lp-protocol.md §6.8). Pure.
func Node(inv *lightning.Invoice, f NodeFact, p Policy) error {
	if p.AnyNode {
		return nil
	}
	if f.Err != nil {
		return f.Err
	}
	if f.Node == nil {
		return doubt(lp.CheckNode, "node %x is not in the public Lightning graph", inv.Payee)
	}
	if !strings.EqualFold(f.Node.PublicKey, hex.EncodeToString(inv.Payee[:])) {
		return lp.Lie(lp.CheckNode, "the invoice is from node %x, but the liquidity provider named node %s", inv.Payee, f.Node.PublicKey)
	}
	need := sats(inv).Int64()
	if f.Node.Capacity < need {
		return doubt(lp.CheckNode, "the node's channels have a capacity of %d sats, less than the invoice's %d", f.Node.Capacity, need)
	}
	if f.Node.Capacity/2 < need {
		return doubt(lp.CheckNode, "the node's channels have a capacity of %d sats, too little to reliably receive %d", f.Node.Capacity, need)
	}
	return nil
}
