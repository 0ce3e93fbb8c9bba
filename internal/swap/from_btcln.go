package swap

import (
	"errors"
	"slices"
	"time"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/internal/lp"
)

var fromBTCLNStates = []StateRow{
	{Number: LnFailed, Name: "FAILED", Description: "The escrow was refunded to the provider.", Finished: true, Failed: true, Watched: true, Every: settleAfter},
	{Number: LnExpired, Name: "QUOTE_EXPIRED", Description: "The quote expired; a payment that the provider held goes back to the payer.", Finished: true, Expired: true, Hidden: true, Watched: true, Every: time.Hour},
	{Number: LnSoftExpired, Name: "QUOTE_SOFT_EXPIRED", Description: "The invoice or the provider's authorization expired; what is already on its way may still arrive.", Pending: true, Watched: true, Every: 10 * time.Second},
	{Number: LnHTLCExpired, Name: "EXPIRED", Description: "The escrow is about to time out; it can no longer be claimed safely.", Failed: true, Pending: true, Watched: true, Every: time.Minute},
	{Number: LnCreated, Name: "PR_CREATED", Description: "Waiting for the invoice to be paid.", Pending: true, Watched: true, Every: 5 * time.Second},
	{Number: LnPaid, Name: "PR_PAID", Description: "The provider holds the payment; the user's transactions open the escrow and claim it.", Pending: true, Watched: true, Every: 5 * time.Second},
	{Number: LnCommitted, Name: "CLAIM_COMMITED", Description: "The escrow is open and can be claimed.", Pending: true, Watched: true, Every: 5 * time.Second},
	{Number: LnClaimed, Name: "CLAIM_CLAIMED", Description: "The tokens were paid out.", Finished: true, Success: true, Watched: true, Every: settleAfter},
}

// newFromBTCLN returns the type FROM_BTCLN: the user pays a Lightning invoice, the LP
// holds the payment and authorises the user to open an escrow of the LP's tokens, and
// the user claims it with the preimage, by which the LP gets the payment. Opening and
// claim are signed together; the claim is held back until the escrow is final.
func newFromBTCLN() *Flow {
	return &Flow{
		Type:    FromBTCLN,
		States:  fromBTCLNStates,
		Moves:   fromBTCLNMoves(),
		Ask:     fromBTCLNAsk,
		Fill:    fromBTCLNFill,
		Effects: fromBTCLNEffects,
		View:    fromBTCLNView,
		Unpaid:  func(r *Record) bool { return r.Escrow.Real == nil && lightningUnpaid(r) },
		NotPaid: func(in Decision) bool { return in.R.LP.URL == "" || LPSays(lp.CodeExpired, lp.CodeUnpaid)(in) },
	}
}

func fromBTCLNStatus(in Decision) chainStatus {
	return escrowStatus(in.Obs.Escrow, in.R.Escrow.Real, false, in.Now)
}

