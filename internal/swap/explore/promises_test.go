package explore

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/internal/lp"
	"github.com/swapper-go/swapper/internal/swap"
)

// handsIn is a caller that hands in what nobody asks for: something signed for another
// moment, a second time, or for another swap. It changes nothing: it is refused where
// it could do harm, and otherwise the user's own actions show what comes of it.
func handsIn() action {
	return action{"something is handed in that could only do harm", 0, func(s *sim) bool {
		if s.w.asleep || s.misled() {
			return false
		}
		res, _, err := s.turn(nil, opts{})
		if err != nil {
			s.broken("a pass failed: %v", err)
			return true
		}
		if head, _ := s.head(false); !res.Record.Seen.Reached(head) { // what the chain shows does not count yet
			return false
		}
		for _, name := range []string{swap.ActionInit, swap.ActionRefund, "claim", swap.ActionFund} {
			harm := s.harm(res.Record, name)
			if harm == "" || s.w.liar != 0 && name != swap.ActionFund {
				continue
			}
			sub := swap.Submit{Action: name, Txs: []swap.SignedTx{{Signed: chains.Signed{ID: "unasked", From: owner.String()}}}}
			if name == swap.ActionFund {
				sub.Txs, sub.PSBT = nil, &swap.SignedPSBT{TxID: paymentIDs[1], Tx: rawPayment(1), Posted: []byte{1}}
			}
			in := swap.Decision{R: res.Record, Obs: res.Observation, Input: sub, Now: s.clock(0)}
			if _, move := s.flow.Step(in); move != nil && move.On == swap.OnSubmit {
				s.broken("%s is accepted: %s", name, harm)
			}
		}
		if g := res.Record.Gas; g != nil && g.RefundTo != "" {
			in := swap.Decision{R: res.Record, Obs: res.Observation, Input: swap.RefundTo{Address: "bc1qanother"}, Now: s.clock(0)}
			if next, _ := s.flow.Step(in); next.Gas.RefundTo != g.RefundTo {
				s.broken("the provider was told one address for the refund, and another is taken")
			}
		}
		return false
	}}
}

// harm says what is wrong with a transaction for an action that is handed in now; "" if
// nothing is.
func (s *sim) harm(r *swap.Record, name string) string {
	w := &s.w
	if sub := r.Submission; sub.Open() && len(sub.Txs) > 0 && sub.Txs[0].From == owner.String() && sub.Since == swap.At(s.clock(0)) && name != swap.ActionFund {
		return "another submission was accepted a moment ago"
	}
	switch name {
	case swap.ActionInit:
		switch {
		case r.Escrow == nil || s.flow.Type == swap.FromBTCLNAuto:
			return "the user opens nothing"
		case w.rival && s.flow.Type == swap.ToBTCLN:
			return "another swap pays the same invoice"
		case w.escrow() != chains.EscrowNone:
			return "the escrow is " + w.escrow().String()
		case s.chainTime() > s.authUntil():
			return "the authorisation is over"
		}
	case swap.ActionRefund:
		switch {
		case s.flow.Type != swap.ToBTC && s.flow.Type != swap.ToBTCLN:
			return "there is nothing that the user could take back"
		case w.escrow() != chains.EscrowOpen:
			return "the escrow is " + w.escrow().String()
		}
	case "claim":
		switch s.flow.Type {
		case swap.SPVFromBTC:
			if w.btc.claimed != 0 || w.btc.shut != 0 || w.btc.confirmations(0, w.btc.height) < 2 {
				return "the vault cannot pay"
			}
		case swap.FromBTC, swap.FromBTCLN, swap.FromBTCLNAuto:
			if w.escrow() != chains.EscrowOpen {
				return "the escrow is " + w.escrow().String()
			}
			if s.flow.Type == swap.FromBTC && s.provable() < 0 {
				return "no payment can be proven"
			}
		default:
			return "the user claims nothing"
		}
	case swap.ActionFund:
		switch s.flow.Type {
		case swap.SPVFromBTC:
			if r.Posted() || r.Vault.Deadline.Passed(s.clock(0)) {
				return "a transaction was handed in, or it is too late for one"
			}
		case swap.FromBTC, swap.TrustedFromBTC:
			for _, t := range w.btc.txs {
				if t.state == waiting || t.state == mined {
					return "a payment is on its way"
				}
			}
			if s.flow.Type == swap.FromBTC && w.escrow() != chains.EscrowOpen {
				return "the escrow is " + w.escrow().String()
			}
		default:
			return "the user pays no bitcoin"
		}
	}
	return ""
}

