package lp

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"math/big"
	"time"

	"github.com/btcsuite/btcd/wire"

	"github.com/swapper-go/swapper/chains"
	btc "github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/internal/devnet/bitcoin"
)

// trustedBTCTime is how long the payment of a trusted gas swap may come.
const trustedBTCTime = 3 * time.Hour

// refundFee is what sending back a payment costs, in sats.
const refundFee = 500

// trustedBTC is a trusted gas swap from Bitcoin (protocol:
// lp-protocol.md §8.4). A payment counts once it is confirmed.
type trustedBTC struct {
	wallet      *bitcoin.Wallet // whose address is paid to
	hash        string
	sequence    *big.Int
	side        *side
	recipient   string
	sats, total *big.Int // agreed
	expiry      time.Time

	// Under the LP's mutex:
	code     int
	payment  *wire.MsgTx
	received int64
	paid     *big.Int // base units for what was received
	payout   string
	refundTo btc.Address
	refund   string
}

func (d *trustedBTC) escrow() (*side, chains.Escrow, bool) { return d.side, chains.Escrow{}, false }

func (l *LP) quoteTrustedBTC(r *reader) (object, error) {
	s, err := l.side(r)
	if err != nil {
		return nil, err
	}
	recipient, amount, token := r.address(s, "address"), r.amount("amount"), s.native()
	if _, ok := r.already("token"); ok {
		token = r.token(s, "token")
	}
	exactIn, _ := r.query("exactIn")
	if r.err != nil || token != s.native() {
		return nil, badBody("")
	}
	price, _ := s.price(s.native())
	q, err := l.terms("FROM_BTC_TRUSTED").receipt(price, exactIn == "true", amount, nil, nil, l.o.Next)
	if err != nil {
		return nil, err
	}
	d := &trustedBTC{side: s, recipient: recipient, sats: q.amount, total: q.total, sequence: sequence(), expiry: l.now().Add(trustedBTCTime), code: codeGasUnpaid}
	if text, ok := r.query("refundAddress"); ok {
		if d.refundTo, err = btc.ParseAddress(text, l.btc.Network()); err != nil {
			return nil, badBody("refundAddress")
		}
	}
	if d.wallet, err = l.purse(); err != nil {
		return nil, err
	}
	address := d.wallet.Address.String()
	sum := sha256.Sum256([]byte(address))
	d.hash = hex.EncodeToString(sum[:])
	l.keep(d, dealKey(sum[:], d.sequence))
	l.mu.Lock()
	rate := l.feeRate
	l.mu.Unlock()
	return object{{"code", codeDone}, {"msg", "Success"}, {"data", object{{"paymentHash", d.hash}, {"sequence", d.sequence.String()}, {"btcAddress", address},
		{"amountSats", q.amount.String()}, {"swapFeeSats", q.swapFee.String()}, {"swapFee", q.swapFeeTok.String()}, {"total", q.total.String()},
		{"intermediaryKey", s.address()}, {"recommendedFee", rate}, {"expiresAt", d.expiry.UnixMilli()}}}}, nil
}

func (l *LP) findTrustedBTC(r *reader) (*trustedBTC, bool) {
	hash, sequence := r.str("paymentHash"), r.big("sequence")
	if r.err != nil {
		return nil, false
	}
	d, ok := l.find(hash + "/" + sequence.String()).(*trustedBTC)
	return d, ok
}