func fromBTCLNMoves() []Move {
	is, anew := statusGuards(fromBTCLNStatus)
	late := func(in Decision) bool {
		return !in.R.Public() && lateFor(lp.DutyClaim, in.R.Escrow.Real, in.Obs.Escrow, in.Now)
	}
	held := func(guard func(Decision) bool) func(Decision) bool { // the LP holds the payment
		return func(in Decision) bool { return in.R.Escrow.Real != nil && guard(in) }
	}
	waiting := []int{LnExpired, LnSoftExpired, LnCreated}
	all := append([]int{LnHTLCExpired, LnPaid, LnCommitted}, waiting...)
	final := []int{LnClaimed, LnFailed}
	unopened := append([]int{LnPaid}, waiting...)
	return []Move{
		{From: all, To: LnClaimed, Why: "the escrow was claimed", If: is(statusPaid)},
		{From: all, To: LnFailed, Why: "the escrow was refunded", If: is(statusTakenBack)},
		{From: []int{LnFailed}, To: LnClaimed, Why: "the escrow was claimed, not refunded", If: anew(statusPaid), Do: forgetEnd},
		{From: []int{LnClaimed}, To: LnFailed, Why: "the escrow was refunded, not claimed", If: anew(statusTakenBack), Do: forgetEnd},
		{From: final, To: LnCommitted, Why: "a reorganisation opened the escrow again", If: anew(statusOpen), Do: forgetEnd},
		{From: final, To: LnPaid, Why: "a reorganisation removed the escrow", Undoes: true, If: anew(statusNotOpen, statusExpired), Do: forgetEnd},
		{From: waiting, To: LnPaid, Why: "the provider holds the payment and authorized the agreed escrow", If: authorizedNow, Do: func(in Decision, next *Record) {
			next.Escrow.Real, next.Escrow.Init = in.Obs.Delivered.Value, in.Obs.LP.Value.Auth
			next.Expiry, next.Problem = in.Obs.Init.Value, ""
		}},
		{From: []int{LnCommitted}, To: LnHTLCExpired, Why: "the escrow is about to time out", If: late},
		{From: unopened, To: LnHTLCExpired, Why: "the escrow is open, and about to time out", If: func(in Decision) bool { return is(statusOpen)(in) && late(in) }},
		{From: append([]int{LnHTLCExpired}, unopened...), To: LnCommitted, Why: "the escrow is open", If: func(in Decision) bool { return is(statusOpen)(in) && !late(in) }, Do: opens},
		{From: []int{LnCommitted}, To: LnPaid, Why: "a reorganisation removed the escrow", Undoes: true, If: anew(statusNotOpen, statusExpired)},
		{From: []int{LnHTLCExpired}, To: LnPaid, Why: "there is still time to claim the escrow once it is opened", If: anew(statusNotOpen)},
		{From: []int{LnPaid, LnSoftExpired, LnHTLCExpired}, To: LnExpired, Why: "the authorization expired and the escrow was never opened", If: held(neverOpened(fromBTCLNStatus)), Do: endOpening},
		{From: []int{LnPaid}, To: LnSoftExpired, Why: "the authorization expired", If: quoteOver},
		{From: []int{LnCreated}, To: LnSoftExpired, Why: "the invoice expired", If: func(in Decision) bool { return in.R.Expiry.Passed(in.Now) }},
		{From: []int{LnSoftExpired}, To: LnExpired, Why: "no payment can arrive any more", If: func(in Decision) bool {
			return in.R.Escrow.Real == nil && in.R.Lightning.EndsAt.Passed(in.Now)
		}},

		{From: slices.Clone(all), To: stay, Why: "the preimage was revealed", On: OnReveal, Do: func(in Decision, next *Record) {
			next.Lightning.Preimage = in.Input.(Reveal).Preimage
		}},
		withdrawMove(),
		{From: []int{LnPaid, LnSoftExpired}, To: stay, Why: "the user signed", On: OnSubmit, If: held(func(in Decision) bool {
			return mayOpen(in) && !tooLateToOpen(in)
		}), Do: accept},
		{From: []int{LnCommitted}, To: stay, Why: "the user signed the claim", On: OnSubmit, If: func(in Decision) bool {
			sub := in.Input.(Submit)
			return sub.Action == actionClaim && in.takes(sub)
		}, Do: accept},
		{From: []int{LnHTLCExpired}, To: stay, Why: "the user chose to claim, though it may be lost", On: OnSubmit, If: func(in Decision) bool {
			sub := in.Input.(Submit)
			return sub.Action == actionLastClaim && mayClaimLast(in) && in.takes(sub)
		}, Do: accept},
	}
}

// authorizedNow reports whether the LP delivered the agreed escrow, not opened yet,
// with an authorisation that is good, and lasting long enough to be signed for, opened
// and claimed (protocol: swap-flows-escrow.md §7.5).
func authorizedNow(in Decision) bool {
	d, init, f := in.Obs.Delivered, in.Obs.Init, in.Obs.Found
	return in.R.Escrow.Real == nil && d.Known() && init.Asked && f.Known() && lp.Openable(*d.Value, f.Value, init.Err, in.Now) == nil
}

// tooLateToOpen reports whether the escrow, opened now, could not be claimed safely: it
// would cost the user the deposit.
func tooLateToOpen(in Decision) bool {
	return lateFor(lp.DutyOpen, in.R.Escrow.Real, in.Obs.Escrow, in.Now)
}

// mayClaimLast reports whether the open escrow, which cannot be claimed safely any more,
// may still be claimed if its user chooses to.
func mayClaimLast(in Decision) bool {
	f := in.Obs.Escrow
	return in.R.State == LnHTLCExpired && in.R.Escrow.Real != nil && f.Known() && f.Value.State == chains.EscrowOpen && f.Value.Final &&
		!lateFor(lp.DutyLastClaim, in.R.Escrow.Real, f, in.Now)
}

