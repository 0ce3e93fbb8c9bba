package engine

import (
	"context"
	"fmt"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/internal/swap"
)

// refundable is a swap whose escrow the user may take back by time.
func refundable(t *testing.T, l *ledger, g *Engine) {
	t.Helper()
	quoted(t, g, swap.ToBTC, "a", "")
	l.escrow("a", chains.EscrowFact{State: chains.EscrowOpen, InitTx: "0xinit"})
	pass(t, g, "a", nil)
	time.Sleep(6 * 24 * time.Hour)
	if res := pass(t, g, "a", nil); res.Record.State != swap.OutRefundable {
		t.Fatalf("state %d", res.Record.State)
	}
}

func refundBy(who, id string) swap.Submit {
	sub := signedBy(who, id)
	sub.Action = swap.ActionRefund
	return sub
}

// offered is what the user is asked to sign; nil if nothing.
func offered(t *testing.T, g *Engine, id string) *swap.Sign {
	t.Helper()
	s, _ := g.View(pass(t, g, id, nil)).Signable().(*swap.Sign)
	return s
}

// refused reports whether a submission is not taken.
func refused(t *testing.T, g *Engine, sub swap.Submit) bool {
	t.Helper()
	_, err := g.Advance(t.Context(), "a", sub)
	if err != nil && fault.CodeOf(err) != fault.InvalidState {
		t.Fatal(err)
	}
	return err != nil
}

// Whoever knows an id may hand in a refund of his own, with a fee that is never
// mined. It keeps nobody from the owner's.
func TestStrangersSubmissionBlocksNobody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, g := engineOn(t, done)
		refundable(t, l, g)
		l.tx("0xstranger", chains.TxPending)
		pass(t, g, "a", refundBy("0xother", "0xstranger"))
		a := offered(t, g, "a")
		if a == nil || a.AnySigner || a.Waiting != "0xother" || a.Plan.Signer != owner {
			t.Fatalf("offered %+v beside a stranger's", a)
		}
		if !refused(t, g, refundBy("0xthird", "0xthird")) {
			t.Error("a third one's was taken at once")
		}
		time.Sleep(3 * time.Minute)
		if a := offered(t, g, "a"); a == nil || !a.AnySigner {
			t.Errorf("offered %+v after the stranger's patience", a)
		}
		pass(t, g, "a", refundBy("0xthird", "0xthird"))
		res := pass(t, g, "a", refundBy(owner, "0xown"))
		if s := res.Record.Submission; len(s.Txs) == 0 || s.Txs[0].From != owner {
			t.Errorf("the submission is %+v, not the owner's", s)
		}
		if a := offered(t, g, "a"); a != nil {
			t.Errorf("offered %+v while the owner's is fresh", a)
		}
		if !refused(t, g, refundBy("0xother", "0xmore")) || !refused(t, g, refundBy(owner, "0xmore")) {
			t.Error("the owner's was taken away")
		}
	})
}

// A transaction whose fee was overtaken is offered again, in a form that excludes
// the first; what becomes of that says nothing of the second.
func TestOvertakenTransactionIsOfferedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hang, late, seconds := make(chan struct{}), false, 0
		l, g := engineOn(t, func(r *swap.Record, e swap.Effect) swap.Outcome {
			if tx := r.Submission.Txs[e.Step]; tx.ID == "0xfirst" && late {
				<-hang
				return swap.Outcome{Refused: true, Reason: "too low", Tx: tx.ID}
			} else if tx.ID == "0xsecond" {
				seconds++
			}
			return swap.Outcome{Done: true, Tx: r.Submission.Txs[e.Step].ID}
		})
		quoted(t, g, swap.ToBTC, "a", "")
		if a := offered(t, g, "a"); a == nil || len(a.Plan.Replaces) != 0 {
			t.Fatalf("offered %+v at first", a)
		}
		l.tx("0xfirst", chains.TxPending)
		pass(t, g, "a", signedBy(owner, "0xfirst"))
		if a := offered(t, g, "a"); a != nil {
			t.Fatalf("offered %+v at once", a)
		}
		time.Sleep(3 * time.Minute)
		l.mu.Lock()
		l.down = true
		l.mu.Unlock()
		if v := g.View(pass(t, g, "a", nil)); v.Action != nil {
			t.Errorf("offered %+v while nobody knows what became of it", v.Action)
		}
		l.mu.Lock()
		l.down = false
		l.mu.Unlock()
		late = true
		a := offered(t, g, "a")
		if a == nil || len(a.Plan.Replaces) != 1 || a.Plan.Replaces[0].ID != "0xfirst" {
			t.Fatalf("offered %+v", a)
		}
		time.Sleep(10 * time.Minute) // sent once more, which takes long
		pass(t, g, "a", nil)
		pass(t, g, "a", signedBy(owner, "0xsecond"))
		close(hang)
		l.tx("0xfirst", chains.TxUnknown)
		synctest.Wait()
		r := pass(t, g, "a", nil).Record
		if s := r.Submission; s.Closed || s.Txs[0].ID != "0xsecond" || r.Tried["send:0"].Attempts > seconds {
			t.Errorf("what became of the first was taken for the second: %+v, %+v", s, r.Tried)
		}
		l.tx("0xsecond", chains.TxConfirmed)
		l.escrow("a", chains.EscrowFact{State: chains.EscrowOpen, InitTx: "0xsecond"})
		if res := pass(t, g, "a", nil); res.Record.State != swap.OutCommitted || !res.Record.Submission.Closed {
			t.Errorf("state %d, %+v", res.Record.State, res.Record.Submission)
		}
	})
}

