package lp

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"math"
	"math/big"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/internal/devnet/lightning"
	bolt11 "github.com/swapper-go/swapper/internal/lightning"
)

// toBTCLN is a swap from the chain to Lightning (protocol: lp-protocol.md §8.4).
type toBTCLN struct {
	outward
	text    string
	invoice *bolt11.Invoice
	maxFee  int64 // sats

	preimage [32]byte // under the LP's mutex
}

// lnRequest is what a client wants to be paid over Lightning.
type lnRequest struct {
	side           *side
	text           string
	invoice        *bolt11.Invoice
	token, offerer string
	price          Price
	maxFee         int64 // sats
	expiry         int64 // of the escrow, Unix seconds
}

// prepared is the first step of an exact input.
type prepared struct {
	lnRequest
	q          payout
	confidence int64
	until      int64 // Unix seconds
}

// exactInTime is how long the second step may take, in seconds.
const exactInTime = 10

func (l *LP) quoteToBTCLN(r *reader, early func(object) error) (any, error) {
	s, err := l.side(r)
	if err != nil {
		return nil, err
	}
	q := lnRequest{side: s, text: r.str("pr")}
	maxFee := r.amount("maxFee")
	q.expiry = r.unix("expiryTimestamp")
	q.token, q.offerer = r.token(s, "token"), r.address(s, "offerer")
	exactIn := r.bool("exactIn")
	amount := new(big.Int)
	if raw := r.get("amount"); !isNull(raw) {
		amount = r.amount("amount")
	}
	if r.err != nil {
		return nil, r.err
	}
	if err := l.admit(r, s, busy[*toBTCLN](l)); err != nil {
		return nil, err
	}
	var ok bool
	if q.price, ok = s.price(q.token); !ok {
		return nil, badBody("token")
	}
	if exactIn {
		maxFee = q.price.toBTC(maxFee, false)
	}
	if maxFee.Sign() <= 0 || !maxFee.IsInt64() {
		return nil, refuse(20030, "Invalid request body (maxFee too low)")
	}
	q.maxFee = maxFee.Int64()
	if err := l.readInvoice(&q); err != nil {
		return nil, err
	}
	if q.expiry-l.now().Unix() < l.times().send {
		return nil, refuse(20001, "Expiry time too low!")
	}
	if exactIn {
		if amount.Sign() == 0 {
			return nil, refuse(20040, "Invalid request body (amount not specified)")
		}
		return l.prepare(r, q, amount, early)
	}
	if err := foretell(r, s, early); err != nil {
		return nil, err
	}
	feeRate, err := r.feeRate()
	if err != nil {
		return nil, err
	}
	sats, _ := q.invoice.AmountSats()
	terms, confidence, err := l.lightningTerms(q, false, bigInt(sats))
	if err != nil {
		return nil, err
	}
	return l.promise(r, q, terms, confidence, feeRate)
}

// readInvoice decodes the invoice of a request.
func (l *LP) readInvoice(q *lnRequest) error {
	var err error
	if q.invoice, err = bolt11.Decode(q.text); err != nil || q.invoice.RequireNetwork(l.btc.Network()) != nil {
		return refuse(20021, "Invalid request body (pr - cannot be parsed)")
	}
	if sats, ok := q.invoice.AmountSats(); !ok || sats == 0 {
		return refuse(20022, "Invalid request body (pr - needs to have amount)")
	}
	if q.invoice.ExpiresAt() < l.now().Unix()+authTimeout+120 {
		return refuse(20020, "Invoice already expired or expires too soon")
	}
	return nil
}

// lightningTerms computes a quote, with a probe of the way to the recipient.
func (l *LP) lightningTerms(q lnRequest, exactIn bool, amount *big.Int) (p payout, confidence int64, err error) {
	limits := l.limits(q)
	p, err = l.terms("TO_BTCLN").payout(q.price, exactIn, amount, func(sats *big.Int) (*big.Int, error) {
		if exactIn {
			limits.AmountMsat = msat(sats.Int64())
		}
		probe, err := l.node.Probe(q.text, limits)
		if err != nil || probe.ConfidencePPM == 0 {
			return nil, refuse(20002, "Cannot route to the destination")
		}
		fee, sure := routingFee(sats.Int64(), q.maxFee, probe.FeeMsat, probe.ConfidencePPM)
		confidence = sure
		return bigInt(fee), nil
	})
	return p, confidence, err
}

// limits bound the payment of a request.
func (l *LP) limits(q lnRequest) lightning.Limits {
	maxFee := msat(q.maxFee)
	height, _ := l.btc.Tip()
	return lightning.Limits{MaxFeeMsat: &maxFee, MaxHeight: height + uint32(min(max(usableCLTV(q.expiry-l.now().Unix()), 1), 1<<20))}
}

// msat converts sats to millisatoshis, as many as there can be.
func msat(sats int64) int64 { return min(sats, math.MaxInt64/1000) * 1000 }

