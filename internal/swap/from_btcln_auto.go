package swap

import (
	"bytes"
	"errors"
	"time"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/internal/lp"
)

var autoStates = []StateRow{
	{Number: LnFailed, Name: "FAILED", Description: "The escrow was refunded to the provider.", Finished: true, Failed: true, Watched: true, Every: settleAfter},
	{Number: LnExpired, Name: "QUOTE_EXPIRED", Description: "The quote expired unpaid.", Finished: true, Expired: true, Hidden: true, Watched: true, Every: time.Hour},
	{Number: LnSoftExpired, Name: "QUOTE_SOFT_EXPIRED", Description: "The invoice expired; a payment already on its way may still arrive.", Pending: true, Watched: true, Every: 30 * time.Second},
	{Number: LnHTLCExpired, Name: "EXPIRED", Description: "The escrow is about to time out; it can no longer be claimed safely.", Failed: true, Pending: true, Watched: true, Every: time.Minute},
	{Number: LnCreated, Name: "PR_CREATED", Description: "Waiting for the invoice to be paid.", Pending: true, Watched: true, Every: 5 * time.Second},
	{Number: LnPaid, Name: "PR_PAID", Description: "The provider holds the payment and is opening the escrow.", Pending: true, Watched: true, Every: 5 * time.Second},
	{Number: LnCommitted, Name: "CLAIM_COMMITED", Description: "The escrow is open and can be claimed.", Pending: true, Watched: true, Every: 5 * time.Second},
	{Number: LnClaimed, Name: "CLAIM_CLAIMED", Description: "The tokens were paid out.", Finished: true, Success: true, Watched: true, Every: settleAfter},
}

// automaticWindow is how long somebody else is given to settle before the user
// is offered to (protocol: swap-flows-escrow.md §11).
const automaticWindow = 60 * time.Second

// newFromBTCLNAuto returns the type FROM_BTCLN_AUTO: the user pays a Lightning
// invoice, the LP opens an escrow for the user, and anyone who learns the
// preimage from us can claim it for the user.
func newFromBTCLNAuto() *Flow {
	return &Flow{
		Type:    FromBTCLNAuto,
		States:  autoStates,
		Moves:   autoMoves(),
		Ask:     autoAsk,
		Fill:    autoFill,
		Effects: autoEffects,
		View:    autoView,
		Unpaid:  lightningUnpaid,
		// "Unpaid" is said of a payment too that the LP holds and has not sent an escrow for yet.
		NotPaid: func(in Decision) bool { return in.R.LP.URL == "" || LPSays(lp.CodeExpired)(in) },
	}
}

// autoFact is the chain's word on the escrow: on the agreed data once it is
// known, until then on what was found by claim hash.
func autoFact(in Decision) Fact[chains.EscrowFact] {
	if in.Obs.Escrow.Asked {
		return in.Obs.Escrow
	}
	return Fact[chains.EscrowFact]{}
}

func autoStatus(in Decision) chainStatus {
	return escrowStatus(autoFact(in), in.R.Escrow.Real, false, in.Now)
}

func autoMoves() []Move {
	is, anew := statusGuards(autoStatus)
	late := func(in Decision) bool {
		return !in.R.Public() && lateFor(lp.DutyClaim, in.R.Escrow.Real, autoFact(in), in.Now)
	}
	all := []int{LnExpired, LnSoftExpired, LnHTLCExpired, LnCreated, LnPaid, LnCommitted}
	waiting := []int{LnExpired, LnSoftExpired, LnCreated}
	return []Move{
		{From: all, To: LnClaimed, Why: "the escrow was claimed", If: is(statusPaid)},
		{From: all, To: LnFailed, Why: "the escrow was refunded", If: is(statusTakenBack)},
		{From: []int{LnFailed}, To: LnClaimed, Why: "the escrow was claimed, not refunded", If: anew(statusPaid), Do: forgetEnd},
		{From: []int{LnClaimed}, To: LnFailed, Why: "the escrow was refunded, not claimed", If: anew(statusTakenBack), Do: forgetEnd},
		{From: []int{LnClaimed, LnFailed}, To: LnCommitted, Why: "a reorganisation opened the escrow again", If: anew(statusOpen), Do: forgetEnd},
		{From: []int{LnClaimed, LnFailed}, To: LnPaid, Why: "a reorganisation removed the escrow", Undoes: true, If: anew(statusNotOpen, statusExpired), Do: forgetEnd},
		{From: waiting, To: LnPaid, Why: "the provider announced the agreed escrow", If: func(in Decision) bool {
			return in.R.Escrow.Real == nil && in.Obs.Delivered.Known() && inTime(in)
		}, Do: func(in Decision, next *Record) {
			next.Escrow.Real = in.Obs.Delivered.Value
			next.Problem = ""
		}},
		{From: []int{LnPaid, LnCommitted}, To: LnHTLCExpired, Why: "the escrow is about to time out", If: late},
		{From: waiting, To: LnHTLCExpired, Why: "the escrow is open, and about to time out", If: func(in Decision) bool { return is(statusOpen)(in) && late(in) }},
		{From: append([]int{LnPaid, LnHTLCExpired}, waiting...), To: LnCommitted, Why: "the escrow is open", If: func(in Decision) bool { return is(statusOpen)(in) && !late(in) }, Do: opens},
		{From: []int{LnCommitted}, To: LnPaid, Why: "a reorganisation removed the escrow", Undoes: true, If: anew(statusNotOpen, statusExpired)},
		{From: []int{LnPaid, LnHTLCExpired}, To: LnExpired, Why: "no payment can arrive any more, and the escrow was never opened", If: func(in Decision) bool {
			return in.R.Lightning.EndsAt.Passed(in.Now) && is(statusNotOpen, statusExpired)(in) && (in.R.Escrow.InitTx == "" || rested(in))
		}},
		{From: []int{LnHTLCExpired}, To: LnPaid, Why: "there is still time to claim the escrow once it is opened", If: is(statusNotOpen)},
		{From: []int{LnCreated}, To: LnSoftExpired, Why: "the invoice expired", If: func(in Decision) bool { return in.R.Expiry.Passed(in.Now) }},
		{From: []int{LnSoftExpired}, To: LnExpired, Why: "no payment can arrive any more", If: func(in Decision) bool { return in.R.Lightning.EndsAt.Passed(in.Now) }},

		{From: append([]int{}, all...), To: stay, Why: "the preimage was revealed", On: OnReveal, Do: func(in Decision, next *Record) {
			next.Lightning.Preimage = in.Input.(Reveal).Preimage
		}},
		withdrawMove(),
		{From: []int{LnCommitted}, To: stay, Why: "the user signed the claim", On: OnSubmit, If: func(in Decision) bool {
			sub := in.Input.(Submit)
			return sub.Action == actionClaim && in.takes(sub)
		}, Do: accept},
	}
}