// What no node knows any more is closed, and the action returns. An invoice stays
// taken until the transaction cannot be executed any more.
func TestForgottenTransactionIsClosed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, g := engineOn(t, done)
		quoted(t, g, swap.ToBTCLN, "a", "11")
		quoted(t, g, swap.ToBTCLN, "b", "11")
		l.tx("0xa", chains.TxPending)
		pass(t, g, "a", signedBy(owner, "0xa"))
		time.Sleep(time.Hour) // pending is not forgotten
		if s := pass(t, g, "a", nil).Record.Submission; s.Closed {
			t.Fatalf("closed: %+v", s)
		}
		l.tx("0xa", chains.TxUnknown)
		pass(t, g, "a", nil)
		time.Sleep(10 * time.Minute)
		res := pass(t, g, "a", nil)
		if s := res.Record.Submission; !s.Closed || s.Reason == "" || g.View(res).Signable() == nil {
			t.Errorf("closed %v: %q, offered %v", s.Closed, s.Reason, g.View(res).Signable())
		}
		if a := offered(t, g, "b"); a != nil {
			t.Error("the invoice is to be paid by another swap, while the forgotten transaction may still be executed")
		}
		l.escrow("a", chains.EscrowFact{Auth: chains.AuthOver})
		if res := pass(t, g, "a", nil); res.Record.State != swap.OutExpired {
			t.Fatalf("state %d", res.Record.State)
		}
		if a := offered(t, g, "b"); a == nil {
			t.Error("the invoice cannot be paid, though nothing can come of the first swap any more")
		}
	})
}

// No submission blocks for ever, whatever becomes of its transaction.
func TestNoSubmissionBlocksForEver(t *testing.T) {
	states := []chains.TxState{chains.TxUnknown, chains.TxPending, chains.TxReverted, chains.TxReplaced}
	for _, who := range []string{owner, "0xother"} {
		for _, state := range states {
			inBubble(t, fmt.Sprint(who, " ", state), func(t *testing.T) {
				l, g := engineOn(t, done)
				refundable(t, l, g)
				l.tx("0xstuck", state)
				pass(t, g, "a", refundBy(who, "0xstuck"))
				time.Sleep(720 * time.Hour)
				pass(t, g, "a", nil)
				if a := offered(t, g, "a"); a == nil || !a.AnySigner {
					t.Errorf("offered %+v", a)
				}
			})
		}
	}
	inBubble(t, "an opening that comes too late", func(t *testing.T) {
		var sent atomic.Int64 // effects run beside the test
		l, g := engineOn(t, func(*swap.Record, swap.Effect) swap.Outcome { sent.Add(1); return swap.Outcome{Done: true} })
		quoted(t, g, swap.ToBTC, "a", "")
		l.tx("0xstuck", chains.TxPending)
		pass(t, g, "a", signedBy(owner, "0xstuck"))
		l.escrow("a", chains.EscrowFact{Auth: chains.AuthOver})
		time.Sleep(time.Hour)
		if res := pass(t, g, "a", nil); res.Record.State != swap.OutExpired || res.Record.Submission.Open() {
			t.Fatalf("state %d, %+v", res.Record.State, res.Record.Submission)
		}
		before := sent.Load()
		time.Sleep(time.Hour)
		if pass(t, g, "a", nil); sent.Load() != before {
			t.Error("it is sent all the same, for nothing but its fee")
		}
	})
}

// checks takes whatever it is given; a signed transaction is its id.
type checks struct{ action string }

