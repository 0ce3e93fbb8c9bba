package lightning

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"time"

	"github.com/btcsuite/btcd/btcec/v2"
	"github.com/btcsuite/btcd/btcec/v2/ecdsa"
	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/lightningnetwork/lnd/lnwire"
	"github.com/lightningnetwork/lnd/zpay32"
)

// InvoiceState is how an invoice stands at the node that made it.
type InvoiceState int

const (
	Open     InvoiceState = iota // nothing has arrived; it may have expired
	Held                         // a payment has arrived and waits for [Node.Settle] or [Node.Cancel]
	Settled                      // paid
	Canceled                     // canceled, or the payment timed out
)

func (s InvoiceState) String() string {
	return [...]string{"open", "held", "settled", "canceled"}[s]
}

// InvoiceOptions say what an invoice is for.
type InvoiceOptions struct {
	Preimage [32]byte // the invoice is settled by itself
	// Hash makes a hold invoice: whoever has the preimage gives it to Settle.
	// Preimage must be zero.
	Hash [32]byte

	AmountMsat      int64 // 0: the payer chooses
	Description     string
	DescriptionHash *[32]byte     // takes the description's place
	Expiry          time.Duration // 0: an hour
	FinalCLTV       uint64        // blocks; 0: 80
	Private         bool          // behind an unannounced channel: the invoice has a route hint
	Timestamp       time.Time     // zero: now
}

// invoice is what a node knows of one that it made.
type invoice struct {
	text      string
	hash      [32]byte
	preimage  *[32]byte // nil for hold invoices
	amount    int64     // msat, 0: any
	expiresAt time.Time
	finalCLTV uint64
	state     InvoiceState
	held      *htlc
}

// NewInvoice makes an invoice and remembers it. A node makes one invoice for a
// payment hash.
func (d *Node) NewInvoice(o InvoiceOptions) (string, error) {
	inv := &invoice{hash: o.Hash, amount: o.AmountMsat, finalCLTV: o.FinalCLTV}
	if o.Hash == ([32]byte{}) {
		inv.hash, inv.preimage = sha256.Sum256(o.Preimage[:]), &o.Preimage
	} else if o.Preimage != ([32]byte{}) {
		return "", errors.New("an invoice is made of a preimage or of a hash")
	}
	if inv.finalCLTV == 0 {
		inv.finalCLTV = 80
	}
	if o.Expiry == 0 {
		o.Expiry = time.Hour
	}
	at := o.Timestamp
	if at.IsZero() {
		at = d.net.options.Now()
	}
	inv.expiresAt = at.Add(o.Expiry)
	var err error
	if inv.text, err = d.encode(o, inv, at); err != nil {
		return "", fmt.Errorf("invoice: %w", err)
	}
	d.net.mu.Lock()
	defer d.net.mu.Unlock()
	if d.invoices[inv.hash] != nil {
		return "", errors.New("the node has an invoice with this payment hash already")
	}
	d.invoices[inv.hash] = inv
	return inv.text, nil
}

func (d *Node) encode(o InvoiceOptions, inv *invoice, at time.Time) (string, error) {
	secret := sha256.Sum256(append([]byte("payment secret"), inv.hash[:]...))
	parts := []func(*zpay32.Invoice){
		zpay32.CLTVExpiry(inv.finalCLTV), zpay32.Expiry(o.Expiry), zpay32.PaymentAddr(secret),
		zpay32.Features(lnwire.NewFeatureVector(lnwire.NewRawFeatureVector(lnwire.TLVOnionPayloadOptional, lnwire.PaymentAddrRequired), lnwire.Features)),
	}
	if o.AmountMsat != 0 {
		parts = append(parts, zpay32.Amount(lnwire.MilliSatoshi(o.AmountMsat)))
	}
	if o.DescriptionHash != nil {
		parts = append(parts, zpay32.DescriptionHash(*o.DescriptionHash))
	} else {
		parts = append(parts, zpay32.Description(o.Description))
	}
	if o.Private {
		seed := sha256.Sum256([]byte("local lightning node: gateway"))
		_, gateway := btcec.PrivKeyFromBytes(seed[:])
		parts = append(parts, zpay32.RouteHint([]zpay32.HopHint{{NodeID: gateway, ChannelID: 1 << 40, FeeBaseMSat: 1000, FeeProportionalMillionths: 1, CLTVExpiryDelta: 40}}))
	}
	z, err := zpay32.NewInvoice(d.net.options.Bitcoin, inv.hash, at, parts...)
	if err != nil {
		return "", err
	}
	return z.Encode(zpay32.MessageSigner{SignCompact: func(msg []byte) ([]byte, error) {
		return ecdsa.SignCompact(d.key, chainhash.HashB(msg), true), nil
	}})
}

// Invoice returns how an invoice of the node stands; false if it made none with
// that payment hash.
func (d *Node) Invoice(hash [32]byte) (InvoiceState, bool) {
	d.net.mu.Lock()
	defer d.net.mu.Unlock()
	d.net.expire()
	inv := d.invoices[hash]
	if inv == nil {
		return 0, false
	}
	return inv.state, true
}

// Expired reports whether an invoice can no longer be paid: its time has ended and
// nothing has arrived, or it was canceled.
func (d *Node) Expired(hash [32]byte) bool {
	d.net.mu.Lock()
	defer d.net.mu.Unlock()
	inv := d.invoices[hash]
	return inv == nil || inv.state == Canceled || inv.state == Open && d.net.options.Now().After(inv.expiresAt)
}

// HeldUntil returns the Bitcoin height at which a held payment times out; false if
// none is held.
func (d *Node) HeldUntil(hash [32]byte) (height uint32, ok bool) {
	d.net.mu.Lock()
	defer d.net.mu.Unlock()
	if inv := d.invoices[hash]; inv != nil && inv.state == Held {
		return inv.held.expiry, true
	}
	return 0, false
}

// Settle takes the payment that the invoice of a preimage holds. Settling twice is
// no error.
func (d *Node) Settle(preimage [32]byte) error {
	d.net.mu.Lock()
	defer d.net.mu.Unlock()
	d.net.expire()
	inv := d.invoices[sha256.Sum256(preimage[:])]
	switch {
	case inv == nil:
		return errors.New("no invoice has this preimage")
	case inv.state == Settled:
		return nil
	case inv.state != Held:
		return fmt.Errorf("nothing to settle: the invoice is %s", inv.state)
	}
	inv.state = Settled
	d.net.settle(inv.held, preimage)
	return nil
}

// Cancel refuses the payment that an invoice holds, and all later ones. Canceling
// twice is not an error; what is settled stays.
func (d *Node) Cancel(hash [32]byte) error {
	d.net.mu.Lock()
	defer d.net.mu.Unlock()
	inv := d.invoices[hash]
	if inv == nil {
		return errors.New("no invoice has this payment hash")
	}
	switch inv.state {
	case Settled:
		return errors.New("the invoice is paid")
	case Held:
		d.net.fail(inv.held, "refused by the recipient")
	}
	inv.state = Canceled
	return nil
}
