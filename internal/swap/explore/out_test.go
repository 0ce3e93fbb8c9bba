package explore

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/internal/engine"
	"github.com/swapper-go/swapper/internal/lp"
	"github.com/swapper-go/swapper/internal/swap"
)

// TO_BTC and TO_BTCLN: the user opens an escrow, the provider pays and claims it, or the
// user gets it back.

type outAnswer struct{ answer }

func (s *sim) honestOut() mood {
	switch {
	case s.w.paid:
		return saysPaid
	case s.w.auth:
		return saysRefund
	}
	return working
}

var paidBy = bitcoin.Hash{5}

func (a outAnswer) LPStatus(context.Context, lp.StatusQuery) (lp.Status, error) {
	if a.missing(aLP) || a.s.w.mood == silent {
		return lp.Status{}, errSilent
	}
	auth := &chains.Auth{Prefix: "refund", Timeout: expiry().Unix(), Signature: "0xgood"}
	switch a.s.w.mood {
	case saysPaid:
		return lp.Status{Code: lp.CodePaid, Secret: secret[:], TxID: paidBy.String()}, nil
	case liesPaid:
		return lp.Status{Code: lp.CodePaid, Secret: make([]byte, 32), TxID: bitcoin.Hash{6}.String()}, nil
	case saysRefund:
		return lp.Status{Code: lp.CodeRefund, Auth: auth}, nil
	case liesRefund:
		auth.Signature = "0xbad"
		return lp.Status{Code: lp.CodeRefund, Auth: auth}, nil
	case saysNothing:
		return lp.Status{Code: lp.CodeNotFound}, nil
	case babbles:
		return lp.Status{Code: 424_242}, nil
	}
	return lp.Status{Code: lp.CodeProcessing}, nil
}

func (a outAnswer) VerifyRefund(_ context.Context, _, _ string, q swap.RefundAsk) error {
	switch {
	case a.missing(aProof):
		return errSilent
	case q.Auth.Signature != "0xgood":
		return &chains.AuthError{Reason: "somebody else signed it"}
	}
	return nil
}

func (a outAnswer) Payout(_ context.Context, _, _ string, q swap.PayoutAsk) (swap.PayoutFact, error) {
	if a.missing(aProof) {
		return swap.PayoutFact{}, errSilent
	}
	proven := a.s.w.paid && (len(q.Secret) > 0 && chains.Preimage(q.Secret) == secret || q.TxID == paidBy)
	return swap.PayoutFact{Proven: proven, TxID: q.TxID}, nil
}

// claimResult is what a claim shows.
func (s *sim) claimResult() []byte {
	if s.flow.Type == swap.ToBTC || s.flow.Type == swap.FromBTC {
		return paidBy[:]
	}
	return secret[:]
}