func (checks) IDs(_ *swap.Record, signed []string) ([]string, error) { return signed, nil }

func (c checks) Check(_ context.Context, _ *swap.Record, _ swap.Action, signed []string) (swap.Submit, error) {
	sub := swap.Submit{Action: c.action}
	for _, id := range signed {
		sub.Txs = append(sub.Txs, swap.SignedTx{Signed: chains.Signed{ID: id, From: owner}})
	}
	return sub, nil
}

// A caller has the ids within his patience, once the network has the transactions or they
// are stored: he has nothing more to do.
func TestSubmitAnswersInTime(t *testing.T) {
	for _, test := range []struct {
		name string
		set  func(l *ledger)
		out  func(r *swap.Record, e swap.Effect) swap.Outcome
	}{
		{"the network has them", func(l *ledger) { l.tx("0xa", chains.TxPending) }, done},
		{"the node does not take them", func(*ledger) {}, func(*swap.Record, swap.Effect) swap.Outcome { return swap.Outcome{Reason: "down"} }},
		{"the node hangs", func(*ledger) {}, func(*swap.Record, swap.Effect) swap.Outcome {
			time.Sleep(time.Minute)
			return swap.Outcome{Reason: "slow"}
		}},
	} {
		inBubble(t, test.name, func(t *testing.T) {
			l, g := engineOn(t, test.out)
			quoted(t, g, swap.ToBTC, "a", "")
			test.set(l)
			began := time.Now()
			ids, err := g.Submit(t.Context(), checks{swap.ActionInit}, "a", []string{"0xa"})
			if took := time.Since(began); took > callerPatience+time.Second {
				t.Errorf("answered after %s", took)
			}
			if err != nil || !slices.Equal(ids, []string{"0xa"}) {
				t.Errorf("%v, %v", ids, err)
			}
			// Whoever hands it in again joins, and hears how it ends.
			l.tx("0xa", chains.TxConfirmed)
			l.escrow("a", chains.EscrowFact{State: chains.EscrowOpen, InitTx: "0xa"})
			if ids, err := g.Submit(t.Context(), checks{swap.ActionInit}, "a", []string{"0xa"}); err != nil || !slices.Equal(ids, []string{"0xa"}) {
				t.Errorf("again: %v, %v", ids, err)
			}
		})
	}
}

// TestSubmissionAfterTheExpiry takes what was signed in time while the authorisation is
// good, and says afterwards that the quote has expired.
func TestSubmissionAfterTheExpiry(t *testing.T) {
	for name, c := range map[string]struct {
		auth chains.AuthState
		says string // "" if it is taken
	}{"the authorisation is good": {chains.AuthGood, ""}, "it is over": {chains.AuthLate, "the quote has expired; create a new swap"}} {
		synctest.Test(t, func(t *testing.T) {
			l, g := engineOn(t, done)
			r := quoted(t, g, swap.ToBTC, "a", "")
			l.escrow("a", chains.EscrowFact{Auth: c.auth})
			l.tx("0xa", chains.TxPending)
			time.Sleep(time.Until(r.Expiry.Time()) + time.Second)
			switch ids, err := g.Submit(t.Context(), checks{swap.ActionInit}, "a", []string{"0xa"}); {
			case c.says == "" && (err != nil || !slices.Equal(ids, []string{"0xa"})):
				t.Errorf("%s: %v, %v", name, ids, err)
			case c.says != "" && (fault.CodeOf(err) != fault.InvalidState || err.Error() != c.says):
				t.Errorf("%s: %v, want %q", name, err, c.says)
			}
		})
	}
}

// What a reorganisation took out of the chain can be handed in again as it was.
func TestUndoneTransactionIsTakenAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var sent atomic.Int64 // effects run beside the test
		l, g := engineOn(t, func(_ *swap.Record, e swap.Effect) swap.Outcome {
			if e.Kind == swap.SendTx {
				sent.Add(1)
			}
			return swap.Outcome{Done: true}
		})
		quoted(t, g, swap.ToBTC, "a", "")
		l.tx("0xa", chains.TxConfirmed)
		pass(t, g, "a", signedBy(owner, "0xa"))
		pass(t, g, "a", nil)
		before := sent.Load()
		l.tx("0xa", chains.TxPending)
		if a := offered(t, g, "a"); a == nil {
			t.Fatal("nothing is offered after the opening was undone")
		}
		go g.Submit(t.Context(), checks{swap.ActionInit}, "a", []string{"0xa"})
		time.Sleep(10 * time.Second)
		if sent.Load() == before {
			t.Error("it was not sent again")
		}
	})
}
