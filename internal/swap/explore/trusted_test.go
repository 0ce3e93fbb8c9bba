package explore

import (
	"context"
	"fmt"
	"math/big"
	"slices"
	"time"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/internal/engine"
	"github.com/swapper-go/swapper/internal/lp"
	"github.com/swapper-go/swapper/internal/swap"
)

// Trusted gas swaps: the provider is believed in everything but money, so what counts is
// that the chain shows a payout and Bitcoin a refund, and that nobody pays twice.

// gasWorld is what the provider did.
type gasWorld struct {
	paidOut   int16 // height of the payout
	short     bool  // it pays less than was agreed
	back      int16 // height of the refund on Bitcoin
	told      bool  // the provider knows where to send a refund
	cannotUse bool  // the payment
	given     bool  // the user named an address for the refund
}

var (
	refundID = bitcoin.Hash{0xab}
	payoutID = "0xpayout"
)

type gasAnswer struct{ answer }

func (a gasAnswer) LPStatus(context.Context, lp.StatusQuery) (lp.Status, error) {
	w := &a.s.w
	if a.missing(aLP) || w.mood == silent {
		return lp.Status{}, errSilent
	}
	lightning := a.s.flow.Type == swap.TrustedFromBTCLN
	sent := lp.Status{Code: lp.CodeDone, TxID: payoutID, PayoutTxID: payoutID}
	if !lightning {
		sent.TxID = paymentIDs[0].String()
	}
	switch w.mood {
	case babbles:
		return lp.Status{Code: 424_242}, nil
	case saysOver:
		return lp.Status{Code: lp.CodeExpired}, nil
	case liesPaid:
		return sent, nil
	case liesRefund:
		return lp.Status{Code: lp.CodeGasRefunded, TxID: refundID.String()}, nil
	case liesEscrow: // the payment was double-spent
		return lp.Status{Code: lp.CodeGasDoubleSpent}, nil
	}
	code := func(c int) (lp.Status, error) { return lp.Status{Code: c}, nil }
	switch got := w.paid || a.s.deposited(); {
	case w.gas.paidOut != 0:
		return sent, nil
	case w.gas.back != 0:
		return lp.Status{Code: lp.CodeGasRefunded, TxID: refundID.String()}, nil
	case w.gas.cannotUse && got:
		return code(lp.CodeGasRefundable)
	case got:
		return code(lp.CodeGasReceived)
	case w.away || a.s.clock(0).After(a.s.x.first[0].r.Expiry.Time()):
		return code(lp.CodeExpired)
	}
	return code(lp.CodeGasUnpaid)
}

func (a gasAnswer) GasPayout(_ context.Context, _ string, q swap.GasAsk) (swap.GasFact, error) {
	if a.missing(aGas) {
		return swap.GasFact{}, errSilent
	}
	_, h := a.s.head(a.o.lag)
	g := a.s.w.gas
	if q.TxID != payoutID || g.paidOut == 0 || g.paidOut > h {
		return swap.GasFact{}, nil
	}
	paid := int64(990)
	if g.short {
		paid = 1
	}
	return swap.GasFact{Status: chains.TxStatus{State: chains.TxConfirmed, Block: chains.Block{Height: uint64(g.paidOut)}, Final: g.paidOut+finalAfter <= h}, Paid: big.NewInt(paid)}, nil
}

func (a gasAnswer) Refunded(_ context.Context, q swap.RefundedAsk) (swap.RefundedFact, error) {
	if a.missing(aGas) {
		return swap.RefundedFact{}, errSilent
	}
	h := a.s.btcHeight(a.o.lag)
	if g := a.s.w.gas; q.TxID == refundID && g.back != 0 && g.back <= h {
		return swap.RefundedFact{Confirmations: uint32(h - g.back + 1), Sats: 990}, nil
	}
	return swap.RefundedFact{}, nil
}

