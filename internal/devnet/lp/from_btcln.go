package lp

import (
	"context"
	"encoding/hex"
	"errors"
	"math/big"
	"sync/atomic"
	"time"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/internal/devnet/lightning"
	"github.com/swapper-go/swapper/internal/devnet/loopback"
	bolt11 "github.com/swapper-go/swapper/internal/lightning"
)

// fromBTCLN is a legacy swap from Lightning to the chain, whose escrow the user
// opens once the LP holds the payment (protocol: lp-protocol.md §8.4).
type fromBTCLN struct {
	side        *side
	paymentHash [32]byte
	terms       chains.Spec // but for the expiry
	feeRate     string

	promising loopback.Mutex          // held while the escrow is built and signed, which happens once
	promised  atomic.Pointer[promise] // nil until then
	since     time.Time               // when the payment was first seen held; of the goroutine that follows the chains

	// Under the LP's mutex:
	state state
}

// promise is an escrow that the user may open.
type promise struct {
	swap chains.Escrow
	auth chains.Auth
}

// unasked is how long a payment is held before the LP makes the authorisation
// without being asked, so that it ends.
const unasked = time.Minute

func (d *fromBTCLN) escrow() (*side, chains.Escrow, bool) {
	if p := d.promised.Load(); p != nil {
		return d.side, p.swap, true
	}
	return d.side, chains.Escrow{}, false
}

func (d *fromBTCLN) underWay() bool {
	return d.promised.Load() != nil && (d.state == saved || d.state == committed)
}

func (l *LP) quoteFromBTCLN(r *reader, early func(object) error) (any, error) {
	s, err := l.legacySide(r)
	if err != nil {
		return nil, err
	}
	hash, badHash := bolt11.ParseHash(r.str("paymentHash"))
	amount, recipient, token := r.amount("amount"), r.address(s, "address"), r.token(s, "token")
	descriptionHash, hashed := r.optional("descriptionHash")
	exactOut := r.bool("exactOut")
	if r.err != nil {
		return nil, r.err
	}
	o := lightning.InvoiceOptions{Hash: hash, Description: s.chain() + "-" + recipient, Expiry: invoiceExpiry * time.Second, FinalCLTV: uint64(l.times().heldCLTV) + 5}
	if raw, ok := r.already("description"); ok {
		o.Description = (&reader{params: oneParam("d", raw)}).str("d")
	}
	price, ok := s.price(token)
	switch {
	case badHash != nil:
		return nil, badBody("paymentHash")
	case !ok:
		return nil, badBody("token")
	case len(o.Description) > 500:
		return nil, badBody("description")
	case l.o.Next && amount.Sign() == 0:
		return nil, badBody("amount")
	}
	if hashed {
		h, err := bolt11.ParseHash(descriptionHash)
		if err != nil {
			return nil, badBody("descriptionHash")
		}
		o.DescriptionHash = &h
	}
	if err := l.admit(r, s, busy[*fromBTCLN](l)); err != nil {
		return nil, err
	}
	if err := early(object{{"lnPublicKey", l.node.ID()}}); err != nil {
		return nil, err
	}
	feeRate, err := r.feeRate()
	if err != nil {
		return nil, err
	}
	q, err := l.terms("FROM_BTCLN").receipt(price, !exactOut, amount, nil, nil, l.o.Next)
	if err != nil {
		return nil, err
	}
	if err := covers(r.ctx, s, token, q.total); err != nil {
		return nil, err
	}
	o.AmountMsat = q.amount.Int64() * 1000
	if lie := l.faults().Invoice; lie != nil {
		lie(&o)
	}
	pr, err := l.node.NewInvoice(o)
	if err != nil {
		return nil, badBody("paymentHash")
	}
	deposit := l.securityDeposit(s, q, l.times().escrow)
	l.keep(&fromBTCLN{side: s, paymentHash: hash, feeRate: feeRate, terms: chains.Spec{Kind: chains.HTLC, Offerer: s.address(), Claimer: recipient, Token: token, Amount: q.total,
		Condition: chains.Condition{Kind: chains.HTLC, PaymentHash: hash}, Sequence: new(big.Int), PayOut: true,
		SecurityDeposit: deposit, DepositToken: s.native()}}, hex.EncodeToString(hash[:]))
	return object{{"pr", pr}, {"swapFee", q.swapFeeTok.String()}, {"total", q.total.String()}, {"intermediaryKey", s.address()}, {"securityDeposit", deposit.String()}}, nil
}

// heldStatus is what both status calls say alike; ok is whether a payment is held.
func (l *LP) heldStatus(d *fromBTCLN) (answer object, ok bool) {
	expired := object{{"code", codeExpired}, {"msg", "Invoice expired/canceled"}}
	if d == nil {
		return expired, false
	}
	l.mu.Lock()
	at := d.state
	l.mu.Unlock()
	switch state, _ := l.node.Invoice(d.paymentHash); {
	case at == over, at == refunded:
		return expired, false
	case state == lightning.Settled:
		return object{{"code", codeSettled}, {"msg", "Invoice already paid"}}, false
	case state == lightning.Held:
		return nil, true
	case l.node.Expired(d.paymentHash):
		return expired, false
	}
	return object{{"code", codeUnpaid}, {"msg", "Invoice yet unpaid"}}, false
}

