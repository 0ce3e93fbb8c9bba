package explore

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/internal/engine"
	"github.com/swapper-go/swapper/internal/swap"
)

// FROM_BTC: the user opens an escrow of the provider's tokens, pays bitcoin, and anybody
// claims the escrow for the user by the proof of that.

type fromBTCAnswer struct{ answer }

func (a fromBTCAnswer) Payout(context.Context, string, string, swap.PayoutAsk) (swap.PayoutFact, error) {
	return swap.PayoutFact{}, errSilent // swaps that were made here know their address
}

// paid is which payment can be proven, -1 if none.
func (s *sim) provable() int {
	for i := range s.w.btc.txs {
		if s.w.btc.confirmations(i, s.w.btc.height) >= 2 {
			return i
		}
	}
	return -1
}

func (s *sim) deposited() bool {
	return slices.ContainsFunc(s.w.btc.txs[:], func(t btx) bool { return t.state == mined || t.state == waiting })
}

// payUntil is until when a payment is in time: 14 blocks of twenty minutes before the
// provider may take the escrow back.
func payUntil() time.Time { return expiry().Add(-14 * 20 * time.Minute) }

func fromBTCStory() *story {
	const authFor = 10 * time.Minute
	st := &story{
		name: swap.FromBTC.String(), flow: flowOf(swap.FromBTC), authFor: authFor,
		moments: []time.Duration{0, 4 * time.Minute, 12 * time.Minute, 5 * hour, 7*hour + 30*time.Minute, 12*hour - 5*time.Minute, 12*hour + 11*time.Minute},
		begin: func() []start {
			r := firstRecord(swap.FromBTC)
			r.Escrow = &swap.EscrowPart{Expected: inEscrow(), Real: inEscrow(), Init: &chains.Auth{Prefix: "claim_initialize", Timeout: zero.Add(authFor).Unix(), Signature: "0x1"}}
			r.Bitcoin = &swap.BitcoinPart{Address: "bc1q", Sats: 990, Confirmations: 2, Script: depositScript}
			return starts(r)
		},
		answers: func(s *sim, o opts) engine.Reader { return fromBTCAnswer{answer{s: s, o: o}} },
		rests: func(s *sim, r *swap.Record, gone bool) bool { // only the provider can end an escrow for which nothing was paid
			return gone && r.State == swap.InExpired && !s.deposited() && s.w.escrow() == chains.EscrowOpen
		},
	}
	refunds := func(s *sim) bool {
		// A payment that was made in time is taken to be proven in time.
		if s.w.escrow() != chains.EscrowOpen || s.deposited() || s.chainTime() <= expiry().Unix() {
			return false
		}
		s.block()
		return s.execute(chains.StepRefund)
	}
	claims := func(s *sim) bool {
		if s.w.escrow() != chains.EscrowOpen || s.provable() < 0 {
			return false
		}
		s.block()
		return s.execute(chains.StepClaimBitcoin)
	}
	st.fair = func(s *sim, gone bool) bool { return claims(s) || !gone && refunds(s) }
	st.ended = func(s *sim, r *swap.Record, gone bool) string {
		switch state := s.w.escrow(); {
		case state == chains.EscrowOpen && !s.rests(s, r, gone):
			return "the escrow is still open"
		case state != chains.EscrowClaimed && s.deposited():
			return fmt.Sprintf("the user has paid, and the escrow is %s", state)
		case state == chains.EscrowClaimed && r.State != swap.InClaimed, state == chains.EscrowRefunded && r.State != swap.InFailed,
			state == chains.EscrowNone && r.State != swap.InQuoteOver:
			return fmt.Sprintf("it is shown as %s, and the escrow is %s", row(s.flow, r.State), state)
		}
		return ""
	}
	st.truth = func(s *sim, was *swap.Record, res *engine.Result) string {
		r := res.Record
		head, _ := s.head(false)
		if was.Settled || !was.Seen.Reached(head) {
			return ""
		}
		in := func(states ...int) bool { return slices.Contains(states, r.State) }
		state := s.w.escrow()
		ok := true
		switch state {
		case chains.EscrowNone:
			ok = in(swap.InCreated, swap.InSoftExpired, swap.InQuoteOver)
			if in(swap.InQuoteOver) && s.chainTime() <= s.authUntil() {
				return "the quote counts as over, though its escrow can still be opened"
			}
		case chains.EscrowOpen:
			ok = in(swap.InCommitted, swap.InExpired)
			if s.provable() >= 0 {
				ok = in(swap.InConfirmed)
			}
		case chains.EscrowClaimed:
			ok = in(swap.InClaimed)
		case chains.EscrowRefunded:
			ok = in(swap.InFailed)
		}
		if !ok {
			return fmt.Sprintf("the swap is %s, the escrow is %s, and payment %d can be proven", row(s.flow, r.State), state, s.provable())
		}
		return fromBTCInTime(s, was, r)
	}
	st.pay = func(s *sim, res *engine.Result) {
		now := laterOf(s.clock(0), time.Unix(s.chainTime(), 0))
		switch {
		case s.w.escrow() != chains.EscrowOpen:
			s.broken("the user is asked to pay, and the escrow is %s", s.w.escrow())
		case now.After(payUntil()):
			s.broken("the user is asked to pay %s too late", now.Sub(payUntil()))
		}
	}
	st.faults = looks(map[fact]string{aEscrow: "the escrow", aTxs: "transactions", aPayment: "payments", aSpends: "the inputs of a payment"}, wrongEscrow)
	st.actions = append(append(append(process(), nature()...), lies(wrongEscrow)...), bitcoinNature(2)...)
	st.actions = append(st.actions,
		action{"the user pays from another wallet", 0, (*sim).payElsewhere},
		action{"a watchtower claims the escrow", 0, claims},
		action{"the provider takes the escrow back", 0, refunds},
	)
	return st
}

// payElsewhere is the user paying from a wallet of its own, as the action says.
func (s *sim) payElsewhere() bool {
	if s.w.asleep {
		return false
	}
	res, _, err := s.turn(nil, opts{})
	if err != nil {
		s.broken("a pass failed: %v", err)
		return true
	}
	if _, ok := engine.ViewOf(s.flow, res).Action.(*swap.Pay); !ok {
		return false
	}
	s.pay(s, res)
	s.paysAgain(1)
	s.w.btc.txs[1] = btx{state: waiting}
	return true
}
