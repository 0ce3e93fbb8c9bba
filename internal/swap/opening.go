package swap

import (
	"slices"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/fault"
)

// What the types share in which the user's transaction opens the escrow with the LP's
// authorisation.

// statusGuards are the guards of rows by what the chain says of an escrow: one for its
// word as it is, and one for its word against what was seen before.
func statusGuards(status func(Decision) chainStatus) (is, anew func(want ...chainStatus) func(Decision) bool) {
	is = func(want ...chainStatus) func(Decision) bool {
		return func(in Decision) bool { return slices.Contains(want, status(in)) }
	}
	anew = func(want ...chainStatus) func(Decision) bool {
		return func(in Decision) bool { return is(want...)(in) && in.R.takesBack(in.Obs.Escrow.Value.Head) }
	}
	return is, anew
}

// notOpened reports whether the chain does not show the escrow. A wallet may open it by
// itself, without a word to the library.
func notOpened(in Decision) bool {
	return in.Obs.Escrow.Known() && in.Obs.Escrow.Value.State == chains.EscrowNone
}

// opens notes when an escrow was first seen open.
func opens(in Decision, next *Record) {
	if next.Escrow.OpenedAt == 0 {
		next.Escrow.OpenedAt = At(in.Now)
	}
}

// openingQuery asks for the escrow, and whether it can still be opened.
func openingQuery(r *Record, unopened bool) *chains.EscrowQuery {
	q := &chains.EscrowQuery{Escrow: r.Escrow.Real}
	if unopened {
		q.Auth, q.FeeRate = r.Escrow.Init, r.Escrow.FeeRate
	}
	return q
}

// mayOpen guards the submission of opening transactions: the authorisation is
// still valid, and no other submission is in progress.
func mayOpen(in Decision) bool {
	sub := in.Input.(Submit)
	return sub.Action == ActionInit && in.takes(sub) && !in.rivalled() &&
		in.Obs.Escrow.Known() && in.Obs.Escrow.Value.Auth == chains.AuthGood
}

// opens reports whether the next transaction to send opens the escrow.
func (in Decision) opens() bool {
	s := in.R.Submission
	if !s.Open() || s.Action != ActionInit {
		return false
	}
	i := slices.IndexFunc(s.Txs, func(tx SignedTx) bool { return !tx.Sent })
	return i >= 0 && !s.Txs[i].Reveals
}

// openable reports whether the authorisation is good, as far as is known: by the
// chain's word, or else by the quote's expiry. If the chain was asked only about the
// escrow, as for an open one, it must be asked again before anything is offered.
func openable(in Decision) bool {
	if in.R.Escrow == nil || in.R.Escrow.Init == nil { // a recovered swap: nothing can be opened
		return false
	}
	if f := in.Obs.Escrow; f.Known() {
		return f.Value.Auth == chains.AuthGood
	}
	return !in.R.Expiry.Passed(in.Now)
}

// quoteOver reports whether it is too late to begin.
func quoteOver(in Decision) bool {
	f := in.Obs.Escrow
	return in.R.Expiry.Passed(in.Now) && !(f.Known() && f.Value.Auth == chains.AuthGood)
}

// neverOpened returns a guard that holds when an escrow was not opened, and cannot be
// any more.
func neverOpened(status func(Decision) chainStatus) func(Decision) bool {
	return func(in Decision) bool {
		s := status(in)
		if in.busy() || s == statusUnknown || in.R.Escrow.InitTx != "" && !rested(in) {
			return false
		}
		return s == statusExpired || s == statusNotOpen && in.Obs.Escrow.Value.Auth == chains.AuthOver
	}
}

// endOpening ends what was submitted to open an escrow.
func endOpening(_ Decision, next *Record) {
	closeSubmission(next, "the time to open the swap has passed")
}

// openAction asks the user to open the escrow.
func openAction(r *Record) *Sign {
	return &Sign{Name: "Initiate swap", Description: "Sign and submit the transactions that open the swap.", For: ActionInit, Plan: initPlan(r)}
}

// initPlan opens the escrow. It is at the fee rate that the LP signed for.
func initPlan(r *Record) chains.Plan {
	step := chains.Step{Kind: chains.StepInit, Escrow: *r.Escrow.Real}
	if r.Escrow.Init != nil {
		step.Auth = *r.Escrow.Init
	}
	return chains.Plan{SwapID: r.ID, Seed: r.Seed, Signer: r.Signer, FeeRate: r.Escrow.FeeRate, Steps: []chains.Step{step}}
}

// errNotShown is shown for a swap whose record says that its escrow is open, as an imported
// one may, while the chain says that it never was.
var errNotShown = fault.New(fault.Upstream, "the chain does not show the escrow; as long as it does not, there is nothing to pay for and nothing to refund")
