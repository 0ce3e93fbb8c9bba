package swap

import (
	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/internal/lp"
)

// What the types share in which the user pays an invoice and claims an escrow with its
// preimage.

// lightningUnpaid reports whether nothing is known of a payment: the LP has neither
// announced an escrow, the agreed one or another, nor was an LNURL service asked to
// pay that has not refused.
func lightningUnpaid(r *Record) bool {
	asked := r.Lightning.Withdraw != nil && r.Lightning.Withdraw.Asked && r.Tried[string(CallWithdraw)].Outcome != Refused
	return (r.State == LnCreated || r.State == LnSoftExpired) && r.Problem == "" && !asked
}

// mayBePaid reports whether the LP may still come to hold a payment. A swap may have been
// given up too early, by a clock that was ahead for a moment.
func mayBePaid(in Decision) bool {
	ends := in.R.Lightning.EndsAt
	return in.R.State != LnExpired || ends != 0 && !ends.Passed(in.Now)
}

// ReplacesWithdraw reports whether a link that is given now takes the place of the one that
// the swap has: of one that was given later than the swap was created, and that did not pay,
// the owner's does at once, and any when its service has refused. Two services that pay pay
// one invoice, of which the LP takes one payment.
func (r *Record) ReplacesWithdraw(byOwner bool) bool {
	w := r.Lightning.Withdraw
	return w == nil || w.Given && (byOwner || r.Tried[string(CallWithdraw)].Outcome == Refused)
}

// withdrawMove is the row by which the invoice is paid from an LNURL-withdraw link.
func withdrawMove() Move {
	return Move{From: []int{LnCreated}, To: stay, Why: "the LNURL service is asked to pay", On: onWithdraw, If: func(in Decision) bool {
		use, have := in.Input.(UseWithdraw), in.R.Lightning.Withdraw
		return (use.With != nil && in.R.ReplacesWithdraw(use.ByOwner) || use.With == nil && have != nil) && !in.rivalled() && !Cancelled(in)
	}, Do: func(in Decision, next *Record) {
		if use := in.Input.(UseWithdraw); use.With != nil {
			next.Lightning.Withdraw, next.Lightning.Link = dup(use.With), use.Link
			next.Lightning.Withdraw.Given = true
			delete(next.Tried, string(CallWithdraw)) // it was about another link
		}
		next.Lightning.Withdraw.Asked = true
		askAgain(next, CallWithdraw)
	}}
}

// withdrawEffects hands the invoice to the LNURL-withdraw service, once.
func withdrawEffects(in Decision) []Effect {
	w := in.R.Lightning.Withdraw
	if in.R.State != LnCreated || w == nil || !w.Asked || in.rivalled() || Cancelled(in) || in.R.Tried[string(CallWithdraw)].Started != 0 {
		return nil
	}
	return []Effect{{Kind: CallWithdraw, Mark: true}}
}

// payInvoice shows what a swap that waits for its invoice to be paid asks for.
func payInvoice(in Decision, v *View, pay *Step) {
	r := in.R
	if r.Expiry.Reached(in.Now) {
		pay.Status = shownSoftExpired
	} else if r.Lightning.Invoice != "" {
		v.Action = &Pay{Name: "Deposit on Lightning", Description: "Pay the Lightning invoice.", Chain: onLightning, Invoice: true,
			To: r.Lightning.Invoice, Link: lightningLink(r.Lightning.Invoice), Amount: r.Terms.Input}
	}
	withholdCancelled(in, v)
	if in.rivalled() {
		v.Action, v.Blocked = nil, errHashElsewhere
	}
	if r.Problem != "" { // the LP has the payment, and shows that it will not pay out
		v.Action, v.Blocked = nil, fault.New(fault.Upstream, "%s", r.Problem)
	}
}

// Cancelled reports whether the LP says of an unpaid quote that it accepts no payment
// any more: it has cancelled the invoice, or does not know it.
func Cancelled(in Decision) bool { return LPSays(lp.CodeExpired)(in) }

// ErrCancelled says why the user must not pay then. If the user pays nevertheless, the
// payment is not lost: the LP's node refuses it, or the swap shows it.
var ErrCancelled = fault.New(fault.InvalidState, "the provider takes no payment for this swap any more, because it has cancelled the swap or does not know it; create a new swap")

// withholdCancelled removes an action that asks for a payment that the LP would not accept.
func withholdCancelled(in Decision, v *View) {
	if _, pays := v.Action.(*Pay); pays && Cancelled(in) {
		v.Action, v.Blocked = nil, ErrCancelled
	}
}

// claimByPreimage offers the claim. It carries the preimage, so it is handed out only
// when publishing that is safe. anySigner says that anybody may sign and pay for it.
func claimByPreimage(in Decision, v *View, anySigner bool) {
	r := in.R
	switch {
	case r.Lightning.Preimage.IsZero():
	case in.blind():
		v.Blocked = errBlind
	case in.busy():
	case mayPublish(in):
		v.Action = in.again(&Sign{Name: "Settle manually", Description: "Sign and submit the transactions that claim the tokens.", For: actionClaim, AnySigner: anySigner,
			Plan: chains.Plan{SwapID: r.ID, Seed: r.Seed, Signer: r.Signer, Steps: []chains.Step{claimStep(r)}}})
	case !in.Obs.Escrow.Known():
		v.Blocked = fault.New(fault.Upstream, "the chain is not responding; the preimage is withheld until the escrow has been checked")
	default:
		v.Blocked = fault.New(fault.InvalidState, "the escrow is not final yet; the preimage is withheld until it is")
	}
	if v.Blocked != nil {
		v.Action = (&Sign{For: actionClaim}).Delayed()
	}
}

// claimStep claims the escrow with the preimage.
func claimStep(r *Record) chains.Step {
	return chains.Step{Kind: chains.StepClaimSecret, Escrow: *r.Escrow.Real, Preimage: r.Lightning.Preimage, Public: r.Public()}
}