// outInTime holds what only time or the provider may bring to a swap that pays out.
func outInTime(s *sim, was, r *swap.Record) string {
	in := func(states ...int) bool { return slices.Contains(states, r.State) }
	now, w := s.clock(0), &s.w
	head, _ := s.head(false)
	over := expiry().Add(chains.RefundGrace).Unix()
	authorised := w.auth && w.mood == saysRefund
	expired := now.Unix() > over && head.Time > over
	open := w.escrow() == chains.EscrowOpen
	switch {
	case was.State == swap.OutCreated && in(swap.OutSoftExpired) && !was.Expiry.Passed(now):
		return "the quote counts as expired before its time"
	case was.State != swap.OutRefundable && in(swap.OutRefundable) && !expired && !authorised:
		return "a refund is offered, and there is no reason for one"
	case open && authorised && !in(swap.OutRefundable):
		return "the provider has authorised a refund, and none is offered"
	case open && w.paid && w.mood == saysPaid && in(swap.OutCommitted):
		return "the provider has paid and proves it, and the swap does not show it"
	case in(swap.OutCreated) && r.Expiry.Passed(now) && now.Unix() > s.authUntil():
		return "the quote is over, and still counts as good"
	}
	return ""
}

// inInTime holds what only time may bring to a swap that is paid by an invoice.
func inInTime(s *sim, was, r *swap.Record) string {
	now := s.clock(0)
	late := s.expiry().Add(-chains.ClaimGrace).Before(laterOf(now, time.Unix(s.headTime(), 0)))
	switch {
	case was.State == swap.LnCreated && r.State == swap.LnSoftExpired && !was.Expiry.Passed(now):
		return "the invoice counts as expired before its time"
	case was.State == swap.LnPaid && r.State == swap.LnSoftExpired && !was.Expiry.Passed(now):
		return "the authorisation counts as expired before its time"
	case was.State != swap.LnExpired && r.State == swap.LnExpired && r.Escrow.Real == nil && !r.Lightning.EndsAt.Passed(now):
		return "the swap is given up while a payment can arrive"
	case was.State != swap.LnExpired && r.State == swap.LnExpired && r.Escrow.Real != nil && s.flow.Type == swap.FromBTCLN && s.chainTime() <= s.authUntil() && !late:
		return "the swap is given up while its escrow can be opened"
	case r.State == swap.LnCreated && r.Expiry.Passed(now):
		return "the invoice has expired, and still counts as good"
	case r.State == swap.LnPaid && s.flow.Type == swap.FromBTCLN && r.Expiry.Passed(now) && now.Unix() > s.authUntil():
		return "the authorisation has expired, and still counts as good"
	case r.State == swap.LnHTLCExpired && !late:
		return "it counts as too late to claim, and there is time"
	}
	return ""
}

// fromBTCInTime holds what only time may bring to a swap that is paid on Bitcoin.
func fromBTCInTime(s *sim, was, r *swap.Record) string {
	now := s.clock(0)
	late := laterOf(now, time.Unix(s.headTime(), 0)).After(payUntil())
	switch {
	case was.State == swap.InCreated && r.State == swap.InSoftExpired && !was.Expiry.Passed(now):
		return "the quote counts as expired before its time"
	case r.State == swap.InCreated && r.Expiry.Passed(now) && now.Unix() > s.authUntil():
		return "the quote is over, and still counts as good"
	case r.State == swap.InExpired && !late:
		return "it counts as too late to pay, and there is time"
	case r.State == swap.InCommitted && late:
		return "it is too late to pay, and the swap does not show it"
	}
	return ""
}

