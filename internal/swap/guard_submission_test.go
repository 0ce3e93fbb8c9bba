package swap

import (
	"testing"
	"time"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/chains/bitcoin"
)

// sent is a submission of two transactions of somebody, a second old.
func sent(from string) *Submission {
	return &Submission{Action: ActionRefund, Since: ago(time.Second), Txs: []SignedTx{{Signed: chains.Signed{ID: "0x1", From: from}}, {Signed: chains.Signed{ID: "0x2", From: from}}}}
}

func refundPass(s *Submission) func() Decision {
	return func() Decision {
		in := outPass(OutRefundable, chains.EscrowFact{State: chains.EscrowOpen})()
		in.R.Submission = (&Record{Submission: s}).Clone().Submission
		in.Obs.Txs = known(map[string]chains.TxStatus{"0x1": {State: chains.TxPending}, "0x2": {State: chains.TxPending}})
		return in
	}
}

func waited(d time.Duration) func(*Decision) {
	return func(in *Decision) { in.R.Submission.Since = ago(d) }
}

// TestOneSubmissionAtATime names what keeps another one from being taken.
func TestOneSubmissionAtATime(t *testing.T) {
	owner, stranger := signed(ActionRefund), signed(ActionRefund)
	stranger.Txs[0].From = "you"
	takes := func(sub Submit) func(Decision) bool { return func(in Decision) bool { return in.takes(sub) } }

	t.Run("beside the owner's", func(t *testing.T) {
		needs(t, passOf(refundPass(sent("me")), waited(minedWithin+time.Millisecond)), takes(owner), changes{
			"its patience is not over":       waited(minedWithin),
			"one of it was mined lately":     func(in *Decision) { in.R.Submission.Moved = ago(minedWithin) },
			"the chain does not answer":      func(in *Decision) { in.Obs.Txs = failed(in.Obs.Txs.Value) },
			"it is not known who signed":     func(in *Decision) { waited(time.Second)(in); in.R.Submission.Txs[0].From = "" },
			"it is a payment, not a chain's": func(in *Decision) { waited(time.Second)(in); in.R.Submission.Txs = nil },
		})
	})
	t.Run("beside a claim of the owner", func(t *testing.T) {
		claim := sent("me")
		claim.Action = actionClaim
		needs(t, passOf(refundPass(claim), waited(claimMinedWithin+time.Millisecond)), takes(owner), changes{
			"its patience is not over": waited(claimMinedWithin),
		})
	})
	t.Run("beside a stranger's", func(t *testing.T) {
		allows(t, refundPass(sent("you")), takes(owner), changes{"it is fresh": waited(0)})
		needs(t, passOf(refundPass(sent("you")), waited(minedWithin+time.Millisecond)), takes(stranger), changes{"it is fresh": waited(minedWithin)})
	})
	t.Run("after one that is mined", func(t *testing.T) {
		closed := sent("me")
		closed.Closed, closed.Block = true, 100
		needs(t, refundPass(closed), takes(owner), changes{
			"the facts are older than its block": func(in *Decision) { in.Obs.Escrow.Value.Head.Height = 99 },
		})
		allows(t, passOf(refundPass(closed), func(in *Decision) { in.Obs.Escrow = Fact[chains.EscrowFact]{} }), takes(owner), changes{
			"a withdrawal was read later": func(in *Decision) { in.Obs.Withdrawal.Value.Head.Height = 100 },
			"a vault was read later":      func(in *Decision) { in.Obs.Vault.Value.Head.Height = 100 },
		})
	})
}

// TestBlindOnlyWithoutAnAnswer says that nothing is known of what was signed only
// when no answer of the chain could tell.
func TestBlindOnlyWithoutAnAnswer(t *testing.T) {
	silent := func(s *Submission) func() Decision {
		return passOf(refundPass(s), func(in *Decision) { in.Obs = &Observation{} })
	}
	answers := changes{
		"the escrow is known":     func(in *Decision) { in.Obs.Escrow = known(chains.EscrowFact{}) },
		"the withdrawal is known": func(in *Decision) { in.Obs.Withdrawal = known(chains.WithdrawalFact{}) },
		"the vault is known":      func(in *Decision) { in.Obs.Vault = known(chains.VaultFact{}) },
		"nothing was signed":      func(in *Decision) { in.R.Submission = nil },
	}
	t.Run("mined", func(t *testing.T) {
		mined := sent("me")
		mined.Closed, mined.Block = true, 100
		needs(t, silent(mined), Decision.blind, answers)
	})
	t.Run("waiting", func(t *testing.T) {
		answers["it is fresh"] = waited(time.Second)
		needs(t, passOf(silent(sent("me")), waited(time.Hour)), Decision.blind, answers)
	})
}