func (l *LP) trustedBTCStatus(r *reader) (object, error) {
	d, ok := l.findTrustedBTC(r)
	if !ok {
		return object{{"code", codeExpired}, {"msg", "Payment address expired"}}, nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	var data object
	received := func() {
		data = object{{"adjustedAmount", bigInt(d.received).String()}, {"adjustedTotal", d.paid.String()}, {"txId", d.payment.TxHash().String()}}
	}
	text := ""
	switch d.code {
	case codeGasUnpaid:
		text = "Awaiting payment"
	case codeGasHeld:
		text = "Awaiting confirmation"
		received()
	case codeGasPending:
		text = "Payment accepted, payout pending"
		received()
	case codeGasSent, codeDone:
		text = "Payout sent"
		received()
		data = append(data, member{"scTxId", d.payout})
	case codeGasRefundable:
		text = "Refundable"
		data = object{{"adjustedAmount", bigInt(d.received).String()}}
	case codeGasRefunded:
		text = "Refunded"
		data = object{{"txId", d.refund}}
	case codeGasDoubleSpent:
		text = "Double spend detected"
		data = object{{"txId", nil}}
	case codeExpired:
		text = "Payment address expired"
	}
	answer := object{{"code", d.code}, {"msg", text}}
	if data != nil {
		answer = append(answer, member{"data", data})
	}
	return answer, nil
}

func (l *LP) setTrustedBTCRefund(r *reader) (object, error) {
	to, err := btc.ParseAddress(r.str("refundAddress"), l.btc.Network())
	if err != nil {
		return nil, badBody("refundAddress")
	}
	d, ok := l.findTrustedBTC(r)
	if !ok || l.o.Next { // whose newer version finds none
		return nil, refuse(codeExpired, "Swap not found")
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if !d.refundTo.IsZero() {
		return nil, &refusal{Code: codeRefundIsSet, Msg: "Refund address already set", Data: object{{"refundAddress", d.refundTo.String()}}}
	}
	d.refundTo = to
	return object{{"code", codeDone}, {"msg", "Success"}}, nil
}

// step looks at the address. A swap that ended without a payment is looked at
// further, so that who pays late gets the money back.
func (d *trustedBTC) step(_ context.Context, l *LP, _ *chains.EscrowFact) (done bool, err error) {
	l.mu.Lock()
	at, refundTo := d.code, d.refundTo
	l.mu.Unlock()
	switch at {
	case codeGasUnpaid, codeExpired, codeGasHeld:
		d.look(l, at)
		return false, nil
	case codeGasPending:
		return false, d.pay(l)
	case codeGasSent:
		return true, l.set(func() { d.code = codeDone })
	case codeGasRefundable:
		if refundTo.IsZero() || l.faults().NoRefund {
			return false, nil
		}
		return d.sendBack(l, refundTo)
	}
	return true, nil
}

// look notes what arrived, and whether it can be used: in time and within limits.
func (d *trustedBTC) look(l *LP, at int) {
	coins := d.wallet.Coins()
	if len(coins) == 0 {
		d.miss(l, at)
		return
	}
	c := coins[0]
	tx, ok := l.btc.Tx(c.Hash)
	if !ok {
		return
	}
	paid := new(big.Int).Mul(d.total, bigInt(c.Value))
	paid.Quo(paid, d.sats)
	t := l.terms("FROM_BTC_TRUSTED")
	_, outside := t.outside(bigInt(c.Value))
	code := codeGasHeld
	switch late := at == codeExpired || at == codeGasUnpaid && l.now().After(d.expiry); {
	case late || outside:
		code = codeGasRefundable
	case c.Height > 0:
		code = codeGasPending
	}
	if code == codeGasRefundable && c.Height == 0 {
		return // nothing to send back yet
	}
	_ = l.set(func() { d.code, d.payment, d.received, d.paid = code, tx, c.Value, paid })
}

// miss notes that nothing is there: not yet, not in time, or not any more.
func (d *trustedBTC) miss(l *LP, at int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case at == codeGasHeld:
		d.code = codeGasUnpaid
		for _, in := range d.payment.TxIn {
			if _, unspent := l.btc.Unspent(in.PreviousOutPoint); !unspent {
				d.code = codeGasDoubleSpent
			}
		}
	case at == codeGasUnpaid && l.o.Now().After(d.expiry):
		d.code = codeExpired
	}
}

func (d *trustedBTC) pay(l *LP) error {
	if l.faults().NeverPay {
		return nil
	}
	l.mu.Lock()
	paid := d.paid
	l.mu.Unlock()
	id, err := l.payOut(d.side, d.recipient, paid)
	if err != nil {
		return errors.Join(err, l.set(func() { d.code = codeGasRefundable }))
	}
	return l.set(func() { d.code, d.payout = codeGasSent, id })
}

// sendBack returns what arrived, less the costs.
func (d *trustedBTC) sendBack(l *LP, to btc.Address) (done bool, err error) {
	var all []btc.OutPoint
	var sum int64
	for _, c := range d.wallet.Coins() {
		if c.Height > 0 {
			all = append(all, c.OutPoint)
			sum += c.Value
		}
	}
	if sum <= refundFee {
		return true, errors.New("the payment is too small to be sent back")
	}
	tx, err := d.wallet.Spend(1, all, wire.NewTxOut(sum-refundFee, to.Script()))
	if err != nil {
		return false, err
	}
	id, err := l.btc.Send(tx)
	if err != nil {
		return false, err
	}
	return true, l.set(func() { d.code, d.refund = codeGasRefunded, id.String() })
}
