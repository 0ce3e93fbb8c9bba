package swap

import (
	"slices"
	"testing"
	"time"

	"github.com/swapper-go/swapper/chains"
)

// Transactions go out one after the other, each once the one before is confirmed.
func TestTransactionsGoOutInTheirOrder(t *testing.T) {
	f := newToBTCLN()
	for name, c := range map[string]struct {
		sent   []bool
		closed bool
		step   int // -1: none
	}{
		"none is": {[]bool{false, false}, false, 0}, "the first is": {[]bool{true, false}, false, 1}, "all are": {[]bool{true, true}, false, -1},
		"it is over": {[]bool{false, false}, true, -1},
	} {
		in := outPass(OutCreated, chains.EscrowFact{})()
		in.R.Submission = &Submission{Action: ActionInit, Closed: c.closed}
		for i, sent := range c.sent {
			in.R.Submission.Txs = append(in.R.Submission.Txs, SignedTx{Signed: chains.Signed{ID: string(rune('a' + i))}, Sent: sent})
		}
		effects := f.Effects(in)
		if c.step < 0 {
			if len(effects) != 0 {
				t.Errorf("%s confirmed: %+v", name, effects)
			}
			continue
		}
		if len(effects) != 1 || effects[0].Kind != SendTx || effects[0].Step != c.step {
			t.Errorf("%s confirmed: %+v", name, effects)
		}
	}
}

// What is to be signed opens the very escrow with the provider's authorisation, and
// anybody may take it back: by time, or before it with an authorisation.
func TestOutgoingPlans(t *testing.T) {
	f := newToBTCLN()
	init, refund := &chains.Auth{Timeout: 1}, &chains.Auth{Timeout: noon.Add(time.Hour).Unix()}
	late := func(in *Decision) {
		in.Now = time.Unix(in.R.Escrow.Real.Expiry, 0).Add(chains.RefundGrace + time.Second)
		in.Obs.Escrow.Value.Head.Time = in.Now.Unix()
	}
	opens := outPass(OutCreated, chains.EscrowFact{Auth: chains.AuthGood})
	backs := outPass(OutRefundable, chains.EscrowFact{State: chains.EscrowOpen})
	for name, c := range map[string]struct {
		pass func() Decision
		kind chains.StepKind
		auth *chains.Auth
		any  bool
	}{
		"opens":                       {passOf(opens, func(in *Decision) { in.R.Escrow.Init, in.R.Escrow.FeeRate = init, "7" }), chains.StepInit, init, false},
		"takes back by time":          {passOf(backs, late), chains.StepRefund, &chains.Auth{}, true},
		"takes back by authorisation": {passOf(backs, func(in *Decision) { in.R.Escrow.Refund = refund }), chains.StepRefundAuth, refund, true},
	} {
		in := c.pass()
		a, ok := f.View(in).Action.(*Sign)
		if !ok || len(a.Plan.Steps) != 1 || a.Plan.Steps[0].Kind != c.kind || a.AnySigner != c.any || a.Plan.Signer != "me" || (a.Plan.FeeRate == "7") != (c.kind == chains.StepInit) {
			t.Errorf("%s: %+v", name, f.View(in).Action)
			continue
		}
		if s := a.Plan.Steps[0]; s.Auth.Timeout != c.auth.Timeout || string(s.Escrow.Hash) != string(in.R.Escrow.Real.Hash) {
			t.Errorf("%s: %+v", name, s)
		}
	}
	in := backs()
	if v := f.View(in); v.Blocked == nil {
		t.Errorf("neither by time nor by authorisation: %+v", v.Action)
	}
	busyWith(ActionRefund)(&in)
	if v := f.View(in); v.Blocked != nil || v.Action != nil {
		t.Errorf("while it is taken back: %+v, %v", v.Action, v.Blocked)
	}
}

// The steps of a payment say what happened, and by which transactions.
func TestOutgoingSteps(t *testing.T) {
	f := newToBTCLN()
	for state, want := range map[int][3]StepStatus{
		OutCommitted: {shownConfirmed, shownWaitingLP, shownInactive}, OutSoftClaimed: {shownConfirmed, shownSoftSettled, shownInactive}, OutClaimed: {shownConfirmed, shownSettled, shownInactive},
		OutRefundable: {shownConfirmed, shownExpired, shownAwaiting}, OutRefunded: {shownConfirmed, shownExpired, shownRefunded}, OutExpired: {shownExpired, shownInactive, shownInactive},
		OutSoftExpired: {shownSoftExpired, shownInactive, shownInactive},
	} {
		in := outPass(state, chains.EscrowFact{})()
		in.R.Escrow.InitTx, in.R.Escrow.ClaimTx, in.R.Escrow.RefundTx = "i", "c", "r"
		v := f.View(in)
		paid := want[1] == shownSoftSettled || want[1] == shownSettled
		for i, s := range v.Steps {
			if s.Status != want[i] {
				t.Errorf("state %d: step %d is %s, want %s", state, i, s.Status, want[i])
			}
		}
		if p, s, b := v.Steps[0], v.Steps[1], v.Steps[2]; p.InitTx != "i" || p.SettleTx != "c" || b.RefundTx != "r" ||
			(s.InitTx != "") != paid || (s.SettleTx != "") != (want[1] == shownSettled) {
			t.Errorf("state %d: %+v", state, v.Steps)
		}
	}
}

// A hash whose preimage is public is not used again; one of a swap that failed may be.
// A key that another swap holds is a plain one.
func TestKeysOfHashes(t *testing.T) {
	f := newFromBTCLNAuto()
	key := func(state int, shared ...string) *Key {
		r := &Record{Head: Head{Type: FromBTCLNAuto, State: state, Shared: shared}, Lightning: &LightningPart{Hash: "aa"}, Escrow: &EscrowPart{}}
		row, _ := f.State(state)
		for _, k := range r.Keys(row) {
			if k.Index == ByHash {
				return &k
			}
		}
		return nil
	}
	for _, state := range []int{LnCreated, LnPaid, LnCommitted, LnClaimed} {
		if k := key(state); k == nil || !k.Unique {
			t.Errorf("state %d: %+v", state, k)
		}
		if k := key(state, ByHash); k == nil || k.Unique {
			t.Errorf("state %d, held by another: %+v", state, k)
		}
	}
	for _, state := range []int{LnFailed, LnExpired} {
		if k := key(state); k != nil {
			t.Errorf("state %d: %+v", state, k)
		}
	}
}

// A swap into a vault asks what became of the transactions that claim it.
func TestSPVAsksForItsTransactions(t *testing.T) {
	checkQuestions(t, newSPVFromBTC(), []question{{name: "what became of transactions", pass: passOf(spvPass(SPVConfirmed), underWay),
		asks: func(a Ask) bool {
			return slices.ContainsFunc(a.Txs, func(s chains.Signed) bool { return s.ID == "0x1" })
		}, without: changes{
			"they are over": closed, "that was done": func(in *Decision) { in.Obs.Txs = known[map[string]chains.TxStatus](nil) },
		}}})
}