// prepare answers the first step of an exact input: what the invoice must be for.
func (l *LP) prepare(r *reader, q lnRequest, amount *big.Int, early func(object) error) (any, error) {
	if err := foretell(r, q.side, early); err != nil {
		return nil, err
	}
	p, confidence, err := l.lightningTerms(q, true, amount)
	if err != nil {
		return nil, err
	}
	id := newID(sequence().Bytes(), sequence().Bytes())
	key := hex.EncodeToString(id[:])
	l.mu.Lock()
	defer l.mu.Unlock()
	l.prepared[key] = prepared{q, p, confidence, l.o.Now().Unix() + exactInTime}
	return object{{"amount", p.amount.String()}, {"reqId", key}}, nil
}

func (l *LP) quoteToBTCLNExactIn(r *reader, _ func(object) error) (any, error) {
	text, id := r.str("pr"), r.str("reqId")
	if r.err != nil {
		return nil, r.err
	}
	feeRate, err := r.feeRate()
	if err != nil {
		return nil, err
	}
	l.mu.Lock()
	p, ok := l.prepared[id]
	delete(l.prepared, id) // used up, even if it fails
	l.mu.Unlock()
	if !ok {
		return nil, refuse(20070, "Invalid reqId")
	}
	if p.until < l.now().Unix() {
		return nil, refuse(20200, "Authorization already expired!")
	}
	p.text = text
	if err := l.readInvoice(&p.lnRequest); err != nil {
		return nil, err
	}
	if msat := p.invoice.AmountMsat; *msat != p.q.amount.Int64()*1000 {
		return nil, refuse(20102, "Provided PR doesn't match requested amount!")
	}
	return l.promise(r, p.lnRequest, p.q, p.confidence, feeRate)
}

// promise makes the escrow and the answer of both kinds of quotes.
func (l *LP) promise(r *reader, q lnRequest, p payout, confidence int64, feeRate string) (any, error) {
	d := &toBTCLN{outward: outward{side: q.side}, text: q.text, invoice: q.invoice, maxFee: p.netFee.Int64()}
	if old, ok := l.node.Payment(q.invoice.PaymentHash); ok && old.State != lightning.Failed {
		return nil, refuse(20010, "Already processed")
	}
	if msat := p.amount.Int64() * 1000; l.node.BalanceMsat() < msat+p.netFee.Int64()*1000 {
		return nil, refuse(20002, "Not enough liquidity")
	}
	var err error
	d.swap, err = newEscrow(q.side, chains.Spec{Kind: chains.HTLC, Offerer: q.offerer, Claimer: q.side.address(), Token: q.token, Amount: p.all,
		Condition: chains.Condition{Kind: chains.HTLC, PaymentHash: q.invoice.PaymentHash}, Sequence: sequence(), Expiry: q.expiry, PayIn: true}, l.faults().Escrow)
	if err != nil {
		return nil, err
	}
	if d.auth, err = l.authorizeInit(r.ctx, q.side, d.swap, feeRate); err != nil {
		return nil, err
	}
	l.keep(d, dealKey(q.invoice.PaymentHash[:], d.swap.Sequence), dealKey(d.swap.Hash, d.swap.Sequence))
	return append(object{{"maxFee", p.netTok.String()}, {"swapFee", p.swapFeeTok.String()}, {"total", p.all.String()},
		{"confidence", float64(confidence) / 1e6}, {"address", q.side.address()}, {"routingFeeSats", p.netFee.String()},
		{"data", d.swap.Data}}, authFields(d.auth)...), nil
}

func (d *toBTCLN) step(ctx context.Context, l *LP, fact *chains.EscrowFact) (done bool, err error) {
	at, done := d.follow(l, fact)
	if fact.State != chains.EscrowOpen {
		return done, nil
	}
	switch at {
	case saved, committed:
		return false, d.pay(l)
	case sending:
		return false, d.look(l)
	case sent:
		if l.faults().NeverClaim {
			return false, nil
		}
		return false, d.side.claimSecret(ctx, d.swap, d.preimage)
	}
	return at == nonPayable && fact.Head.Time > d.swap.Expiry, nil
}

// pay sends the payment for an open escrow, or decides never to.
func (d *toBTCLN) pay(l *LP) error {
	f, now := l.faults(), l.now().Unix()
	switch {
	case f.NeverPay:
		return l.set(func() { d.state = committed })
	case f.NotPayable, d.swap.Expiry-now < sendTime, d.invoice.ExpiresAt() <= now:
		return l.set(func() { d.state = nonPayable })
	}
	_ = l.set(func() { d.state = sending }) // from here on no refund is given
	limits := l.limits(lnRequest{maxFee: d.maxFee, expiry: d.swap.Expiry})
	if err := l.node.Start(d.text, limits); err != nil {
		return l.set(func() { d.state = nonPayable })
	}
	return d.look(l)
}

// look asks the node what became of the payment.
func (d *toBTCLN) look(l *LP) error {
	p, ok := l.node.Payment(d.invoice.PaymentHash)
	switch {
	case !ok || p.State == lightning.Failed:
		return l.set(func() { d.state = nonPayable })
	case p.State == lightning.Succeeded && sha256.Sum256(p.Preimage[:]) == d.invoice.PaymentHash:
		return l.set(func() { d.state, d.preimage = sent, p.Preimage })
	}
	return nil
}
