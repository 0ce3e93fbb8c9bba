package swap

import (
	"time"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/internal/lp"
)

// chainStatus is the five-valued status of an escrow, as the protocol speaks of
// it (swap-flows-escrow.md §3.2), from the raw fact.
type chainStatus int

const (
	statusUnknown    chainStatus = iota // no answer: moves nothing
	statusExpired                       // never opened or taken back, and the time is up
	statusNotOpen                       // never opened or taken back
	statusOpen                          // open
	statusPaid                          // claimed
	statusRefundable                    // open, and the offerer may take it back
	statusTakenBack                     // refunded
)

// escrowStatus judges a fact for the user, who is offerer or claimer.
func escrowStatus(f Fact[chains.EscrowFact], e *chains.Escrow, offerer bool, now time.Time) chainStatus {
	if !f.Known() || e == nil {
		return statusUnknown
	}
	switch f.Value.State {
	case chains.EscrowClaimed:
		return statusPaid
	case chains.EscrowRefunded:
		return statusTakenBack
	case chains.EscrowOpen:
		if offerer && mayRefund(e, f, now) {
			return statusRefundable
		}
		return statusOpen
	}
	if offerer && mayRefund(e, f, now) || !offerer && lateFor(lp.DutyClaim, e, f, now) {
		return statusExpired
	}
	return statusNotOpen
}

// mayRefund reports whether the offerer can take an escrow back: a right, so by
// the earlier of our clock and the chain's, and with the grace by which others
// may be late.
func mayRefund(e *chains.Escrow, f Fact[chains.EscrowFact], now time.Time) bool {
	t := now
	if f.Known() && f.Value.Head.Time != 0 {
		t = earlier(t, time.Unix(f.Value.Head.Time, 0))
	}
	return e.Expiry < t.Add(-chains.RefundGrace).Unix()
}

// lateFor reports whether it is too late for the claimer to do what is still to be
// done with an escrow ([lp.Duty]).
func lateFor(todo lp.Duty, e *chains.Escrow, f Fact[chains.EscrowFact], now time.Time) bool {
	return todo.TooLate(e.Expiry, headOf(f), now)
}

// headOf is the block of a fact; zero if there is no answer.
func headOf(f Fact[chains.EscrowFact]) chains.Block {
	if f.Known() {
		return f.Value.Head
	}
	return chains.Block{}
}

// dutyTime is the time by which duties go: the later of our clock and the chain's.
func dutyTime(f Fact[chains.EscrowFact], now time.Time) time.Time {
	return later(now, time.Unix(headOf(f).Time, 0))
}

// forgetEnd drops the transactions that an end was seen by, when the chain takes
// it back; what it shows now is filled in.
func forgetEnd(in Decision, next *Record) {
	next.Escrow.ClaimTx, next.Escrow.RefundTx = "", ""
	fillEscrowTxs(in.Obs.Escrow, next.Escrow)
}

// settleAfter is how long after a swap's end a second answer has to confirm that
// the end is final, before it is not looked at any more: one answer may be wrong.
const settleAfter = 2 * time.Minute

// settle notes what was heard of the end of a swap: that it is final.
func (in Decision) settle(next *Record) {
	switch {
	case next.Ended == 0: // read from elsewhere: this is the first answer
		next.Ended = At(in.Now)
	case in.Now.Sub(next.Ended.Time()) >= settleAfter:
		next.Settled = true
	}
}

// restAfter is how long after its expiry an escrow that was seen once, and that
// the chain does not show any more, is still looked for before the swap rests.
const restAfter = 14 * 24 * time.Hour

// rested reports whether that time has ended.
func rested(in Decision) bool {
	return in.Now.Unix() > in.R.Escrow.Real.Expiry+int64(restAfter/time.Second)
}

func earlier(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

// fillEscrowTxs takes over transaction ids that the chain names. Events win over
// what was assumed at the submission: another transaction may have opened it.
func fillEscrowTxs(f Fact[chains.EscrowFact], p *EscrowPart) {
	if !f.Known() {
		return
	}
	for _, id := range []struct {
		to   *string
		from string
	}{{&p.InitTx, f.Value.InitTx}, {&p.ClaimTx, f.Value.ClaimTx}, {&p.RefundTx, f.Value.RefundTx}} {
		if id.from != "" {
			*id.to = id.from
		}
	}
}
