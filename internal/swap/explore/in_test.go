package explore

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/internal/engine"
	"github.com/swapper-go/swapper/internal/lp"
	"github.com/swapper-go/swapper/internal/swap"
)

// FROM_BTCLN_AUTO and FROM_BTCLN: the user pays an invoice, the provider holds the
// payment, the provider or the user opens an escrow, and the preimage claims it. Who
// knows the preimage can take the payment: it must not leave before the escrow is safe.

type inAnswer struct{ answer }

func (a inAnswer) LPStatus(context.Context, lp.StatusQuery) (lp.Status, error) {
	w := &a.s.w
	if a.missing(aLP) || w.mood == silent {
		return lp.Status{}, errSilent
	}
	auth := &chains.Auth{Prefix: "initialize", Timeout: a.s.authUntil(), Signature: "0xgood"}
	done := func(escrow string) (lp.Status, error) {
		return lp.Status{Code: lp.CodeDone, Escrow: []byte(escrow), Auth: auth}, nil
	}
	switch w.mood {
	case liesPaid:
		return done(`"agreed"`)
	case liesEscrow:
		return done(`"another"`)
	case liesLate:
		return done(`"short"`)
	case liesRefund:
		auth.Signature = "0xbad"
		return done(`"agreed"`)
	case saysOver:
		return lp.Status{Code: lp.CodeExpired}, nil
	case babbles:
		return lp.Status{Code: 424_242}, nil
	}
	switch {
	case w.public && w.paid:
		return lp.Status{Code: lp.CodeSettled}, nil
	case w.paid:
		return done(`"agreed"`)
	case w.away || a.s.clock(0).After(a.s.x.first[0].r.Expiry.Time()):
		return lp.Status{Code: lp.CodeExpired}, nil
	}
	return lp.Status{Code: lp.CodeUnpaid}, nil
}

// shortHash is of an escrow that a provider announces, and that ends too soon. By a clock
// that is hours behind it does not, so that the process may wait for it; nobody opens it.
var shortHash = []byte{8}

func awaitsShort(r *swap.Record) bool {
	return r.Escrow.Real != nil && bytes.Equal(r.Escrow.Real.Hash, shortHash)
}

func inEscrow() *chains.Escrow {
	e := theEscrow()
	e.Offerer, e.Claimer = "lp", "me"
	return e
}

// inEscrow is the escrow that the provider chose.
func (s *sim) inEscrow() *chains.Escrow {
	e := inEscrow()
	e.Expiry = s.expiry().Unix()
	return e
}

func (a inAnswer) Delivered(_ context.Context, _, _ string, q swap.DeliveredAsk) (*chains.Escrow, error) {
	if a.missing(aDelivered) {
		return nil, errSilent
	}
	e := a.s.inEscrow()
	switch string(q.Data) {
	case `"another"`:
		return nil, &lp.LPError{Reason: "the amount is another"}
	case `"short"`:
		e.Expiry = zero.Add(5 * time.Minute).Unix()
		e.Hash = shortHash
	}
	return e, nil
}

func (a inAnswer) VerifyInit(_ context.Context, _, _ string, q swap.InitAsk) (swap.Millis, error) {
	switch {
	case a.missing(aProof):
		return 0, errSilent
	case q.Auth.Signature != "0xgood":
		return 0, &chains.AuthError{Reason: "somebody else signed it"}
	case a.s.clock(a.o.skew).Unix() > q.Auth.Timeout:
		return 0, &chains.AuthError{Reason: "it has expired", Late: true}
	}
	return swap.Millis(q.Auth.Timeout * 1000), nil
}

// leftBy is how much time is left until the escrow ends, by all that the process knows.
func (s *sim) leftBy(res *engine.Result) time.Duration {
	left := s.expiry().Sub(s.clock(s.o.skew))
	if f := res.Observation.Escrow; f.Known() {
		left = min(left, s.expiry().Sub(time.Unix(f.Value.Head.Time, 0)))
	}
	return left
}

