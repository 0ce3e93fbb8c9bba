package lightning

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"time"

	"github.com/swapper-go/swapper/internal/lightning"
)

// PaymentState is how a payment stands at the node that sent it.
type PaymentState int

const (
	Pending PaymentState = iota // on its way, or held by the recipient
	Succeeded
	Failed
)

func (s PaymentState) String() string { return [...]string{"pending", "succeeded", "failed"}[s] }

// Payment is a payment that a node sent.
type Payment struct {
	State    PaymentState
	Preimage [32]byte // once it has succeeded
	FeeMsat  int64
	Reason   string // why it failed
}

// Limits bound a payment. Zero members do not, except that an invoice without an
// amount needs one.
type Limits struct {
	AmountMsat int64  // of an invoice without an amount
	MaxFeeMsat *int64 // nil: any
	MaxHeight  uint32 // up to which Bitcoin height the HTLC may be locked; 0: any
}

// htlc is a payment on its way from one node to another.
type htlc struct {
	from, to    *Node
	at          *invoice // that holds it; nil if the recipient hangs without it
	amount, fee int64    // msat
	expiry      uint32   // Bitcoin height
	state       PaymentState
	preimage    [32]byte
	reason      string
}

// pollTime is how soon a waiting payment notices that time has moved.
const pollTime = 10 * time.Millisecond

// Pay pays an invoice and waits for the outcome, which is an error unless the
// payment succeeded. When ctx ends first the payment stays under way.
func (d *Node) Pay(ctx context.Context, text string, l Limits) (Payment, error) {
	inv, err := lightning.Decode(text)
	if err != nil {
		return Payment{}, err
	}
	if err := d.Start(text, l); err != nil {
		return Payment{}, err
	}
	p, err := d.Wait(ctx, inv.PaymentHash)
	if err == nil && p.State == Failed {
		err = errors.New(p.Reason)
	}
	return p, err
}

// Start sends a payment. An error means that nothing left the node. A payment hash
// is paid once; after a failure it may be tried again.
func (d *Node) Start(text string, l Limits) error {
	inv, amount, err := d.read(text, l)
	if err != nil {
		return err
	}
	n := d.net
	n.mu.Lock()
	defer n.mu.Unlock()
	n.expire()
	if old := d.payments[inv.PaymentHash]; old != nil && old.state != Failed {
		return fmt.Errorf("an invoice is paid once, and a payment of this one is %s", old.state)
	}
	to := n.nodes[inv.Payee]
	height := n.options.Height() + uint32(inv.MinFinalCLTV)
	fee, err := n.route(to, amount, height, l)
	switch {
	case err != nil:
		return err
	case to == d:
		return errors.New("a node does not pay itself")
	case d.balance < amount+fee:
		return fmt.Errorf("not enough: %d of %d msat", d.balance, amount+fee)
	case n.options.Now().Unix() >= inv.ExpiresAt():
		return errors.New("the invoice has expired")
	}
	h := &htlc{from: d, to: to, amount: amount, fee: fee, expiry: height}
	d.payments[inv.PaymentHash] = h
	d.balance -= amount + fee
	n.arrive(h, inv.PaymentHash, text)
	return nil
}

// read decodes an invoice of this network and says how much is to be paid.
func (d *Node) read(text string, l Limits) (*lightning.Invoice, int64, error) {
	inv, err := lightning.Decode(text)
	if err != nil {
		return nil, 0, err
	}
	if inv.Prefix != d.net.options.Bitcoin.Bech32HRPSegwit {
		return nil, 0, fmt.Errorf("an invoice of another network: %s", inv.Prefix)
	}
	amount := l.AmountMsat
	if inv.AmountMsat != nil {
		amount = *inv.AmountMsat
	}
	if amount <= 0 {
		return nil, 0, errors.New("the invoice has no amount")
	}
	return inv, amount, nil
}

// route returns what it costs to reach a node.
func (n *Net) route(to *Node, amount int64, height uint32, l Limits) (fee int64, err error) {
	if to == nil || to.behaviour.Offline {
		return 0, errors.New("no route to the recipient")
	}
	fee = to.behaviour.FeeBaseMsat + amount/1_000_000*to.behaviour.FeePPM + amount%1_000_000*to.behaviour.FeePPM/1_000_000
	if l.MaxFeeMsat != nil && fee > *l.MaxFeeMsat {
		return fee, fmt.Errorf("no route for a fee of %d msat or less", *l.MaxFeeMsat)
	}
	if l.MaxHeight != 0 && height > l.MaxHeight {
		return fee, fmt.Errorf("no route that ends at height %d or before", l.MaxHeight)
	}
	return fee, nil
}

// arrive is the recipient's part of a payment.
func (n *Net) arrive(h *htlc, hash [32]byte, text string) {
	to := h.to
	inv := to.invoices[hash]
	switch {
	case to.behaviour.Refuse:
		n.fail(h, "refused by the recipient")
	case to.behaviour.Hang:
		n.announce()
	case inv == nil || inv.text != text:
		n.fail(h, "the recipient does not know the invoice")
	case inv.state != Open || n.options.Now().After(inv.expiresAt):
		n.fail(h, "the invoice is not open")
	case inv.preimage != nil:
		inv.state, inv.held = Settled, h
		n.settle(h, *inv.preimage)
	default:
		inv.state, inv.held, h.at = Held, h, inv
		n.announce()
	}
}

// Payment returns the last payment for a payment hash; false if there was none.
func (d *Node) Payment(hash [32]byte) (Payment, bool) {
	d.net.mu.Lock()
	defer d.net.mu.Unlock()
	d.net.expire()
	h := d.payments[hash]
	if h == nil {
		return Payment{}, false
	}
	return Payment{h.state, h.preimage, h.fee, h.reason}, true
}

// Wait waits until a payment that was started has succeeded or failed.
func (d *Node) Wait(ctx context.Context, hash [32]byte) (Payment, error) {
	ticker := time.NewTicker(pollTime)
	defer ticker.Stop()
	for {
		d.net.mu.Lock()
		changed := d.net.changed
		d.net.mu.Unlock()
		p, ok := d.Payment(hash)
		if !ok {
			return Payment{}, errors.New("no payment with this hash was started")
		}
		if p.State != Pending {
			return p, nil
		}
		select {
		case <-ctx.Done():
			return p, ctx.Err()
		case <-changed:
		case <-ticker.C:
		}
	}
}

// Probe is what a node learns of the way to a recipient without paying.
type Probe struct {
	FeeMsat       int64
	ConfidencePPM int64 // millionths; 0: there is no way
}

// Probe asks how an invoice would be paid, with an amount in l how its recipient
// would be paid that much.
func (d *Node) Probe(text string, l Limits) (Probe, error) {
	inv, amount, err := d.read(text, l)
	if err != nil {
		return Probe{}, err
	}
	if l.AmountMsat > 0 {
		amount = l.AmountMsat
	}
	d.net.mu.Lock()
	defer d.net.mu.Unlock()
	fee, err := d.net.route(d.net.nodes[inv.Payee], amount, d.net.options.Height()+uint32(inv.MinFinalCLTV), l)
	if err != nil {
		return Probe{FeeMsat: fee}, nil
	}
	return Probe{fee, 1_000_000}, nil
}

// Preimage returns the preimage that a name stands for, and its payment hash: for
// invoices of tests and examples.
func Preimage(name string) (preimage, hash [32]byte) {
	preimage = sha256.Sum256([]byte("local lightning preimage: " + name))
	return preimage, sha256.Sum256(preimage[:])
}