func (l *LP) fromBTCLNStatus(r *reader) (object, error) {
	d, _ := l.find(r.str("paymentHash")).(*fromBTCLN)
	if r.err != nil {
		return nil, badBody("paymentHash")
	}
	answer, held := l.heldStatus(d)
	if held {
		return object{{"code", codeDone}, {"msg", "Success"}}, nil
	}
	return answer, nil
}

// paymentAuth gives the authorisation to open the escrow for a held payment.
func (l *LP) paymentAuth(r *reader) (object, error) {
	d, _ := l.find(r.str("paymentHash")).(*fromBTCLN)
	if r.err != nil {
		return nil, badBody("paymentHash")
	}
	answer, held := l.heldStatus(d)
	switch {
	case !held:
		return answer, nil
	case l.faults().NeverOpen:
		return object{{"code", codeUnpaid}, {"msg", "Invoice yet unpaid"}}, nil
	}
	p, err := d.promise(r.ctx, l)
	if err != nil {
		return nil, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	switch d.state {
	case committed:
		return object{{"code", codeCommitted}, {"msg", "Already committed"}}, nil
	case claimed:
		return object{{"code", codeClaimed}, {"msg", "Already claimed"}}, nil
	}
	return object{{"code", codeDone}, {"msg", "Success"}, {"data", append(object{{"address", d.side.address()}, {"data", p.swap.Data}}, authFields(p.auth)...)}}, nil
}

// promise builds and signs the escrow for a held payment, or gives the payment
// back. What was promised stays.
func (d *fromBTCLN) promise(ctx context.Context, l *LP) (*promise, error) {
	d.promising.Lock()
	defer d.promising.Unlock()
	if p := d.promised.Load(); p != nil {
		return p, nil
	}
	height, _ := l.btc.Tip()
	until, held := l.node.HeldUntil(d.paymentHash)
	if !held {
		return nil, refuse(codeExpired, "Invoice expired/canceled")
	}
	err := checkHeld(height, until, l.times().heldCLTV/2) // as for [auto.open]
	if err == nil {
		if err = covers(ctx, d.side, d.terms.Token, d.terms.Amount); err != nil {
			var refused *refusal
			if !errors.As(err, &refused) {
				return nil, err
			}
			refused.HTTP = 200
		}
	}
	if err != nil {
		return nil, errors.Join(err, d.cancel(l))
	}
	terms := d.terms
	terms.Expiry = l.now().Unix() + l.times().escrow
	e, err := newEscrow(d.side, terms, l.faults().Escrow)
	if err != nil {
		return nil, err
	}
	auth, err := l.authorizeInit(ctx, d.side, e, d.feeRate)
	if err != nil {
		return nil, err
	}
	p := &promise{e, auth}
	d.promised.Store(p)
	return p, nil
}

func (d *fromBTCLN) step(ctx context.Context, l *LP, fact *chains.EscrowFact) (done bool, err error) {
	if fact == nil {
		return d.await(ctx, l)
	}
	p := d.promised.Load()
	switch fact.State {
	case chains.EscrowClaimed:
		_ = l.set(func() { d.state = claimed })
		if l.faults().NeverSettle {
			return false, nil
		}
		if len(fact.Result) != 32 {
			return false, errors.New("the claim shows no preimage")
		}
		return true, l.node.Settle([32]byte(fact.Result))
	case chains.EscrowRefunded:
		return true, errors.Join(l.node.Cancel(d.paymentHash), l.set(func() { d.state = refunded }))
	case chains.EscrowNone:
		if fact.Head.Time > p.auth.Timeout {
			return true, d.cancel(l)
		}
		return false, l.set(func() { d.state = saved })
	}
	_ = l.set(func() { d.state = committed })
	if fact.Head.Time > p.swap.Expiry && !l.faults().NeverRefund {
		return false, d.side.refund(ctx, p.swap, time.Unix(fact.Head.Time, 0))
	}
	return false, nil
}

// await looks for the payment until there is an escrow to look at.
func (d *fromBTCLN) await(ctx context.Context, l *LP) (done bool, err error) {
	switch state, _ := l.node.Invoice(d.paymentHash); {
	case state == lightning.Held && l.faults().NeverOpen:
		return false, nil
	case state == lightning.Held && d.since.IsZero():
		d.since = l.now()
		return false, nil
	case state == lightning.Held && l.now().Sub(d.since) > unasked:
		_, err := d.promise(ctx, l)
		return false, err
	case state != lightning.Held && l.node.Expired(d.paymentHash):
		return true, l.set(func() { d.state = over })
	}
	return false, nil
}

func (d *fromBTCLN) cancel(l *LP) error {
	err := l.node.Cancel(d.paymentHash)
	return errors.Join(err, l.set(func() { d.state = over }))
}