// staked is the moment in which the opening of an escrow leaves the process, and with it
// the deposit: the claim must be possible when it is open for good, some minutes later.
func (s *sim) staked(res *engine.Result) {
	if left := s.leftBy(res); !awaitsShort(res.Record) && left < (600+300)*time.Second {
		s.broken("the opening is sent %s before the provider may take the escrow back: its claim would be held back", left)
	}
}

// revealed is the moment in which the preimage leaves the process, by the facts res.
func (s *sim) revealed(res *engine.Result, before bool) {
	f := res.Observation.Escrow
	left, enough := s.leftBy(res), 600*time.Second
	if sub := res.Record.Submission; sub.Open() && sub.Action == "last claim" { // the user was told of the risk
		enough = time.Minute
	}
	contradiction, objected := errors.AsType[*chains.ContradictionError](f.Err)
	switch {
	case before && objected && contradiction.Open: // one of the nodes says so
	case !f.Known() || f.Value.State != chains.EscrowOpen:
		s.broken("the preimage leaves without a word of the chain that the escrow is open")
	case before: // others may know it already: only a claim helps
	case !f.Value.Final:
		s.broken("the preimage leaves while the escrow can still vanish")
	case left < enough:
		s.broken("the preimage leaves %s before the provider may take the escrow back", left)
	case s.o.wrong == 0 && s.w.escrow() == chains.EscrowNone:
		s.broken("the preimage leaves, and there is no escrow")
	}
	s.w.public = true
}

