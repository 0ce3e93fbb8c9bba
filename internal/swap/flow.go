package swap

import (
	"math"
	"slices"
	"time"
)

// Flow is one type of swap as data: its states, and the rules by which a record
// moves between them. All functions are pure: they do not modify their
// arguments and use no clock.
type Flow struct {
	Type   Type
	States []StateRow
	Moves  []Move // the first one whose guard holds is taken

	// Ask returns what is still to be asked, given what is known: empty when
	// nothing is. It is called again after each round of answers.
	Ask func(in Decision) Ask
	// Fill writes facts that move no state into next, a copy of in.R: ids,
	// confirmations, a verified preimage.
	Fill func(in Decision, next *Record)
	// Effects returns what has to be done now, from the record and the facts.
	Effects func(in Decision) []Effect
	// View returns how the swap is displayed. It also works with an empty
	// Observation.
	View func(in Decision) View
	// Unpaid reports whether the swap is a quote without a payment or anything
	// else in progress, as far as the record shows. Once such a quote expires
	// it has ended for the caller (see Over); the engine keeps checking it, less and less
	// often, and revives it if it turns out to be paid.
	Unpaid func(r *Record) bool
	// NotPaid reports whether the facts say that nothing was paid or opened. It is for
	// types whose payment need not pass through here; nil: it does, and the record shows it.
	NotPaid func(in Decision) bool
}

// IsUnpaid reports whether a record is an unused quote.
func (f *Flow) IsUnpaid(r *Record) bool { return f.Unpaid != nil && f.Unpaid(r) }

// Over reports whether a quote has expired unused. Its state may be one in
// which a payment can still arrive. That the local clock has reached the expiry is not
// enough where the user pays elsewhere, perhaps in the last second: an answer from after
// the expiry must have said that nothing was paid, or none have come for a day.
func (f *Flow) Over(r *Record, now time.Time) bool {
	row, ok := f.State(r.State)
	return ok && !row.Finished && r.Expiry.Reached(now) && f.IsUnpaid(r) &&
		(f.NotPaid == nil || r.NotPaid || now.Sub(r.Expiry.Time()) >= unheardFor)
}

// unheardFor is how long after its expiry a quote ends of which no answer has said
// whether it was paid.
const unheardFor = 24 * time.Hour

// noteNotPaid keeps that an answer from after the expiry says that nothing was paid. An
// LP's answer counts from when it was asked for.
func (f *Flow) noteNotPaid(in Decision, next *Record) {
	if f.NotPaid != nil && next.Expiry.Reached(in.Now.Add(-in.Obs.LP.Value.Age)) && f.IsUnpaid(next) && f.NotPaid(in) {
		next.NotPaid = true
	}
}

// Decision is what a decision is made from.
type Decision struct {
	R     *Record
	Obs   *Observation
	Input Input // nil, a command, or the outcome of an effect
	Now   time.Time
}

// stay as the target of a [Move] keeps the state.
const stay = math.MinInt

// Move is one row of a transition table.
type Move struct {
	From []int
	To   int    // a state, or stay
	Why  string // for the log and for the diagram
	// On restricts the row to passes that carry an input of this kind, which it
	// consumes; nil is any pass.
	On InputKind
	// Undoes says that the row takes back what a chain has shown because a node does not show
	// it: as an end it needs settled facts.
	Undoes bool
	If     func(in Decision) bool          // nil is always
	Do     func(in Decision, next *Record) // nil is nothing; next already has the new state
}

// StateRow is one state of a type.
type StateRow struct {
	Number      int
	Name        string
	Description string

	Finished bool // for the user
	Success  bool
	Failed   bool
	Expired  bool // the quote expired unused

	Pending bool          // in the list of pending swaps
	Watched bool          // the engine looks at it
	Every   time.Duration // how often, while it is young
	Hidden  bool          // in no list
}

// State returns the row of a number, and false if the type has no such state.
func (f *Flow) State(number int) (StateRow, bool) {
	i := slices.IndexFunc(f.States, func(s StateRow) bool { return s.Number == number })
	if i < 0 {
		return StateRow{}, false
	}
	return f.States[i], true
}

// Step decides once: facts are filled in, then at most one row of the table is
// taken. next is a changed copy of in.R, or nil if nothing changes. taken is the
// row, if any.
func (f *Flow) Step(in Decision) (next *Record, taken *Move) {
	next = in.R.Clone()
	in.noteOutcome(next)
	if f.Fill != nil {
		f.Fill(in, next)
	}
	unsettled := in.hearsay() || in.Obs.Contradiction() != nil
	if unsettled {
		next.Ended, next.Settled = in.R.Ended, in.R.Settled
	}
	filled := in
	filled.R = next
	if l := filled.lie(); l != nil {
		next.Lie = l
	}
	for i := range f.Moves {
		m := &f.Moves[i]
		if !slices.Contains(m.From, next.State) || m.On != 0 && (in.Input == nil || in.Input.Kind() != m.On) {
			continue
		}
		if m.If != nil && !m.If(filled) || unsettled && f.irrevocableMove(in, m) {
			continue
		}
		after := next.Clone()
		if m.To != stay {
			after.State = m.To
		}
		if m.Do != nil {
			m.Do(filled, after)
		}
		if after.State != next.State {
			after.Ended, after.Settled = 0, false
		}
		if !unsettled {
			f.noteNotPaid(in, after)
		}
		if row, ok := f.State(after.State); ok && row.Finished && after.Ended == 0 {
			after.Ended = At(in.Now)
		}
		in.noteSeen(after, after.State != in.R.State)
		return after, m
	}
	if !unsettled {
		f.noteNotPaid(in, next)
	}
	in.noteSeen(next, false)
	return next, nil
}
