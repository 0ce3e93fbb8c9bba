package lp

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"math/big"
	"time"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/internal/devnet/lightning"
)

// trustedLN is a trusted gas swap from Lightning (protocol: lp-protocol.md §8.4).
type trustedLN struct {
	preimage, paymentHash [32]byte
	side                  *side
	recipient             string
	amount                *big.Int

	// Under the LP's mutex:
	code int
	txID string
}

func (d *trustedLN) escrow() (*side, chains.Escrow, bool) { return d.side, chains.Escrow{}, false }

func (l *LP) quoteTrustedLN(r *reader) (object, error) {
	s, err := l.side(r)
	if err != nil {
		return nil, err
	}
	recipient, amount := r.address(s, "address"), r.amount("amount")
	token := s.native()
	if _, ok := r.already("token"); ok {
		token = r.token(s, "token")
	}
	exactIn, _ := r.query("exactIn")
	if r.err != nil {
		return nil, badBody("")
	}
	if err := l.admit(r, s, busy[*trustedLN](l)); err != nil {
		return nil, err
	}
	price, _ := s.price(s.native())
	if token != s.native() {
		return nil, badBody("token")
	}
	q, err := l.terms("FROM_BTCLN_TRUSTED").receipt(price, exactIn == "true", amount, nil, nil, l.o.Next)
	if err != nil {
		return nil, err
	}
	d := &trustedLN{side: s, recipient: recipient, amount: q.total, code: codeGasUnpaid}
	_, _ = rand.Read(d.preimage[:]) // never fails
	d.paymentHash = sha256.Sum256(d.preimage[:])
	o := lightning.InvoiceOptions{Hash: d.paymentHash, AmountMsat: q.amount.Int64() * 1000, Expiry: invoiceExpiry * time.Second,
		FinalCLTV: invoiceCLTV, Description: s.chain() + "-GAS-" + recipient}
	if lie := l.faults().Invoice; lie != nil {
		lie(&o)
	}
	pr, err := l.node.NewInvoice(o)
	if err != nil {
		return nil, err
	}
	l.keep(d, hex.EncodeToString(d.paymentHash[:]))
	return object{{"code", codeDone}, {"msg", "Success"}, {"data", object{{"pr", pr}, {"swapFee", q.swapFeeTok.String()}, {"swapFeeSats", q.swapFee.String()},
		{"total", q.total.String()}, {"amountSats", q.amount.String()}, {"intermediaryKey", s.address()}}}}, nil
}

func (l *LP) trustedLNStatus(r *reader) (object, error) {
	d, ok := l.find(r.str("paymentHash")).(*trustedLN)
	if r.err != nil {
		return nil, badBody("paymentHash")
	}
	if !ok {
		return object{{"code", codeExpired}, {"msg", "Invoice expired/canceled"}}, nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	answer := object{{"code", d.code}, {"msg", map[int]string{codeGasUnpaid: "Awaiting payment", codeGasHeld: "Payment received, processing",
		codeGasSent: "Payout sent", codeDone: "Success", codeExpired: "Invoice expired/canceled"}[d.code]}}
	if d.txID != "" {
		answer = append(answer, member{"data", object{{"txId", d.txID}}})
	}
	return answer, nil
}

// payoutTime is how long a payout of gas may take. A pass may have many of them, and one
// that is cut short may have been sent all the same.
const payoutTime = 30 * time.Second

func (l *LP) payOut(s *side, to string, amount *big.Int) (txID string, err error) {
	ctx, cancel := context.WithTimeout(l.running, payoutTime)
	defer cancel()
	return s.pay(ctx, to, amount)
}

func (d *trustedLN) step(_ context.Context, l *LP, _ *chains.EscrowFact) (done bool, err error) {
	state, _ := l.node.Invoice(d.paymentHash)
	switch {
	case state == lightning.Held && !l.faults().NeverPay:
		_ = l.set(func() { d.code = codeGasHeld })
		id, err := l.payOut(d.side, d.recipient, d.amount)
		if err != nil {
			return true, errors.Join(err, l.node.Cancel(d.paymentHash), l.set(func() { d.code = codeExpired }))
		}
		_ = l.set(func() { d.code, d.txID = codeGasSent, id })
		if err := l.node.Settle(d.preimage); err != nil {
			return true, err
		}
		return true, l.set(func() { d.code = codeDone })
	case state == lightning.Held:
		return false, l.set(func() { d.code = codeGasHeld })
	case l.node.Expired(d.paymentHash):
		return true, l.set(func() { d.code = codeExpired })
	}
	return false, nil
}