func fromBTCLNAsk(in Decision) Ask {
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
			a.Escrow = openingQuery(r, r.State == LnPaid || r.State == LnSoftExpired)
		}
		return a
	}
	if q := hashRival(r); q != nil && !obs.Rival.Asked {
		a.Rival = q
	}
	_, hinted := in.Input.(Look)
	if r.LP.URL != "" && !obs.LP.Asked && (hinted || mayBePaid(in)) {
		a.LP = &lp.StatusQuery{URL: r.LPURL(), Endpoint: lp.GetInvoicePaymentAuth, ID: r.Lightning.Hash}
	}
	if !LPSays(lp.CodeDone)(in) || len(obs.LP.Value.Escrow) == 0 || obs.LP.Value.Auth == nil {
		return a
	}
	if !obs.Delivered.Asked {
		a.Delivered = &DeliveredAsk{Want: *r.Escrow.Expected, Data: obs.LP.Value.Escrow, Opens: true}
	}
	if obs.Delivered.Known() {
		e := obs.Delivered.Value
		if !obs.Init.Asked {
			a.Init = &InitAsk{Escrow: *e, Auth: *obs.LP.Value.Auth, FeeRate: r.Escrow.FeeRate, Sender: r.Signer}
		}
		if !obs.Found.Asked {
			a.Found = &chains.EscrowQuery{Escrow: e}
		}
	}
	return a
}

func fromBTCLNFill(in Decision, next *Record) {
	if next.Escrow == nil {
		return
	}
	f := in.Obs.Escrow
	fillEscrowTxs(f, next.Escrow)
	fillSubmission(in, next)
	if next.Escrow.Real == nil {
		if problem := deliveryProblem(in); problem != "" {
			next.Problem = problem
		}
	}
	if !f.Known() {
		return
	}
	if f.Value.State == chains.EscrowClaimed {
		if next.KeepPreimage(f.Value.Result) && next.Lightning.Revealed == 0 {
			next.Lightning.Revealed = At(in.Now)
		}
	}
	if f.Value.Final && (next.State == LnClaimed && f.Value.State == chains.EscrowClaimed || next.State == LnFailed && f.Value.State == chains.EscrowRefunded) {
		in.settle(next)
	}
}

// deliveryProblem says why the user cannot open what the LP delivered for the payment;
// "" if nothing is wrong with it, or it was not judged.
func deliveryProblem(in Decision) string {
	if lie, ok := errors.AsType[*lp.LPError](in.Obs.Delivered.Err); ok {
		return "the provider announced an escrow that differs from the agreed one: " + lie.Public()
	}
	if bad, ok := errors.AsType[*chains.AuthError](in.Obs.Init.Err); ok && !bad.Late {
		return "the provider's authorization to open the escrow is not valid: " + bad.Public()
	}
	if !in.Obs.Delivered.Known() {
		return ""
	}
	if f := in.Obs.Found; f.Known() && f.Value.State != chains.EscrowNone {
		return "the escrow that the provider announced is already " + f.Value.State.String()
	}
	if lateFor(lp.DutySign, in.Obs.Delivered.Value, in.Obs.Found, in.Now) {
		return "the escrow that the provider announced has an expiry that leaves too little time to claim it safely"
	}
	return ""
}

// fromBTCLNEffects sends what the user signed. An opening that is late is not sent: it
// would stake the deposit on a claim that is held back.
func fromBTCLNEffects(in Decision) []Effect {
	if in.opens() && (in.R.Escrow.Real == nil || tooLateToOpen(in)) {
		return nil
	}
	return append(sendNext(in, func(in Decision) bool {
		return mayPublish(in) || in.R.Submission.Action == actionLastClaim && mayClaimLast(in)
	}), withdrawEffects(in)...)
}

