package lp

import (
	"encoding/hex"
	"strings"

	"github.com/swapper-go/swapper/chains"
)

// refundable is a swap whose escrow the user may get back early.
type refundable interface {
	deal
	refundable()
}

// Codes of status answers (protocol: lp-protocol.md §4.2).
const (
	codeDone       = 10000
	codeExpired    = 10001
	codeSettled    = 10002
	codeUnpaid     = 10003
	codeCommitted  = 10004
	codeClaimed    = 10005
	codeGasUnpaid  = 10010
	codeGasHeld    = 10011
	codeGasSent    = 10012
	codeSuccess    = 20000
	codePaid       = 20006
	codeNotFound   = 20007
	codeProcessing = 20008
	codeTooLate    = 20010

	// Of gas for an on-chain payment alone.
	codeGasPending     = 10013
	codeGasRefunded    = 10014
	codeGasDoubleSpent = 10015
	codeGasRefundable  = 10016
	codeRefundIsSet    = 10080
)

// refundAuthorization answers how a payment stands, and with an authorisation to
// take the escrow back exactly when the LP will never pay (protocol:
// lp-protocol.md §5.4).
func (l *LP) refundAuthorization(r *reader) (object, error) {
	hash := strings.ToLower(r.str("paymentHash"))
	number := r.big("sequence")
	if r.err != nil {
		return nil, badBody("paymentHash/sequence")
	}
	if number.Sign() < 0 || number.BitLen() > 64 {
		return nil, refuse(20060, "Invalid sequence")
	}
	f := l.faults()
	d := l.find(hash + "/" + number.String())
	l.mu.Lock()
	var at state
	answer := object{{"code", codeProcessing}, {"msg", "Payment processing"}}
	paid := func(field, value string) object {
		return object{{"code", codePaid}, {"msg", "Already paid"}, {"data", object{{field, value}}}}
	}
	var swap refundable
	switch d := d.(type) {
	case *toBTC:
		at, swap = d.state, d
		if d.tx != nil {
			answer = paid("txId", d.tx.TxHash().String())
		} else if f.FalsePayment {
			answer = paid("txId", strings.Repeat("ab", 32))
		}
	case *toBTCLN:
		at, swap = d.state, d
		if d.state == sent || d.state == claimed {
			answer = paid("secret", hex.EncodeToString(d.preimage[:]))
		} else if f.FalsePayment {
			answer = paid("secret", strings.Repeat("ab", 32))
		}
	}
	l.mu.Unlock()
	if swap == nil {
		return object{{"code", codeNotFound}, {"msg", "Payment not found"}}, nil
	}
	s, e, _ := swap.escrow()
	switch {
	case at == saved && !f.FalsePayment, at == over:
		return object{{"code", codeNotFound}, {"msg", "Payment not found"}}, nil
	case e.Expiry < l.now().Unix() && at != claimed && at != refunded:
		return nil, &refusal{Code: codeTooLate, Msg: "Payment expired", HTTP: 200}
	case at == nonPayable && f.NoRefund:
		return object{{"code", codeProcessing}, {"msg", "Payment processing"}}, nil
	case at != nonPayable:
		return answer, nil
	}
	facts, err := s.facts(r.ctx, []chains.Escrow{e}, s.head())
	if err != nil {
		return nil, err
	}
	if facts[factKey(e)].State != chains.EscrowOpen {
		return nil, refuse(20005, "Not committed")
	}
	auth, err := l.authorizeRefund(s, e)
	if err != nil {
		return nil, err
	}
	return object{{"code", codeSuccess}, {"msg", "Success"}, {"data", append(object{{"address", s.address()}}, authFields(auth)...)}}, nil
}
