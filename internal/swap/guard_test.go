package swap

import (
	"errors"
	"testing"
	"time"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/chains/bitcoin"
)

// noon is the clock of the tests of guards.
var noon = time.Unix(1_800_000_000, 0)

func known[T any](v T) Fact[T] { return Fact[T]{Value: v, Asked: true} }

// failed is an answer that came with an error: whatever it says does not count.
func failed[T any](v T) Fact[T] { return Fact[T]{Value: v, Asked: true, Err: errors.New("no answer")} }

// changes are passes that differ from one pass in one thing each, by what that is.
type changes map[string]func(in *Decision)

// needs checks that something holds in a pass, and in none of those that lack one of
// its conditions.
func needs(t *testing.T, pass func() Decision, holds func(Decision) bool, without changes) {
	t.Helper()
	if !holds(pass()) {
		t.Error("it does not hold though nothing is wrong")
	}
	for name, change := range without {
		in := pass()
		change(&in)
		if holds(in) {
			t.Errorf("it holds though %s", name)
		}
	}
}

// allows checks that something holds in a pass, whichever of the changes is made.
func allows(t *testing.T, pass func() Decision, holds func(Decision) bool, with changes) {
	t.Helper()
	for name, change := range with {
		in := pass()
		change(&in)
		if !holds(in) {
			t.Errorf("it does not hold when %s", name)
		}
	}
}

// takes returns whether a pass takes the row of a table that says why.
func takesRow(f *Flow, why string) func(Decision) bool {
	return func(in Decision) bool {
		_, row := f.Step(in)
		return row != nil && row.Why == why
	}
}

// row is a row of a table: a pass that takes it, passes that do not, and others that do.
type row struct {
	why     string
	pass    func() Decision
	without changes
	with    changes
}

func checkRows(t *testing.T, f *Flow, rows []row) {
	for _, r := range rows {
		t.Run(r.why, func(t *testing.T) {
			needs(t, r.pass, takesRow(f, r.why), r.without)
			allows(t, r.pass, takesRow(f, r.why), r.with)
		})
	}
}

// signed is what the owner of a swap hands in for an action.
func signed(action string) Submit {
	return Submit{Action: action, Txs: []SignedTx{{Signed: chains.Signed{ID: "0xnew", From: "me"}}}}
}

// busyWith puts a submission of the owner under way.
func busyWith(action string) func(*Decision) {
	return func(in *Decision) {
		in.R.Submission = &Submission{Action: action, Since: At(in.Now), Txs: []SignedTx{{Signed: chains.Signed{ID: "0xold", From: "me"}}}}
	}
}

func rivalPays(in *Decision) { in.Obs.Rival = known(true) }

func psbtOf() *SignedPSBT {
	return &SignedPSBT{TxID: bitcoin.Hash{9}, Tx: []byte{1}, Posted: []byte{2}}
}

func ago(d time.Duration) Millis { return At(noon.Add(-d)) }