// inTime reports whether the escrow that was delivered lasts long enough for what is
// still to be done with it (protocol: swap-flows-escrow.md §8.3).
func inTime(in Decision) bool {
	todo, f := lp.DutyOpen, in.Obs.Found
	if f.Known() {
		todo = lp.NextDuty(f.Value)
	}
	return !lateFor(todo, in.Obs.Delivered.Value, f, in.Now)
}

func autoAsk(in Decision) Ask {
	r, obs := in.R, in.Obs
	var a Ask
	if r.Settled || r.Escrow == nil {
		return a
	}
	if txs := r.Submission.asked(); len(txs) > 0 && !obs.Txs.Asked {
		a.Txs = txs
	}
	if r.Escrow.Real != nil {
		if !obs.Escrow.Asked {
			a.Escrow = &chains.EscrowQuery{Escrow: r.Escrow.Real}
		}
		return a
	}
	if q := hashRival(r); q != nil && !obs.Rival.Asked {
		a.Rival = q
	}
	if r.LP.URL != "" && !obs.LP.Asked && mayBePaid(in) {
		a.LP = &lp.StatusQuery{URL: r.LPURL(), Endpoint: lp.GetInvoiceStatus, ID: r.Lightning.Hash}
	}
	switch {
	case obs.Found.Asked:
	case autoSearch(in):
		e := r.Escrow.Expected
		a.Found = &chains.EscrowQuery{ClaimHash: e.ClaimHash, Offerer: e.Offerer, Claimer: e.Claimer, From: r.From}
	case obs.Delivered.Known() && !inTime(in): // unless it is open by now, which takes less time
		a.Found = &chains.EscrowQuery{Escrow: obs.Delivered.Value}
	}
	if shown := in.shown(); shown != nil && (!obs.Delivered.Asked || !bytes.Equal(obs.Judged, shown.Data)) { // all nodes may show another one than the first did
		a.Delivered = &DeliveredAsk{Want: *r.Escrow.Expected, Data: shown.Data}
		return a
	}
	switch {
	case obs.Delivered.Asked:
	case obs.LP.Known() && obs.LP.Value.Code == lp.CodeDone && len(obs.LP.Value.Escrow) > 0:
		a.Delivered = &DeliveredAsk{Want: *r.Escrow.Expected, Data: obs.LP.Value.Escrow}
	}
	return a
}

// shown returns the escrow that the chain shows for the payment hash, nil if none.
func (in Decision) shown() *chains.Escrow {
	if f := in.Obs.Found; f.Known() {
		return f.Value.Escrow
	}
	return nil
}

// autoSearch reports whether the chain is searched for an escrow that the LP
// says nothing of: on a hint, when the LP does not answer or says that all is
// over, and before the quote is given up.
func autoSearch(in Decision) bool {
	if _, hinted := in.Input.(Look); hinted || in.R.State == LnExpired || in.R.LP.URL == "" {
		return true
	}
	if !in.Obs.LP.Asked {
		return false
	}
	return in.Obs.LP.Err != nil || in.Obs.LP.Value.Code == lp.CodeExpired || in.Obs.LP.Value.Code == lp.CodeSettled ||
		in.R.State == LnSoftExpired
}

