package lp

import (
	"context"
	"encoding/hex"
	"errors"
	"math/big"
	"time"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/internal/devnet/lightning"
	bolt11 "github.com/swapper-go/swapper/internal/lightning"
)

// auto is a swap from Lightning to the chain whose escrow the LP opens (protocol:
// lp-protocol.md §8.4).
type auto struct {
	paymentHash [32]byte
	side        *side
	terms       chains.Spec // but for the expiry
	tries       int         // that were refused; of the goroutine that follows the chains

	// Under the LP's mutex:
	state    autoState
	swap     chains.Escrow // once it was sent
	deadline int64         // Unix seconds, for the escrow to be open
}

type autoState int

const (
	autoCreated autoState = iota
	autoSent              // the escrow is on its way, or open
	autoSettled
	autoOver
)

// openTime is how long the LP tries to open an escrow, in seconds.
const openTime = 120

func (d *auto) escrow() (*side, chains.Escrow, bool) { return d.side, d.swap, d.state == autoSent }

func (l *LP) quoteAuto(r *reader, early func(object) error) (any, error) {
	s, err := l.side(r)
	if err != nil {
		return nil, err
	}
	hash, err := bolt11.ParseHash(r.str("paymentHash"))
	amount, recipient, token := r.amount("amount"), r.address(s, "address"), r.token(s, "token")
	descriptionHash, hashed := r.optional("descriptionHash")
	exactOut := r.bool("exactOut")
	gasToken, gas := r.token(s, "gasToken"), r.amount("gasAmount")
	if r.err != nil {
		return nil, r.err
	}
	description := s.chain() + "-" + recipient
	if raw, ok := r.already("description"); ok {
		description = (&reader{params: oneParam("d", raw)}).str("d")
	}
	price, ok := s.price(token)
	native, _ := s.price(s.native())
	if chainErr := l.admit(r, s, busy[*auto](l)); chainErr != nil {
		return nil, chainErr
	}
	switch {
	case !s.opens():
		return nil, refuse(20299, "Chain does not support FROM_BTCLN_AUTO")
	case err != nil:
		return nil, badBody("paymentHash")
	case !ok:
		return nil, badBody("token")
	case len(description) > 500:
		return nil, badBody("description")
	case gasToken != s.native():
		return nil, refuse(20290, "Invalid request body (gasToken)")
	}
	if err := early(object{{"lnPublicKey", l.node.ID()}}); err != nil {
		return nil, err
	}
	bounty := r.amount("claimerBounty")
	if r.err != nil {
		return nil, r.err
	}
	q, err := l.terms("FROM_BTCLN_AUTO").receipt(price, !exactOut, amount, &gasRequest{native, add(gas, bounty)}, s.gasMax, l.o.Next)
	if err != nil {
		return nil, err
	}
	if err := covers(r.ctx, s, token, q.total); err != nil {
		return nil, err
	}
	o := lightning.InvoiceOptions{Hash: hash, AmountMsat: add(q.amount, q.gas).Int64() * 1000, Description: description,
		Expiry: invoiceExpiry * time.Second, FinalCLTV: uint64(l.times().heldCLTV) + 5}
	if hashed {
		h, err := bolt11.ParseHash(descriptionHash)
		if err != nil {
			return nil, badBody("descriptionHash")
		}
		o.DescriptionHash = &h
	}
	if lie := l.faults().Invoice; lie != nil {
		lie(&o)
	}
	pr, err := l.node.NewInvoice(o)
	if err != nil {
		return nil, badBody("paymentHash")
	}
	l.keep(&auto{paymentHash: hash, side: s, terms: chains.Spec{Kind: chains.HTLC, Offerer: s.address(), Claimer: recipient, Token: token, Amount: q.total,
		Condition: chains.Condition{Kind: chains.HTLC, PaymentHash: hash}, Sequence: new(big.Int), PayOut: true, SecurityDeposit: add(gas, bounty), ClaimerBounty: bounty}}, hex.EncodeToString(hash[:]))
	return object{{"intermediaryKey", s.address()}, {"pr", pr}, {"btcAmountSwap", q.amount.String()}, {"btcAmountGas", q.gas.String()},
		{"total", q.total.String()}, {"totalGas", gas.String()}, {"totalFeeBtc", add(q.swapFee, q.gasFee).String()},
		{"swapFeeBtc", q.swapFee.String()}, {"swapFee", q.swapFeeTok.String()}, {"gasSwapFeeBtc", q.gasFee.String()}, {"gasSwapFee", q.gasTok.String()},
		{"claimerBounty", bounty.String()}}, nil
}

