package swap

import (
	"errors"
	"slices"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/tokens"
)

// What cannot be taken back needs settled facts: answers to which no node of the chain
// objects ([chains.ContradictionError]). These acts are
//
//   - showing that a swap has finished, and ending its supervision;
//   - showing an opening or an end no longer, because a node does not know it;
//   - making a preimage public, or handing out transactions that do;
//   - asking for a bitcoin payment, or taking a signed one;
//   - punishing an LP for what the chain shows ([In.lie]), which takes two nodes at least.
//
// The types know nothing of this. onSettledFacts puts it around each of them: a type that
// would do one of these by the word of one of several nodes has the same question asked
// again, of all of them, and does not act before that is answered. While the nodes
// contradict each other it does not act either. A preimage that is public already waits
// for nothing.

// onSettledFacts makes a type take steps that cannot be undone only on settled facts.
func (f *Flow) onSettledFacts() {
	ask, effects, view := f.Ask, f.Effects, f.View
	f.Ask = func(in Decision) Ask {
		a := ask(in)
		if in.hearsay() && f.irrevocable(in, effects, view) {
			in.askAll(ask, &a)
		}
		return a
	}
	f.Effects = func(in Decision) []Effect {
		due := effects(in)
		if !in.hearsay() {
			return due
		}
		return slices.DeleteFunc(due, in.R.irrevocableEffect)
	}
	f.View = func(in Decision) View {
		v := view(in)
		if in.hearsay() && in.R.irrevocableAction(v.Action) {
			v.Action, v.Blocked = nil, errHearsay
		}
		if err := in.Obs.Contradiction(); err != nil && (v.Blocked == nil || fault.CodeOf(v.Blocked) == fault.Upstream) {
			v.Blocked = fault.New(fault.Upstream, "%w", err)
			if opening(v.Action) || opening(v.Late) { // it would be refused
				v.Action, v.Late = nil, nil
			}
		}
		return v
	}
}

func opening(a Action) bool {
	s, ok := a.(*Sign)
	return ok && s.For == ActionInit
}

// errHearsay is shown where an action needs a settled fact that was not had.
var errHearsay = fault.New(fault.Upstream, "the other nodes of the chain have not confirmed the swap's state yet")

// hearsay reports whether a fact at hand is the word of one of several nodes.
func (in Decision) hearsay() bool {
	o := in.Obs
	return o.Escrow.Known() && o.Escrow.Value.Unsettled || o.Found.Known() && o.Found.Value.Unsettled || o.Withdrawal.Known() && o.Withdrawal.Value.Unsettled
}

// askAll repeats the questions that one of several nodes has answered, for all of them.
func (in Decision) askAll(ask func(Decision) Ask, to *Ask) {
	o := in.Obs
	again := func(forget func(o *Observation)) Ask {
		blank := *o
		forget(&blank)
		in.Obs = &blank
		return ask(in)
	}
	if o.Escrow.Known() && o.Escrow.Value.Unsettled {
		if to.Escrow = again(func(o *Observation) { o.Escrow = Fact[chains.EscrowFact]{} }).Escrow; to.Escrow != nil {
			to.Escrow.Settled = true
		}
	}
	if o.Found.Known() && o.Found.Value.Unsettled {
		if to.Found = again(func(o *Observation) { o.Found = Fact[chains.EscrowFact]{} }).Found; to.Found != nil {
			to.Found.Settled = true
		}
	}
	if o.Withdrawal.Known() && o.Withdrawal.Value.Unsettled {
		if to.Withdrawal = again(func(o *Observation) { o.Withdrawal = Fact[chains.WithdrawalFact]{} }).Withdrawal; to.Withdrawal != nil {
			to.Withdrawal.Settled = true
		}
	}
}

// believing returns the decision's input as it would be if its facts were settled, and so
// may be final, which the word of one of several nodes never is.
func (in Decision) believing() Decision {
	o := *in.Obs
	for _, f := range []*chains.EscrowFact{&o.Escrow.Value, &o.Found.Value} {
		if f.Unsettled {
			f.Final, f.Unsettled, f.Witnesses = true, false, enoughWitnesses
		}
	}
	if w := &o.Withdrawal.Value; w.Unsettled {
		w.Final, w.Unsettled, w.Witnesses = true, false, enoughWitnesses
	}
	in.Obs = &o
	return in
}

// irrevocable reports whether the swap would do what cannot be taken back, were the facts
// at hand settled.
func (f *Flow) irrevocable(in Decision, effects func(Decision) []Effect, view func(Decision) View) bool {
	in = in.believing()
	next, move := f.Step(in)
	if move != nil && f.irrevocableMove(in, move) || next.Settled && !in.R.Settled || next.Ended > in.R.Ended || next.NotPaid != in.R.NotPaid || next.Lie != in.R.Lie {
		return true
	}
	if move == nil { // else the flow asks again once the row is taken
		in.R = next
		return slices.ContainsFunc(effects(in), next.irrevocableEffect) || next.irrevocableAction(view(in).Action)
	}
	return false
}

// irrevocableMove reports whether a row shows the end of a swap, takes a signed
// bitcoin payment, or takes back what was seen.
func (f *Flow) irrevocableMove(in Decision, m *Move) bool {
	if sub, ok := in.Input.(Submit); ok && m.On == OnSubmit {
		return sub.PSBT != nil
	}
	row, ok := f.State(m.To)
	return ok && row.Finished || m.Undoes
}

// irrevocableEffect reports whether an effect makes a preimage public that is secret yet.
func (r *Record) irrevocableEffect(e Effect) bool {
	return (e.Reveals || e.Kind == Publish) && !r.Public()
}

// irrevocableAction reports whether an action asks for a bitcoin payment, or hands out a
// preimage that is secret yet.
func (r *Record) irrevocableAction(a Action) bool {
	switch a := a.(type) {
	case *Pay:
		return a.Chain == tokens.Bitcoin
	case *Sign:
		return (a.For == actionClaim || a.For == actionLastClaim) && !r.Public() && slices.ContainsFunc(a.Plan.Steps, func(s chains.Step) bool { return s.Kind == chains.StepClaimSecret })
	}
	return false
}

// Contradiction returns the error of a question about which the nodes of the chain
// contradict each other, a [*chains.ContradictionError]; nil if there is none.
func (o *Observation) Contradiction() error {
	for _, err := range []error{o.Escrow.Err, o.Found.Err, o.Vault.Err, o.Withdrawal.Err, o.GasTx.Err} {
		if c, ok := errors.AsType[*chains.ContradictionError](err); ok {
			return c
		}
	}
	return nil
}

// openSomewhere reports whether at least one node says that the escrow is open: what
// counts once the preimage is public, since then only a claim helps the user.
func (in Decision) openSomewhere() bool {
	f := in.Obs.Escrow
	if f.Known() {
		return f.Value.State == chains.EscrowOpen
	}
	c, ok := errors.AsType[*chains.ContradictionError](f.Err)
	return ok && c.Open
}