// inStory is the story of a type whose escrow lasts for half a day or, by ends, for as
// long as the provider likes.
func inStory(t swap.Type, ends ...time.Duration) *story {
	auto := t == swap.FromBTCLNAuto
	st := &story{
		name: t.String(), flow: flowOf(t), authFor: 30 * time.Minute,
		moments: []time.Duration{0, 4 * time.Minute, 12 * time.Minute, 40 * time.Minute, 3 * hour, 12*hour - 5*time.Minute, 12*hour + 11*time.Minute, 12*hour + 30*time.Minute},
		begin: func() []start {
			var all []start
			for i, c := range []struct {
				off  int8
				own  bool
				cost int8
			}{{0, false, 0}, {0, true, 0}, {-1, false, 1}, {1, false, 1}, {0, false, 1}} {
				r := firstRecord(t)
				r.Escrow = &swap.EscrowPart{Expected: inEscrow()}
				r.Lightning = &swap.LightningPart{Invoice: "lnbc1", Hash: hexHash(), OwnHash: c.own, EndsAt: swap.At(zero.Add(2 * hour))}
				if !c.own {
					r.Lightning.Preimage = secret
				}
				w := firstWorld()
				w.off, w.own, w.rival = c.off, c.own, i == 4
				all = append(all, start{w, r, c.cost})
			}
			for n := range max(0, len(ends)-1) {
				w := firstWorld()
				w.ends = int8(n + 1)
				all = append(all, start{w, all[0].r, 0})
			}
			return all
		},
		answers: func(s *sim, o opts) engine.Reader { return inAnswer{answer{s: s, o: o}} },
		truth:   inTruth,
		rests: func(s *sim, r *swap.Record, gone bool) bool { // only the provider can end an escrow that nobody may claim
			return gone && r.State == swap.LnHTLCExpired && !s.w.public && s.w.escrow() == chains.EscrowOpen
		},
	}
	early := hour // what an honest provider leaves
	if len(ends) > 0 {
		st.name, st.ends, st.authFor, early = t.String()+", short", ends, 10*time.Minute, 0
		st.moments = nil
		for at := time.Duration(0); at < 45*time.Minute; at += 3 * time.Minute {
			st.moments = append(st.moments, at)
		}
		st.moments = append(st.moments, 52*time.Minute, 3*hour)
	}
	opens := func(s *sim) bool {
		if !auto || !s.w.paid || s.w.opened != 0 {
			return false
		}
		s.block()
		s.w.opened = s.w.height
		return true
	}
	returns := func(s *sim) bool { // what it cannot settle
		if !s.w.paid || s.w.public || s.w.escrow() == chains.EscrowOpen || !auto && s.w.escrow() == chains.EscrowNone && s.chainTime() <= s.authUntil() {
			return false
		}
		s.w.paid, s.w.away = false, true
		return true
	}
	refunds := func(s *sim) bool {
		// Whoever published the preimage in time is taken to be mined in ten minutes.
		if s.w.escrow() != chains.EscrowOpen || s.w.public || s.chainTime() <= s.expiry().Unix() {
			return false
		}
		s.block()
		return s.execute(chains.StepRefund)
	}
	claims := func(s *sim) bool {
		if !s.w.public || s.w.escrow() != chains.EscrowOpen {
			return false
		}
		s.block()
		return s.execute(chains.StepClaimSecret)
	}
	pays := func(until time.Duration) func(s *sim) bool {
		return func(s *sim) bool {
			if s.w.paid || s.w.away || s.clock(0).After(zero.Add(until)) {
				return false
			}
			s.w.paid = true
			return true
		}
	}
	st.fair = func(s *sim, gone bool) bool {
		switch {
		case s.turns(working, gone):
			return true
		case claims(s): // a watchtower
			return true
		case gone:
			return false
		case s.clock(0).Before(s.expiry().Add(-2*early-20*time.Minute)) && opens(s):
			return true
		}
		return refunds(s) || s.clock(0).After(zero.Add(2*hour)) && returns(s)
	}
	st.ended = func(s *sim, r *swap.Record, gone bool) string {
		state, since := s.w.escrowAt(s.w.height)
		head, _ := s.head(false)
		next := lp.NextDuty(chains.EscrowFact{State: state, Final: since+finalAfter <= s.w.height})
		switch {
		case s.w.public && state != chains.EscrowClaimed:
			return "the preimage is known, and the user has not got the tokens"
		case awaitsShort(r) && state != chains.EscrowClaimed: // the provider takes back what it opens beside that
		case state == chains.EscrowOpen && r.Escrow.Real == nil && next.TooLate(s.expiry().Unix(), head, s.clock(0)):
			// Announced too late to be claimed: the provider takes it back, and the payment is returned.
		case state == chains.EscrowOpen && !s.rests(s, r, gone):
			return "the escrow is still open"
		case state == chains.EscrowRefunded && r.State == swap.LnExpired && r.Escrow.Real == nil: // the same, later
		case state == chains.EscrowClaimed && r.State != swap.LnClaimed, state == chains.EscrowRefunded && r.State != swap.LnFailed,
			state == chains.EscrowNone && r.State != swap.LnExpired:
			return fmt.Sprintf("it is shown as %s, but the escrow is %s", row(s.flow, r.State), state)
		}
		return ""
	}
	st.faults = looks(map[fact]string{aEscrow: "the escrow", aFound: "what the chain knows by the payment hash", aLP: "the provider's view", aTxs: "transactions",
		aDelivered: "what the provider delivered", aProof: "authorisations", aRival: "other swaps"}, wrongEscrow)
	st.actions = append(append(process(), nature()...), lies(wrongEscrow)...)
	st.actions = append(st.actions,
		action{"the payment reaches the provider", 0, pays(10 * time.Minute)},
		action{"the payment, which was under way for long, reaches the provider", 1, pays(2 * hour)},
		action{"the provider opens the escrow", 0, func(s *sim) bool { return s.clock(0).Before(s.expiry().Add(-early)) && opens(s) }},
		action{"the provider opens the escrow, very late", 1, opens},
		action{"the provider returns the payment", 0, returns},
		action{"the provider takes the escrow back", 0, refunds},
		action{"a watchtower claims the escrow", 0, claims},
		action{"the user has the invoice paid by an LNURL service", 0, func(s *sim) bool { return !s.w.asleep && s.withdraw() }},
		speak("the provider says again what is true", working, 0, nil),
		speak("the provider falls silent", silent, 1, nil),
		speak("the provider says that it holds a payment, which it does not", liesPaid, 1, func(w *world) bool { return !w.paid }),
		speak("the provider announces another escrow than was agreed", liesEscrow, 1, nil),
		speak("the provider announces an escrow that ends too soon", liesLate, 1, nil),
		speak("the provider presents a forged authorisation", liesRefund, 1, nil),
		speak("the provider says that all is over", saysOver, 1, nil),
		speak("the provider says what means nothing", babbles, 1, nil),
		action{"somebody hints that something has happened", 1, func(s *sim) bool {
			if s.w.asleep {
				return false
			}
			was := s.rec
			if _, _, err := s.turn(swap.Look{}, opts{}); err != nil {
				s.broken("a hint is not taken: %v", err)
			}
			return was != s.rec
		}},
	)
	return st
}