// TestSigningAgainExcludesWhatIsUnderWay lets only one of two transactions be mined.
func TestSigningAgainExcludesWhatIsUnderWay(t *testing.T) {
	in := refundPass(sent("you"))()
	in.R.Submission.Txs[0].Sent = true
	if a := in.again(&Sign{AnySigner: true}); a.AnySigner || a.Waiting != "you" || len(a.Plan.Replaces) != 1 || a.Plan.Replaces[0].ID != "0x2" {
		t.Errorf("beside a fresh one: %+v", a)
	}
	waited(time.Hour)(&in)
	if a := in.again(&Sign{AnySigner: true}); !a.AnySigner || a.Waiting != "" || len(a.Plan.Replaces) != 1 {
		t.Errorf("beside one that waits: %+v", a)
	}
	in.R.Submission.Closed = true
	if a := in.again(&Sign{AnySigner: true}); !a.AnySigner || a.Plan.Replaces != nil || len(in.R.Submission.asked()) != 0 {
		t.Errorf("after one that ended: %+v", a)
	}
}

// TestFateOfSubmissions closes a submission for what ends it, and for nothing else.
func TestFateOfSubmissions(t *testing.T) {
	f := newToBTC()
	says := func(id string, s chains.TxStatus) func(*Decision) {
		return func(in *Decision) { in.Obs.Txs.Value[id] = s }
	}
	tried := func(in *Decision) { in.R.Tried = map[string]Try{"send:0": {Attempts: 1}, "send:1": {Attempts: 1}} }
	closed := func(reason string) func(Decision) bool {
		return func(in Decision) bool {
			next, _ := f.Step(in)
			return next.Submission.Closed && next.Submission.Reason == reason
		}
	}
	pass := refundPass(sent("me"))
	t.Run("confirmed", func(t *testing.T) {
		needs(t, passOf(pass, func(in *Decision) {
			for _, id := range []string{"0x1", "0x2"} {
				says(id, chains.TxStatus{State: chains.TxConfirmed, Block: chains.Block{Height: 7}})(in)
			}
		}), closed(""), changes{
			"one is pending": says("0x2", chains.TxStatus{State: chains.TxPending}),
			"one was, and a reorganisation undid it": func(in *Decision) {
				says("0x1", chains.TxStatus{State: chains.TxUnknown})(in)
				in.R.Submission.Txs[0].Sent = true
			},
			"one was not asked for":     func(in *Decision) { delete(in.Obs.Txs.Value, "0x2") },
			"the chain does not answer": func(in *Decision) { in.Obs.Txs = failed(in.Obs.Txs.Value) },
		})
	})
	for state, want := range map[chains.TxState]string{chains.TxReverted: "the transaction was reverted", chains.TxReplaced: "the transaction was replaced by another one"} {
		needs(t, passOf(pass, says("0x1", chains.TxStatus{State: state})), closed(want), changes{
			"the chain does not answer": func(in *Decision) { in.Obs.Txs = failed(in.Obs.Txs.Value) },
		})
	}
	t.Run("refused", func(t *testing.T) {
		needs(t, passOf(pass, func(in *Decision) {
			says("0x1", chains.TxStatus{})(in)
			in.Input = Outcome{Effect: SendTx, Refused: true, Reason: "no", Tx: "0x1"}
		}), closed("no"), changes{
			"a node has it":           says("0x1", chains.TxStatus{State: chains.TxPending}),
			"it is not known whether": func(in *Decision) { in.Input = Outcome{Effect: SendTx, Reason: "no", Tx: "0x1"} },
			"it is of one before":     func(in *Decision) { in.Input = Outcome{Effect: SendTx, Refused: true, Reason: "no", Tx: "0x0"} },
			"it is of another step":   func(in *Decision) { in.Input = Outcome{Effect: SendTx, Refused: true, Reason: "no", Step: 1} },
			"it is of another effect": func(in *Decision) { in.Input = Outcome{Effect: Publish, Refused: true, Reason: "no"} },
		})
		allows(t, passOf(pass, says("0x1", chains.TxStatus{})), closed("no"), changes{
			"the outcome names no transaction": func(in *Decision) { in.Input = Outcome{Effect: SendTx, Refused: true, Reason: "no"} },
		})
	})
	t.Run("forgotten", func(t *testing.T) {
		needs(t, passOf(pass, func(in *Decision) {
			tried(in)
			says("0x1", chains.TxStatus{})(in)
			in.R.Submission.Missing = ago(forgottenAfter + time.Millisecond)
		}), closed("the network no longer knows the transaction"), changes{
			"the time is not over":      func(in *Decision) { in.R.Submission.Missing = ago(forgottenAfter) },
			"it was never sent":         func(in *Decision) { in.R.Tried = nil },
			"a node has it again":       says("0x1", chains.TxStatus{State: chains.TxPending}),
			"it is missing since now":   func(in *Decision) { in.R.Submission.Missing = 0 },
			"the chain does not answer": func(in *Decision) { in.Obs.Txs = failed(in.Obs.Txs.Value) },
		})
		in := passOf(pass, func(in *Decision) { tried(in); says("0x1", chains.TxStatus{})(in) })()
		if next, _ := f.Step(in); next.Submission.Missing != At(in.Now) {
			t.Error("the first of two is missing, and it is not noted since when")
		}
	})
	t.Run("a new one forgets the tries of the one before, and nothing else", func(t *testing.T) {
		in := passOf(submits(outPass(OutRefundable, chains.EscrowFact{State: chains.EscrowOpen}), signed(ActionRefund)), func(in *Decision) {
			in.R.Tried = map[string]Try{"send:0": {Attempts: 3}, string(Publish): {Attempts: 2}, string(Broadcast): {Attempts: 1}}
		})()
		next, _ := f.Step(in)
		if len(next.Tried) != 2 || next.Tried[string(Publish)].Attempts != 2 || next.Tried[string(Broadcast)].Attempts != 1 {
			t.Errorf("%+v", next.Tried)
		}
	})
}