func trustedStory(t swap.Type) *story {
	lightning := t == swap.TrustedFromBTCLN
	st := &story{
		name: t.String(), flow: flowOf(t),
		moments: []time.Duration{0, 4 * time.Minute, 12 * time.Minute, 3 * hour, 25 * hour, 15 * 24 * hour},
		begin: func() []start {
			r := firstRecord(t)
			if lightning {
				r.Lightning = &swap.LightningPart{Invoice: "lnbc1", Hash: hexHash(), EndsAt: swap.At(zero.Add(2 * hour))}
			} else {
				r.Bitcoin = &swap.BitcoinPart{Address: "bc1q", Sats: 990, Confirmations: 1, Script: depositScript}
				r.Gas = &swap.GasPart{Hash: "g", Sequence: big.NewInt(1), Total: big.NewInt(990)}
			}
			return []start{{firstWorld(), r, 0}}
		},
		answers: func(s *sim, o opts) engine.Reader { return gasAnswer{answer{s: s, o: o}} },
	}
	has := func(s *sim) bool {
		return s.w.paid || slices.ContainsFunc(s.w.btc.txs[:], func(t btx) bool { return t.state == mined })
	}
	paysOut := func(short bool) func(s *sim) bool {
		return func(s *sim) bool {
			if !has(s) || s.w.gas.paidOut != 0 || s.w.gas.back != 0 || s.w.gas.cannotUse {
				return false
			}
			s.block()
			s.w.gas.paidOut, s.w.gas.short = s.w.height, short
			return true
		}
	}
	returns := func(s *sim) bool {
		if !has(s) || !s.w.gas.cannotUse || !s.w.gas.told || s.w.gas.back != 0 {
			return false
		}
		s.w.btc.height++
		s.w.gas.back = s.w.btc.height
		return true
	}
	names := func(s *sim) bool { // the user says where a refund is to go
		if s.rec.State != swap.TrustedBTCRefundable || s.w.gas.given || s.w.asleep || lightning {
			return false
		}
		if _, _, err := s.turn(swap.RefundTo{Address: "bc1qback"}, opts{}); err != nil {
			return false
		}
		s.w.gas.given = true
		return true
	}
	st.fair = func(s *sim, gone bool) bool {
		switch {
		case s.turns(working, gone):
			return true
		case gone:
			return false
		}
		return paysOut(false)(s) || names(s) || returns(s)
	}
	st.rests = func(s *sim, r *swap.Record, gone bool) bool {
		// Who was paid too little is told so, for as long as the provider calls that the payout.
		return s.w.gas.short && (lightning && (r.State == swap.TrustedLNPaid || r.State == swap.TrustedLNCreated) || r.State == swap.TrustedBTCCreated && !lightning)
	}
	st.ended = func(s *sim, r *swap.Record, gone bool) string {
		g := s.w.gas
		finished, refundedState := swap.TrustedBTCFinished, swap.TrustedBTCRefunded
		if lightning {
			finished, refundedState = swap.TrustedLNFinished, -100
		}
		switch {
		case r.State == finished && (g.paidOut == 0 || g.short):
			return "it is shown as finished, and the payout is not there"
		case r.State == refundedState && g.back == 0:
			return "it is shown as refunded, and the refund is not there"
		case !gone && has(s) && g.paidOut != 0 && !g.short && r.State != finished && s.clock(0).Before(zero.Add(14*24*hour)): // then it rests
			return fmt.Sprintf("the payout is there, and it is shown as %s", row(s.flow, r.State))
		}
		return ""
	}
	st.truth = func(s *sim, was *swap.Record, res *engine.Result) string {
		r, g := res.Record, s.w.gas
		if was.Settled {
			return ""
		}
		finished := swap.TrustedBTCFinished
		if lightning {
			finished = swap.TrustedLNFinished
		}
		switch {
		case r.State == finished && g.paidOut == 0:
			return "it is shown as finished, and there is no payout"
		case r.State == finished && g.short:
			return "it is shown as finished, and the payout is short"
		case !lightning && r.State == swap.TrustedBTCRefunded && g.back == 0:
			return "it is shown as refunded, and there is no refund"
		case s.w.mood == working && g.paidOut != 0 && !g.short && has(s) && r.State != finished && !r.Settled && was.State != swap.TrustedBTCRefunded:
			return fmt.Sprintf("the payout is there, the provider says so, and it is shown as %s", row(s.flow, r.State))
		}
		if r.Settled {
			return ""
		}
		return gasInTime(s, was, r)
	}
	st.pay = func(*sim, *engine.Result) {}
	st.faults = looks(map[fact]string{aLP: "the provider's view", aGas: "payouts and refunds", aPayment: "payments", aSpends: "the inputs of a payment"}, nil)
	st.actions = append(process(), action{"time passes", 0, func(s *sim) bool { return s.explored() && s.tick(false) }})
	for d := int16(1); d <= finalAfter; d++ {
		st.actions = append(st.actions, action{fmt.Sprintf("a reorganisation takes back %d blocks", d), 1, func(s *sim) bool {
			if g := &s.w.gas; g.paidOut == 0 || g.paidOut <= s.w.height-d {
				return false
			}
			s.w.gas.paidOut, s.w.gas.short = 0, false
			s.w.height -= d - 1
			return true
		}})
	}
	if lightning {
		st.actions = append(st.actions, action{"the payment reaches the provider", 0, func(s *sim) bool {
			if s.w.paid || s.clock(0).After(zero.Add(10*time.Minute)) {
				return false
			}
			s.w.paid = true
			return true
		}})
	} else {
		st.actions = append(append(st.actions, bitcoinNature(2)...),
			handsIn(),
			action{"the user signs what is asked for", 0, func(s *sim) bool { return !s.w.asleep && s.user(owner, opts{}) }},
			action{"the user pays from another wallet", 0, (*sim).payElsewhere},
			action{"the provider cannot use the payment", 1, func(s *sim) bool {
				if !has(s) || s.w.gas.cannotUse || s.w.gas.paidOut != 0 {
					return false
				}
				s.w.gas.cannotUse = true
				return true
			}},
			action{"the user says where a refund is to go", 0, names},
			action{"the provider returns the payment", 0, returns},
			action{"a reorganisation of Bitcoin takes back the refund", 1, func(s *sim) bool {
				if g := &s.w.gas; g.back == 0 || g.back+finalAfter <= s.w.btc.height {
					return false
				}
				s.w.gas.back = 0
				return true
			}},
			speak("the provider says that the payment was double-spent", liesEscrow, 1, nil),
			speak("the provider says that it has returned the payment", liesRefund, 1, nil))
	}
	st.actions = append(st.actions,
		action{"the provider pays out", 0, paysOut(false)},
		action{"the provider pays out less than was agreed", 1, paysOut(true)},
		speak("the provider says again what is true", working, 0, nil),
		speak("the provider falls silent", silent, 1, nil),
		speak("the provider says that it has paid out", liesPaid, 1, func(w *world) bool { return w.gas.paidOut == 0 }),
		speak("the provider says that all is over", saysOver, 1, nil),
		speak("the provider says what means nothing", babbles, 1, nil),
	)
	return st
}