func autoFill(in Decision, next *Record) {
	if next.Escrow == nil {
		return
	}
	f := autoFact(in)
	fillEscrowTxs(f, next.Escrow)
	fillSubmission(in, next)
	if lie, ok := errors.AsType[*lp.LPError](in.Obs.Delivered.Err); ok {
		next.Problem = "the provider announced an escrow that differs from the agreed one: " + lie.Public()
	}
	if in.Obs.Delivered.Known() && !inTime(in) {
		next.Problem = "the escrow that the provider announced has an expiry that leaves too little time to claim it safely"
	}
	if !f.Known() {
		return
	}
	if f.Value.State == chains.EscrowClaimed {
		if next.KeepPreimage(f.Value.Result) && next.Lightning.Revealed == 0 {
			next.Lightning.Revealed = At(in.Now) // whatever becomes of the claim
		}
	}
	if f.Value.Final && (next.State == LnClaimed && f.Value.State == chains.EscrowClaimed || next.State == LnFailed && f.Value.State == chains.EscrowRefunded) {
		in.settle(next)
	}
}

// mayPublish reports whether the preimage may become public: that very escrow
// was just seen open, finally, with enough time left to claim it (protocol:
// swap-flows-escrow.md §8.5). Before that, publishing it would let the LP keep
// the payment without paying out. Once it may be known to others only a claim
// helps the user, so from then on the open escrow alone counts.
func mayPublish(in Decision) bool {
	f := in.Obs.Escrow
	open := in.R.State == LnCommitted && in.R.Escrow.Real != nil && !in.R.Lightning.Preimage.IsZero() && in.openSomewhere()
	return open && (in.R.Public() || f.Known() && f.Value.Final && !lateFor(lp.DutyClaim, in.R.Escrow.Real, f, in.Now))
}

// Public reports whether others than the user may know the preimage.
func (r *Record) Public() bool { return r.Lightning != nil && r.Lightning.Revealed != 0 }

// claimTodo is what the claim is that is under way: one of which the user knows that it
// may be lost, or a safe one.
func (r *Record) claimTodo() lp.Duty {
	if s := r.Submission; s.Open() && s.Action == actionLastClaim {
		return lp.DutyLastClaim
	}
	return lp.DutyClaim
}

// revealing marks an effect that makes the preimage public, and says until when
// that is safe.
func revealing(r *Record, e Effect) Effect {
	e.Reveals = true
	if !r.Public() && r.Escrow != nil && r.Escrow.Real != nil {
		e.Until = r.claimTodo().Before(r.Escrow.Real.Expiry)
	}
	return e
}

func autoEffects(in Decision) []Effect {
	effects := sendNext(in, mayPublish)
	if mayPublish(in) {
		effects = append(effects, revealing(in.R, Effect{Kind: Publish}))
	}
	return append(effects, withdrawEffects(in)...)
}

func autoView(in Decision) View {
	r := in.R
	row, _ := rowOf(autoStates, r.State)
	reveal := r.State == LnCommitted && r.Lightning.Preimage.IsZero()
	v := View{Row: row, Reveal: &reveal}
	pay := Step{Type: stepPayment, Chain: onLightning, Title: "Lightning payment", Description: "The invoice is paid.", InitTx: r.Lightning.Hash}
	settle := Step{Type: stepSettlement, Chain: r.Chain, Title: "Destination settlement", Description: "The tokens are paid out.", InitTx: r.Escrow.InitTx, SettleTx: r.Escrow.ClaimTx}
	switch r.State {
	case LnCreated:
		pay.Status, settle.Status = shownAwaiting, shownInactive
		payInvoice(in, &v, &pay)
	case LnSoftExpired, LnExpired:
		pay.Status, settle.Status = shownSoftExpired, shownInactive
		if r.State == LnExpired {
			pay.Status = shownExpired
		}
	case LnPaid:
		pay.Status, settle.Status = shownReceived, shownWaitingLP
		v.Action = &Wait{Name: "Awaiting LP payout", Description: "The provider is opening the escrow.", ExpectedSeconds: 10, PollSeconds: 5}
	case LnCommitted:
		pay.Status = shownReceived
		switch {
		case r.Escrow.OpenedAt != 0 && in.Now.Sub(r.Escrow.OpenedAt.Time()) <= automaticWindow:
			settle.Status = shownAwaitingAutomatic
			v.Action = &Wait{Name: "Automatic settlement", Description: "A watchtower settles the swap.", ExpectedSeconds: 10, PollSeconds: 5}
		default:
			settle.Status = shownAwaitingManual
			claimByPreimage(in, &v, true)
		}
	case LnClaimed:
		pay.Status, settle.Status = shownConfirmed, shownSettled
		pay.SettleTx = r.Lightning.Hash
	case LnHTLCExpired, LnFailed:
		pay.Status, settle.Status = shownExpired, shownExpired
	}
	v.Steps = []Step{pay, settle}
	return v
}