func outStory(t swap.Type) *story {
	pays := func(w *world) bool { return w.escrow() == chains.EscrowOpen && !w.paid }
	claims := func(s *sim) bool {
		if !s.w.paid || s.w.escrow() != chains.EscrowOpen {
			return false
		}
		s.block()
		return s.execute(chains.StepClaimSecret)
	}
	pay := func(s *sim) bool {
		s.w.paid, s.w.mood = true, saysPaid
		return true
	}
	const authFor = 10 * time.Minute
	st := &story{
		name: t.String(), flow: flowOf(t), authFor: authFor,
		moments: []time.Duration{0, 4 * time.Minute, 12 * time.Minute, 40 * time.Minute, 12*hour - 5*time.Minute, 12*hour + 11*time.Minute, 12*hour + 30*time.Minute},
		begin: func() []start {
			r := firstRecord(t)
			r.Escrow = &swap.EscrowPart{Real: theEscrow(), Expected: theEscrow(), Init: &chains.Auth{Prefix: "claim_initialize", Timeout: zero.Add(authFor).Unix(), Signature: "0x1"}}
			if t == swap.ToBTCLN {
				r.Lightning = &swap.LightningPart{Invoice: "lnbc1", Hash: hexHash()}
			} else {
				r.Bitcoin = &swap.BitcoinPart{Address: "bc1q", Sats: 990, Nonce: 1, Confirmations: 2}
			}
			all := starts(r)
			if t == swap.ToBTCLN {
				w := firstWorld()
				w.rival = true
				all = append(all, start{w, r, 1})
			}
			return all
		},
		answers: func(s *sim, o opts) engine.Reader { return outAnswer{answer{s: s, o: o}} },
		truth:   outTruth,
		fair: func(s *sim, gone bool) bool {
			switch {
			case s.turns(s.honestOut(), gone):
				return true
			case gone:
				return false
			case pays(&s.w) && !s.w.auth:
				return pay(s)
			}
			return claims(s)
		},
		ended: func(s *sim, r *swap.Record, _ bool) string {
			switch state := s.w.escrow(); {
			case state == chains.EscrowOpen:
				return "the user's tokens are still locked"
			case state == chains.EscrowClaimed && !s.w.paid:
				return "the provider took the tokens without paying"
			case state == chains.EscrowClaimed && r.State != swap.OutClaimed, state == chains.EscrowRefunded && r.State != swap.OutRefunded,
				state == chains.EscrowNone && r.State != swap.OutExpired:
				return fmt.Sprintf("it is shown as %s, but the escrow is %s", row(s.flow, r.State), state)
			}
			return ""
		},
	}
	st.faults = looks(map[fact]string{aEscrow: "the escrow", aLP: "the provider's view", aTxs: "transactions", aProof: "what the provider presents", aRival: "other swaps"}, wrongEscrow)
	st.actions = append(append(process(), nature()...), lies(wrongEscrow)...)
	st.actions = append(st.actions,
		action{"the provider pays", 0, func(s *sim) bool { return pays(&s.w) && !s.w.auth && pay(s) }},
		action{"the provider claims the escrow", 0, claims},
		action{"the provider authorises a refund", 0, func(s *sim) bool {
			if !pays(&s.w) || s.w.auth {
				return false
			}
			s.w.auth, s.w.mood = true, saysRefund
			return true
		}},
		action{"the provider changes its mind, and pays after all", 1, func(s *sim) bool { return pays(&s.w) && s.w.auth && pay(s) }},
		action{"the provider says again what is true", 0, func(s *sim) bool {
			m := s.honestOut()
			if s.w.mood == m {
				return false
			}
			s.w.mood = m
			return true
		}},
		speak("the provider falls silent", silent, 1, nil),
		speak("the provider says that it has paid, with a wrong proof", liesPaid, 1, nil),
		speak("the provider presents a forged authorisation to refund", liesRefund, 1, nil),
		speak("the provider says that it does not know the swap", saysNothing, 1, nil),
		speak("the provider says what means nothing", babbles, 1, nil),
	)
	return st
}

// outTruth holds a record against what the chain shows.
func outTruth(s *sim, was *swap.Record, res *engine.Result) string {
	r := res.Record
	head, _ := s.head(false)
	if was.Settled || !was.Seen.Reached(head) {
		return ""
	}
	in := func(states ...int) bool { return slices.Contains(states, r.State) }
	now := s.clock(0)
	state := s.w.escrow()
	ok := true
	switch state {
	case chains.EscrowClaimed:
		ok = in(swap.OutClaimed)
	case chains.EscrowRefunded:
		ok = in(swap.OutRefunded)
	case chains.EscrowOpen:
		ok = in(swap.OutCommitted, swap.OutSoftClaimed, swap.OutRefundable)
		if over := expiry().Add(chains.RefundGrace); now.After(over) && time.Unix(head.Time, 0).After(over) {
			ok = in(swap.OutRefundable)
		}
		if !s.w.paid && in(swap.OutSoftClaimed) {
			ok = false
		}
		if v := engine.ViewOf(s.flow, res); ok && in(swap.OutRefundable) && !s.underWay(r) && v.Action == nil && v.Blocked == nil {
			return "the refund is not offered, and nothing says why"
		}
	case chains.EscrowNone:
		ok = in(swap.OutCreated, swap.OutSoftExpired, swap.OutExpired)
		if in(swap.OutExpired) && s.chainTime() <= s.authUntil() {
			return "the quote counts as over, though its escrow can still be opened"
		}
	}
	if !ok {
		return fmt.Sprintf("the swap is %s, and the escrow is %s", row(s.flow, r.State), state)
	}
	return outInTime(s, was, r)
}

func flowOf(t swap.Type) *swap.Flow {
	for _, f := range swap.Flows() {
		if f.Type == t {
			return f
		}
	}
	panic("no such type")
}

// shortEnds are the expiries of a provider that delivers escrows which end too soon, or
// just late enough, and of the reference's.
var shortEnds = []time.Duration{40 * time.Minute, 5 * time.Minute, 13 * time.Minute, 16 * time.Minute, 19 * time.Minute, 22 * time.Minute, 26 * time.Minute}

func stories() []*story {
	return []*story{outStory(swap.ToBTCLN), outStory(swap.ToBTC), inStory(swap.FromBTCLNAuto), inStory(swap.FromBTCLN),
		inStory(swap.FromBTCLNAuto, shortEnds...), inStory(swap.FromBTCLN, shortEnds...), spvStory(), fromBTCStory(),
		trustedStory(swap.TrustedFromBTC), trustedStory(swap.TrustedFromBTCLN)}
}