// withdraw asks an LNURL service to pay.
func (s *sim) withdraw() bool {
	if s.w.asked >= 2 || s.rec.Lightning.Invoice == "" {
		return false
	}
	res, _, err := s.turn(nil, opts{})
	if err != nil {
		s.broken("a pass failed: %v", err)
		return true
	}
	use := swap.UseWithdraw{}
	if s.rec.Lightning.Withdraw == nil {
		use = swap.UseWithdraw{Link: "lnurl1", With: &swap.Withdraw{}}
	}
	_, _, err = s.turn(use, opts{})
	switch waits := res.Record.State == swap.LnCreated; {
	case err != nil && waits && !s.w.rival && !swap.Cancelled(swap.Decision{R: res.Record, Obs: res.Observation}):
		s.broken("the invoice waits to be paid, and no LNURL service can be asked to: %v", err)
	case err == nil && (s.rec.Lightning.Withdraw == nil || !s.rec.Lightning.Withdraw.Asked):
		s.broken("an LNURL service is to be asked to pay, and that is not kept")
	case err == nil && s.w.rival:
		s.broken("an LNURL service is asked to pay an invoice whose hash another swap has too")
	}
	if err != nil {
		return false
	}
	s.w.asked++
	return true
}

func (s *sim) performWithdraw() (done, no bool) {
	if s.w.handed++; s.w.handed > s.w.asked {
		s.broken("the invoice is handed to the LNURL service once more than the user asked")
	}
	s.w.paid = s.w.paid || !s.w.away
	return true, false
}

// inTruth holds a record against what the chain shows.
func inTruth(s *sim, was *swap.Record, res *engine.Result) string {
	r := res.Record
	head, _ := s.head(false)
	if was.Settled || !was.Seen.Reached(head) {
		return ""
	}
	if awaitsShort(r) {
		return ""
	}
	state := s.w.escrow()
	late := s.expiry().Add(-chains.ClaimGrace).Before(laterOf(s.clock(0), time.Unix(head.Time, 0)))
	ok := true
	switch {
	case r.Escrow.Real == nil:
		ok = r.State == swap.LnCreated || r.State == swap.LnSoftExpired || r.State == swap.LnExpired
		lasts := s.expiry().Sub(laterOf(s.clock(0), time.Unix(head.Time, 0))) > 20*time.Minute
		if s.w.paid && !s.w.public && s.w.mood == working && !s.clock(0).After(r.Lightning.EndsAt.Time()) && s.w.escrow() == chains.EscrowNone && s.clock(0).Unix() <= s.authUntil() && lasts {
			return "the provider holds the payment and says so, and the swap does not show it"
		}
		if s.flow.Type == swap.FromBTCLNAuto && state == chains.EscrowOpen && s.w.mood == silent && r.State == swap.LnCreated && lasts {
			return "the escrow is open, the provider is silent, and the chain was not searched"
		}
	case state == chains.EscrowClaimed:
		ok = r.State == swap.LnClaimed
	case state == chains.EscrowRefunded:
		ok = r.State == swap.LnFailed
	case state == chains.EscrowOpen && late && !r.Public():
		ok = r.State == swap.LnHTLCExpired
	case state == chains.EscrowOpen:
		ok = r.State == swap.LnCommitted
	default:
		ok = r.State == swap.LnPaid || r.State == swap.LnHTLCExpired || r.State == swap.LnExpired || r.State == swap.LnSoftExpired
	}
	if !ok {
		return fmt.Sprintf("the swap is %s, and the escrow is %s", row(s.flow, r.State), state)
	}
	return inInTime(s, was, r)
}

func laterOf(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}
