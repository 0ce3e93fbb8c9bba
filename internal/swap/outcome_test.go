package swap

import (
	"testing"
	"time"

	"github.com/swapper-go/swapper/chains"
)

// TestOutcomeOfReplacedSubmission makes nothing of the outcome of a transaction that
// is not the one that the step sends now.
func TestOutcomeOfReplacedSubmission(t *testing.T) {
	f := newToBTC()
	counts := func(in Decision) bool { next, _ := f.Step(in); return next.Tried["send:1"].Outcome == Done }
	pass := func() Decision {
		in := refundPass(sent("me"))()
		in.Input = Outcome{Effect: SendTx, Done: true, Step: 1, Tx: "0x2"}
		return in
	}
	needs(t, pass, counts, changes{
		"another one takes its place": func(in *Decision) { in.R.Submission.Txs[1].ID = "0x3" },
		"the new one is shorter":      func(in *Decision) { in.R.Submission.Txs = in.R.Submission.Txs[:1] },
		"there is none":               func(in *Decision) { in.R.Submission = nil },
	})
	allows(t, pass, counts, changes{"the outcome names none": func(in *Decision) { in.Input = Outcome{Effect: SendTx, Done: true, Step: 1} }})
}

// TestPreimageIsSecretAgain takes a preimage for secret after a refusal only if no
// attempt can have made it public.
func TestPreimageIsSecretAgain(t *testing.T) {
	f := newFromBTCLNAuto()
	needs(t, func() Decision {
		in := autoPass(LnCommitted, chains.EscrowFact{State: chains.EscrowOpen})()
		in.R.Lightning.Revealed = ago(time.Second)
		in.R.Tried = map[string]Try{string(Publish): {Started: ago(time.Second)}}
		in.Input = Outcome{Effect: Publish, Refused: true}
		return in
	}, func(in Decision) bool {
		next, _ := f.Step(in)
		return !next.Public() && next.Tried[string(Publish)].Started == 0
	}, changes{
		"it is not known what became of it": func(in *Decision) { in.Input = Outcome{Effect: Publish} },
		"an earlier attempt had no answer":  func(in *Decision) { in.R.Tried[string(Publish)] = Try{Started: ago(time.Second), Attempts: 1} },
		"an earlier attempt was taken": func(in *Decision) {
			in.R.Tried[string(Publish)] = Try{Started: ago(time.Second), Attempts: 1, Outcome: Done}
		},
		"something else revealed it": func(in *Decision) { in.R.Lightning.Revealed = ago(time.Minute) },
		"something else was refused": func(in *Decision) { in.Input = Outcome{Effect: CallWithdraw, Refused: true} },
	})
}

// TestPausesGrow bounds how soon an effect is tried again.
func TestPausesGrow(t *testing.T) {
	for attempts, want := range map[int][2]time.Duration{1: {2 * time.Second, 4 * time.Second}, 4: {16 * time.Second, 32 * time.Second}, 40: {10 * time.Minute, 5 * time.Minute}} {
		if got := [2]time.Duration{Backoff(attempts), repeatAfter(attempts)}; got != want {
			t.Errorf("after %d: %v, want %v", attempts, got, want)
		}
	}
	e, r := Effect{Kind: Publish}, &Record{Tried: map[string]Try{string(Publish): {NotBefore: At(noon)}}}
	if e.Due(r, noon.Add(-time.Millisecond)) || !e.Due(r, noon) {
		t.Error("an effect is due at its time, and not before")
	}
}