// TestWhatWasHandedInBefore tells a submission that is repeated from a new one.
func TestWhatWasHandedInBefore(t *testing.T) {
	both, one, payment := []string{"0x1", "0x2"}, []string{"0x1"}, bitcoin.Hash{9}.String()
	with := func(s *Submission) *Record { return &Record{Head: Head{Type: ToBTCLN}, Submission: s} }
	done, failed, paid := sent("me"), sent("me"), &Submission{PSBT: bitcoin.Hash{9}}
	done.Closed, failed.Closed, failed.Reason = true, true, "reverted"
	for name, c := range map[string]struct {
		r                          *Record
		ids                        []string
		submitted, underWay, known bool
	}{
		"nothing":                  {with(nil), both, false, false, false},
		"the same":                 {with(sent("me")), both, true, true, true},
		"a part":                   {with(sent("me")), one, true, true, true},
		"one more":                 {with(sent("me")), []string{"0x1", "0x3"}, false, false, false},
		"done":                     {with(done), both, true, false, true},
		"failed":                   {with(failed), both, true, false, false},
		"a payment":                {with(paid), []string{payment}, true, true, true},
		"another payment":          {with(paid), []string{bitcoin.Hash{8}.String()}, false, false, false},
		"no payment":               {with(&Submission{}), []string{bitcoin.Hash{}.String()}, false, false, false},
		"no id on the chain":       {&Record{Head: Head{Type: ToBTCLN}, Escrow: &EscrowPart{}}, []string{""}, false, false, false},
		"opened":                   {&Record{Head: Head{Type: ToBTCLN}, Escrow: &EscrowPart{InitTx: "0x1"}}, one, false, false, true},
		"refunded":                 {&Record{Head: Head{Type: ToBTC}, Escrow: &EscrowPart{RefundTx: "0x1"}}, one, false, false, true},
		"claimed by the LP":        {&Record{Head: Head{Type: ToBTCLN}, Escrow: &EscrowPart{ClaimTx: "0x1"}}, one, false, false, false},
		"claimed by the user":      {&Record{Head: Head{Type: FromBTCLNAuto}, Escrow: &EscrowPart{ClaimTx: "0x1"}}, one, false, false, true},
		"opened by the LP":         {&Record{Head: Head{Type: FromBTCLNAuto}, Escrow: &EscrowPart{InitTx: "0x1"}}, one, false, false, false},
		"paid out by a vault":      {&Record{Head: Head{Type: SPVFromBTC}, Vault: &VaultPart{ClaimTx: "0x1"}}, one, false, false, true},
		"handed to the vault's LP": {&Record{Head: Head{Type: SPVFromBTC}, Vault: &VaultPart{}, Bitcoin: &BitcoinPart{Posted: true, TxID: bitcoin.Hash{9}}}, []string{payment}, false, false, true},
	} {
		if a, b, k := c.r.Submitted(c.ids), c.r.UnderWay(c.ids), c.r.Knows(c.ids); a != c.submitted || b != c.underWay || k != c.known {
			t.Errorf("%s: submitted %v, under way %v, known %v", name, a, b, k)
		}
	}
}