// oneParam holds a single parameter.
func oneParam(name string, raw []byte) *params {
	p := newParams(false)
	p.values[name], p.ended = raw, true
	return p
}

func (l *LP) autoStatus(r *reader) (object, error) {
	d, ok := l.find(r.str("paymentHash")).(*auto)
	expired := object{{"code", codeExpired}, {"msg", "Invoice expired/canceled"}}
	if r.err != nil {
		return nil, badBody("paymentHash")
	}
	if !ok {
		return expired, nil
	}
	f := l.faults()
	l.mu.Lock()
	at, swap := d.state, d.swap
	l.mu.Unlock()
	switch {
	case at == autoSettled:
		return object{{"code", codeSettled}, {"msg", "Invoice already paid"}}, nil
	case at == autoOver:
		return expired, nil
	case at == autoSent:
		swap, err := f.FalseEscrow.of(d.side, d.terms, swap)
		if err != nil {
			return nil, err
		}
		return object{{"code", codeDone}, {"msg", "Success"}, {"data", object{{"data", swap.Data}}}}, nil
	case l.node.Expired(d.paymentHash):
		return expired, nil
	}
	return object{{"code", codeUnpaid}, {"msg", "Invoice yet unpaid"}}, nil
}

func (d *auto) step(ctx context.Context, l *LP, fact *chains.EscrowFact) (done bool, err error) {
	if fact == nil {
		state, _ := l.node.Invoice(d.paymentHash)
		switch {
		case state == lightning.Held && !l.faults().NeverOpen:
			return false, d.open(ctx, l)
		case l.node.Expired(d.paymentHash):
			return true, l.set(func() { d.state = autoOver })
		}
		return false, nil
	}
	switch fact.State {
	case chains.EscrowClaimed:
		if l.faults().NeverSettle {
			return false, nil
		}
		if len(fact.Result) != 32 {
			return false, errors.New("the claim shows no preimage")
		}
		if err := l.node.Settle([32]byte(fact.Result)); err != nil {
			return false, err
		}
		return true, l.set(func() { d.state = autoSettled })
	case chains.EscrowRefunded: // the payment is left to time out
		return true, l.set(func() { d.state = autoOver })
	case chains.EscrowNone:
		if l.chainTime(fact.Head).Unix() > d.deadline {
			return true, d.cancel(l)
		}
	case chains.EscrowOpen:
		if fact.Head.Time > d.swap.Expiry && !l.faults().NeverRefund {
			return false, d.side.refund(ctx, d.swap, time.Unix(fact.Head.Time, 0))
		}
	}
	return false, nil
}

// openTries is how often the LP tries to open an escrow that a node refuses, before it gives the
// payment back: a nonce or a price may just have changed.
const openTries = 50

// open sends the escrow for a held payment, or gives the payment back. Bitcoin blocks may have come
// since the payment was made, while the LP waited for another swap's transaction: local networks
// mine within moments what takes hours elsewhere. Half of the blocks that a payment must last are
// enough for the escrow.
func (d *auto) open(ctx context.Context, l *LP) error {
	height, _ := l.btc.Tip()
	until, held := l.node.HeldUntil(d.paymentHash)
	funds, err := d.side.funds(ctx, d.terms.Token)
	if err != nil {
		return err
	}
	if !held || checkHeld(height, until, l.times().heldCLTV/2) != nil || funds.Cmp(d.terms.Amount) < 0 {
		return d.cancel(l)
	}
	now := l.now().Unix()
	t := d.terms
	t.Expiry = now + l.times().escrow
	e, err := newEscrow(d.side, t, l.faults().Escrow)
	if err != nil {
		return err
	}
	if err := d.side.open(ctx, e, now+openTime); err != nil {
		if d.tries++; d.tries < openTries {
			return err
		}
		return errors.Join(err, d.cancel(l))
	}
	return l.set(func() { d.state, d.swap, d.terms, d.deadline = autoSent, e, t, now+openTime })
}

func (d *auto) cancel(l *LP) error {
	err := l.node.Cancel(d.paymentHash)
	return errors.Join(err, l.set(func() { d.state = autoOver }))
}