// spvInTime holds what only time may bring to a swap that a vault pays out.
func spvInTime(s *sim, was, r *swap.Record) string {
	now := s.clock(0)
	over := r.Vault.Deadline.Passed(now)
	if r.State == swap.SPVSoftExpired && was.State != swap.SPVSoftExpired && !over {
		switch was.State {
		case swap.SPVCreated, swap.SPVSigned:
			over = was.Expiry.Passed(now)
		}
		if !over {
			return "the quote counts as expired before its time"
		}
	}
	switch said := r.Tried[string(swap.PostPSBT)].Outcome; {
	case r.State == swap.SPVPosted && said != swap.Done, r.State == swap.SPVDeclined && said != swap.Refused, r.State == swap.SPVSigned && said != "":
		return fmt.Sprintf("the provider's word on the transaction is %q, and the swap is %s", said, row(s.flow, r.State))
	}
	return ""
}

// gasInTime holds what only time, Bitcoin or the provider may bring to a trusted swap.
func gasInTime(s *sim, was, r *swap.Record) string {
	said, err := gasAnswer{answer{s: s}}.LPStatus(context.Background(), lp.StatusQuery{})
	silence := err != nil
	says := func(codes ...int) bool { return !silence && slices.Contains(codes, said.Code) }
	has := says(lp.CodeGasReceived, lp.CodeGasSent, lp.CodeDone)
	nonsense := says(424_242)
	now := s.clock(0)
	if s.flow.Type == swap.TrustedFromBTCLN {
		became := func(state int) bool { return r.State == state && was.State != state }
		open := r.State == swap.TrustedLNCreated || r.State == swap.TrustedLNPaid
		switch {
		case says(lp.CodeGasReceived) && r.State != swap.TrustedLNPaid && r.State != swap.TrustedLNFinished:
			return "the provider has the payment and says so, and the swap does not show it"
		case became(swap.TrustedLNPaid) && was.State != swap.TrustedLNFinished && !has:
			return "the payment counts as arrived, and the provider does not say so"
		case r.State == swap.TrustedLNFailed && says(lp.CodeGasUnpaid) && !r.Expiry.Passed(now):
			return "the invoice can be paid, and counts as failed"
		case became(swap.TrustedLNCreated) && (!says(lp.CodeGasUnpaid) || r.Expiry.Passed(now)):
			return "the invoice counts as payable again without a reason"
		case open && nonsense:
			return "the provider says what means nothing, and the swap goes on"
		case became(swap.TrustedLNExpired) && !(says(lp.CodeExpired) && r.Expiry.Passed(now) || silence && r.Lightning.EndsAt.Passed(now)):
			return "the invoice counts as expired before its time"
		case became(swap.TrustedLNFailed) && !nonsense && !says(lp.CodeExpired) && !(silence && now.Sub(zero) > 14*24*hour):
			return "the swap counts as failed without a reason"
		}
		return ""
	}
	became := func(state int) bool { return r.State == state && was.State != state }
	open := r.State == swap.TrustedBTCCreated || r.State == swap.TrustedBTCRefundable
	paid := s.deposited()
	switch {
	case open && says(lp.CodeGasDoubleSpent):
		return "the provider says that the payment was double-spent, and the swap goes on"
	case open && paid && says(lp.CodeExpired):
		return "the provider says that the paid swap is over, and it goes on"
	case open && nonsense:
		return "the provider says what means nothing, and the swap goes on"
	case became(swap.TrustedBTCFailed) && !nonsense && !says(lp.CodeGasDoubleSpent) && !(paid && says(lp.CodeExpired)) && !(silence && now.Sub(zero) > 14*24*hour):
		return "the swap counts as failed without a reason"
	case r.State == swap.TrustedBTCRefundable && says(lp.CodeExpired):
		return "there is nothing to be returned, and the swap waits for it"
	case became(swap.TrustedBTCExpired) && (paid || !(says(lp.CodeExpired) && (was.State == swap.TrustedBTCRefundable || r.Expiry.Passed(now)) || silence && now.Sub(r.Expiry.Time()) > 24*hour)):
		return "the quote counts as expired without a reason"
	case r.State == swap.TrustedBTCExpired && paid:
		return "a payment can be seen, and the swap counts as unpaid"
	case r.State == swap.TrustedBTCFailed && paid && has:
		return "the provider has the payment, and the swap counts as failed"
	case r.State != swap.TrustedBTCRefundable && r.State != swap.TrustedBTCFinished && r.State != swap.TrustedBTCRefunded && says(lp.CodeGasRefundable):
		return "the provider cannot use the payment, and the swap does not show it"
	}
	return ""
}

func (s *sim) headTime() int64 {
	head, _ := s.head(false)
	return head.Time
}
