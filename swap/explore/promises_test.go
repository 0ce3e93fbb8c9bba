package explore

import (
	"slices"
	"time"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/internal/swapstate"
	"github.com/swapper-go/swapper/swap"
)

// handsIn is a caller that hands in what nobody asks for: something signed for another
// moment, a second time, or for another swap. It changes nothing: it is refused where
// it could do harm, and otherwise the user's own actions show what comes of it.
func handsIn() action {
	return action{"something is handed in that could only do harm", 0, func(s *sim) bool {
		if s.w.asleep {
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
			if harm == "" {
				continue
			}
			sub := swap.Submit{Action: name, Txs: []swap.SignedTx{{Signed: chains.Signed{ID: "unasked", From: owner.String()}}}}
			if name == swap.ActionFund {
				sub.Txs, sub.PSBT = nil, &swap.SignedPSBT{TxID: paymentIDs[1], Tx: rawPayment(1), Posted: []byte{1}}
			}
			in := swap.In{R: res.Record, Obs: res.Observation, Input: sub, Now: s.clock(0)}
			if _, move := s.flow.Step(in); move != nil && move.On == swap.OnSubmit {
				s.broken("%s is accepted: %s", name, harm)
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
	case was.State == swapstate.OutCreated && in(swapstate.OutSoftExpired) && !was.Expiry.Passed(now):
		return "the quote counts as expired before its time"
	case was.State != swapstate.OutRefundable && in(swapstate.OutRefundable) && !expired && !authorised:
		return "a refund is offered, and there is no reason for one"
	case open && authorised && !in(swapstate.OutRefundable):
		return "the provider has authorised a refund, and none is offered"
	case open && w.paid && w.mood == saysPaid && in(swapstate.OutCommitted):
		return "the provider has paid and proves it, and the swap does not show it"
	case in(swapstate.OutCreated) && r.Expiry.Passed(now) && s.chainTime() > s.authUntil():
		return "the quote is over, and still counts as good"
	}
	return ""
}

// inInTime holds what only time may bring to a swap that is paid by an invoice.
func inInTime(s *sim, was, r *swap.Record) string {
	now := s.clock(0)
	late := expiry().Add(-chains.ClaimGrace).Before(laterOf(now, time.Unix(s.headTime(), 0)))
	switch {
	case was.State == swapstate.LnCreated && r.State == swapstate.LnSoftExpired && !was.Expiry.Passed(now):
		return "the invoice counts as expired before its time"
	case was.State == swapstate.LnPaid && r.State == swapstate.LnSoftExpired && !was.Expiry.Passed(now):
		return "the authorisation counts as expired before its time"
	case was.State != swapstate.LnExpired && r.State == swapstate.LnExpired && r.Escrow.Real == nil && !r.Lightning.EndsAt.Passed(now):
		return "the swap is given up while a payment can arrive"
	case was.State != swapstate.LnExpired && r.State == swapstate.LnExpired && r.Escrow.Real != nil && s.flow.Type == swap.FromBTCLN && s.chainTime() <= s.authUntil():
		return "the swap is given up while its escrow can be opened"
	case r.State == swapstate.LnHTLCExpired && !late:
		return "it counts as too late to claim, and there is time"
	}
	return ""
}

// spvInTime holds what only time may bring to a swap that a vault pays out.
func spvInTime(s *sim, was, r *swap.Record) string {
	now := s.clock(0)
	over := r.Vault.Deadline.Passed(now)
	if r.State == swapstate.SPVSoftExpired && was.State != swapstate.SPVSoftExpired && !over {
		switch was.State {
		case swapstate.SPVCreated, swapstate.SPVSigned:
			over = was.Expiry.Passed(now)
		}
		if !over {
			return "the quote counts as expired before its time"
		}
	}
	return ""
}

func (s *sim) headTime() int64 {
	head, _ := s.head(false)
	return head.Time
}
