package lp

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"math/big"
	"time"

	"github.com/ethereum/go-ethereum/common"

	"github.com/swapper-go/swapper/chains"
	devnet "github.com/swapper-go/swapper/internal/devnet/evm"
	"github.com/swapper-go/swapper/internal/devnet/lightning"
	"github.com/swapper-go/swapper/internal/evm/evmwire"
)

// trustedLN is a trusted gas swap from Lightning (protocol: lp-protocol.md §8.4).
type trustedLN struct {
	preimage, paymentHash [32]byte
	recipient             common.Address
	amount                *big.Int

	// Under the LP's mutex:
	code int
	txID string
}

func (d *trustedLN) escrow() (common.Hash, bool) { return common.Hash{}, false }

func (l *LP) quoteTrustedLN(r *reader) (object, error) {
	recipient, amount := r.address("address"), r.amount("amount")
	token := devnet.Native
	if _, ok := r.already("token"); ok {
		token = r.address("token")
	}
	exactIn, _ := r.query("exactIn")
	if r.err != nil {
		return nil, badBody("")
	}
	if err := l.admit(r, busy[*trustedLN](l)); err != nil {
		return nil, err
	}
	price, _ := l.price(devnet.Native)
	if token != devnet.Native {
		return nil, badBody("token")
	}
	q, err := l.terms("FROM_BTCLN_TRUSTED").receipt(price, exactIn == "true", amount, nil, nil, l.o.Next)
	if err != nil {
		return nil, err
	}
	d := &trustedLN{recipient: recipient, amount: q.total, code: codeGasUnpaid}
	_, _ = rand.Read(d.preimage[:]) // never fails
	d.paymentHash = sha256.Sum256(d.preimage[:])
	o := lightning.InvoiceOptions{Hash: d.paymentHash, AmountMsat: q.amount.Int64() * 1000, Expiry: invoiceExpiry * time.Second,
		FinalCLTV: invoiceCLTV, Description: l.evm.Network().Chain + "-GAS-" + recipient.Hex()}
	if lie := l.faults().Invoice; lie != nil {
		lie(&o)
	}
	pr, err := l.node.NewInvoice(o)
	if err != nil {
		return nil, err
	}
	l.keep(d, hex.EncodeToString(d.paymentHash[:]))
	return object{{"code", codeDone}, {"msg", "Success"}, {"data", object{{"pr", pr}, {"swapFee", q.swapFeeTok.String()}, {"swapFeeSats", q.swapFee.String()},
		{"total", q.total.String()}, {"amountSats", q.amount.String()}, {"intermediaryKey", l.account.Address.Hex()}}}}, nil
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

func (d *trustedLN) step(ctx context.Context, l *LP, _ *chains.EscrowFact) (done bool, err error) {
	state, _ := l.node.Invoice(d.paymentHash)
	switch {
	case state == lightning.Held && !l.faults().NeverPay:
		_ = l.set(func() { d.code = codeGasHeld })
		call, err := evmwire.Transfer(devnet.Native, d.recipient, d.amount)
		if err != nil {
			return true, err
		}
		receipt, err := l.account.Send(ctx, call)
		if err != nil {
			return true, errors.Join(err, l.node.Cancel(d.paymentHash), l.set(func() { d.code = codeExpired }))
		}
		_ = l.set(func() { d.code, d.txID = codeGasSent, receipt.TxHash.Hex() })
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