func fromBTCLNView(in Decision) View {
	r := in.R
	row, _ := rowOf(fromBTCLNStates, r.State)
	paid := r.Escrow.Real != nil
	reveal := (r.State == LnPaid || r.State == LnCommitted) && r.Lightning.Preimage.IsZero()
	v := View{Row: row, Reveal: &reveal}
	pay := Step{Type: stepPayment, Chain: onLightning, Title: "Lightning payment", Description: "The invoice is paid.", InitTx: r.Lightning.Hash}
	settle := Step{Type: stepSettlement, Chain: r.Chain, Title: "Destination settlement", Description: "The tokens are paid out.", InitTx: r.Escrow.InitTx, SettleTx: r.Escrow.ClaimTx}
	switch r.State {
	case LnCreated:
		pay.Status, settle.Status = shownAwaiting, shownInactive
		payInvoice(in, &v, &pay)
		if r.Lightning.Invoice == "" { // a recovered swap: there is nothing to pay
			pay.Status = shownSoftExpired
		}
	case LnSoftExpired:
		pay.Status, settle.Status = shownSoftExpired, shownInactive
		if paid {
			pay.Status, settle.Status = shownReceived, shownSoftExpired
			if in.Obs.Escrow.Known() && openable(in) && !tooLateToOpen(in) && !in.busy() && !r.Lightning.Preimage.IsZero() {
				v.Late = in.again(openAndClaim(r))
			}
		}
	case LnExpired:
		pay.Status, settle.Status = shownExpired, shownInactive
		if paid {
			settle.Status = shownExpired
		}
	case LnPaid:
		pay.Status, settle.Status = shownReceived, shownAwaitingManual
		switch {
		case !openable(in):
		case tooLateToOpen(in) && (in.opens() || !in.busy()):
			v.Blocked = errTooLateToOpen
		case in.busy():
		case !in.Obs.Escrow.Known(): // it would be refused
			v.Blocked = errBlind
		case lateFor(lp.DutySign, r.Escrow.Real, in.Obs.Escrow, in.Now):
			v.Late, v.Blocked = in.again(openAndClaim(r)), errTooLateToOpen
		default:
			v.Action = in.again(openAndClaim(r))
		}
	case LnCommitted:
		pay.Status, settle.Status = shownReceived, shownAwaitingManual
		claimByPreimage(in, &v, false)
		if v.Action == nil && !reveal { // what was signed along with the opening waits for it to be final
			v.Action = (&Sign{For: actionClaim}).Delayed()
		}
	case LnClaimed:
		pay.Status, settle.Status = shownConfirmed, shownSettled
		pay.SettleTx = r.Lightning.Hash
	case LnHTLCExpired, LnFailed:
		pay.Status, settle.Status = shownExpired, shownExpired
		claimLast(in, &v)
	}
	v.Steps = []Step{pay, settle}
	return v
}

// errTooLateToOpen is shown instead of an opening that would cost the deposit.
var errTooLateToOpen = fault.New(fault.InvalidState, "too little time is left to open the escrow and to claim it safely; the payment is returned to the payer")

// claimLast offers the claim of an escrow that ends too soon, as a choice, and says what
// it risks. Without it the deposit is lost for certain.
func claimLast(in Decision, v *View) {
	r := in.R
	switch {
	case !mayClaimLast(in) || in.busy():
	case r.Lightning.Preimage.IsZero():
		v.Blocked = fault.New(fault.InvalidState, "the escrow is about to time out; reveal the preimage to be offered a claim that may still succeed")
	default:
		step := claimStep(r)
		step.Public = true // to be built however late it is
		v.Action = in.again(&Sign{Name: "Settle manually", For: actionLastClaim,
			Description: "A choice, with a risk: the provider can take the escrow back from " + time.Unix(r.Escrow.Real.Expiry, 0).UTC().Format(time.RFC3339) + " on. " +
				"If the claim is executed before that, the tokens are paid out. If it is not, the payment, the tokens and the deposit are lost, because the claim publishes the preimage. " +
				"Without a claim the deposit is lost, and the payment is returned to the payer.",
			Plan: chains.Plan{SwapID: r.ID, Seed: r.Seed, Signer: r.Signer, Steps: []chains.Step{step}}})
	}
}

// openAndClaim asks the user to open the escrow and to claim it, in one go: the wallet
// need not come back once the escrow is open. One that keeps the preimage until it has seen
// the escrow open is asked for the opening alone.
func openAndClaim(r *Record) *Sign {
	if r.Lightning.Preimage.IsZero() {
		return openAction(r)
	}
	plan := initPlan(r)
	plan.Steps = append(plan.Steps, claimStep(r))
	return &Sign{Name: "Settle manually", Description: "Sign and submit the transactions that open the escrow and claim the tokens; the claim is sent once the escrow is final.", For: ActionInit, Plan: plan}
}
