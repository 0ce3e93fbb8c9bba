package engine

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/internal/swap"
	"github.com/swapper-go/swapper/storage"
)

// counted is a Checker that counts what it is asked to judge.
type counted struct {
	checks
	n *atomic.Int64
}

func (c counted) Check(ctx context.Context, r *swap.Record, a swap.Action, signed []string) (swap.Submit, error) {
	c.n.Add(1)
	return c.checks.Check(ctx, r, a, signed)
}

// A caller whose patience is over is told whether what he signed is stored: it is
// not, it is and the network has it, or nobody knows.
func TestWhatIsSaidWhenPatienceIsOver(t *testing.T) {
	for name, c := range map[string]struct {
		meanwhile func(t *testing.T, l *ledger, g *Engine, s *failing)
		ids       bool
		says      string
	}{
		"nothing is stored": {func(*testing.T, *ledger, *Engine, *failing) {}, false, "were not stored"},
		"it took effect": {func(t *testing.T, l *ledger, g *Engine, _ *failing) {
			pass(t, g, "a", signedBy(owner, "0x1"))
			l.tx("0x1", chains.TxConfirmed)
			l.escrow("a", chains.EscrowFact{State: chains.EscrowOpen, InitTx: "0x1"})
			if r := pass(t, g, "a", nil).Record; r.Submission.Open() || r.State != swap.OutCommitted {
				t.Errorf("state %d, %+v", r.State, r.Submission)
			}
		}, true, ""},
		"the store fails": {func(_ *testing.T, _ *ledger, _ *Engine, s *failing) {
			s.get = func(string) error { return errDisk }
		}, false, "not known whether"},
	} {
		inBubble(t, name, func(t *testing.T) {
			l, g := engineOn(t, done)
			s := &failing{Store: g.Store}
			g.Store = s
			quoted(t, g, swap.ToBTC, "a", "")
			slow := judge{checks: checks{swap.ActionInit}, check: func(ctx context.Context) error {
				c.meanwhile(t, l, g, s)
				<-ctx.Done()
				return ctx.Err()
			}}
			began := time.Now()
			ids, err := g.Submit(t.Context(), slow, "a", []string{"0x1"})
			if took := time.Since(began); took != callerPatience {
				t.Errorf("answered after %s", took)
			}
			switch {
			case c.ids && (err != nil || !slices.Equal(ids, []string{"0x1"})):
				t.Errorf("%v, %v", ids, err)
			case !c.ids && (fault.CodeOf(err) != fault.Timeout || ids != nil || !strings.Contains(err.Error(), c.says)):
				t.Errorf("%v, %v; want %q", ids, err, c.says)
			}
			s.get = nil
		})
	}
}

// What is under way, and what the chain has shown already, is joined and not judged
// again: another action may be asked for by then, or the same once more.
func TestWhatIsKnownIsNotJudgedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, g := engineOn(t, done)
		quoted(t, g, swap.ToBTC, "a", "")
		l.tx("0x1", chains.TxPending)
		var n atomic.Int64
		check := counted{checks{swap.ActionInit}, &n}
		if ids, err := g.Submit(t.Context(), check, "a", []string{"0x1"}); err != nil || n.Load() != 1 {
			t.Fatalf("%v, %v, judged %d times", ids, err, n.Load())
		}
		time.Sleep(time.Hour)
		if a := offered(t, g, "a"); a == nil {
			t.Fatal("what waits for an hour is not offered again")
		}
		since := pass(t, g, "a", nil).Record.Submission.Since
		_, err := g.Submit(t.Context(), check, "a", []string{"0x1"})
		if r := pass(t, g, "a", nil).Record; n.Load() != 1 || r.Submission.Since != since {
			t.Errorf("joined: judged %d times, stored anew %v; %v", n.Load(), r.Submission.Since != since, err)
		}
		// The wallet's own opening is on the chain, and a refund is asked for.
		l.tx("0x1", chains.TxReplaced)
		l.escrow("a", chains.EscrowFact{State: chains.EscrowOpen, InitTx: "0xwallet"})
		time.Sleep(6 * 24 * time.Hour)
		if r := pass(t, g, "a", nil).Record; r.State != swap.OutRefundable {
			t.Fatalf("state %d", r.State)
		}
		if a := offered(t, g, "a"); a == nil || a.For != swap.ActionRefund {
			t.Fatalf("offered %+v", a)
		}
		refund := judge{checks: checks{swap.ActionRefund}, check: func(context.Context) error { n.Add(1); return nil }}
		if ids, err := g.Submit(t.Context(), refund, "a", []string{"0xwallet"}); err != nil || !slices.Equal(ids, []string{"0xwallet"}) || n.Load() != 1 {
			t.Errorf("the opening once more: %v, %v, judged %d times", ids, err, n.Load())
		}
		if s := pass(t, g, "a", nil).Record.Submission; s.Open() {
			t.Errorf("the opening is taken for the refund: %+v", s)
		}
	})
}

// What the chain has already when it is handed in has its effect at once.
func TestSubmissionThatIsOverAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, g := engineOn(t, done)
		quoted(t, g, swap.ToBTC, "a", "")
		l.tx("0x1", chains.TxConfirmed)
		began := time.Now()
		if ids, err := g.Submit(t.Context(), checks{swap.ActionInit}, "a", []string{"0x1"}); err != nil || !slices.Equal(ids, []string{"0x1"}) || time.Since(began) > callerPatience/2 {
			t.Errorf("%v, %v after %s", ids, err, time.Since(began))
		}
	})
}

// A submission that was not taken, in a store that fails just then, is an error.
func TestStoreFailsAsASubmissionIsNotTaken(t *testing.T) {
	g := toyEngine(t, new(storage.Memory), &toyReader{}, &toyExecutor{}, lamp())
	create(t, g, "a")
	reads := 0
	g.Store = &failing{Store: g.Store, get: func(string) error {
		if reads++; reads > 1 {
			return errDisk
		}
		return nil
	}}
	if _, err := g.accepted(t.Context(), "a", signedBy(owner, "0x1"), []string{"0x1"}); !errors.Is(err, errNotTaken) || reads != 2 {
		t.Errorf("%v after %d reads", err, reads)
	}
}

// A wait makes its own passes, without Run, and ends as soon as one of them finds
// what is waited for, or another caller's does. It leaves nothing behind.
func TestWaitingMakesItsOwnPasses(t *testing.T) {
	for name, by := range map[string]func(*Engine){
		"alone": func(*Engine) {},
		"another caller's pass": func(g *Engine) {
			time.Sleep(4*time.Second + 500*time.Millisecond)
			_, _ = g.Advance(context.Background(), "a", swap.Look{})
		},
	} {
		inBubble(t, name, func(t *testing.T) {
			l, g := engineOn(t, done)
			quoted(t, g, swap.ToBTC, "a", "")
			l.tx("0x1", chains.TxPending)
			r := pass(t, g, "a", signedBy(owner, "0x1")).Record
			go func() {
				time.Sleep(4 * time.Second)
				l.tx("0x1", chains.TxConfirmed)
				l.escrow("a", chains.EscrowFact{State: chains.EscrowOpen, InitTx: "0x1"})
			}()
			go by(g)
			began := time.Now()
			if err := g.await(t.Context(), "a", r, false); err != nil || time.Since(began) < 4*time.Second || time.Since(began) > 6*time.Second {
				t.Errorf("%v after %s", err, time.Since(began))
			}
			if err := g.await(t.Context(), "a", r, false); err != nil { // over at once
				t.Error(err)
			}
			if err := g.await(t.Context(), "none", r, false); fault.CodeOf(err) != fault.NotFound {
				t.Error(err)
			}
			synctest.Wait()
			if n := len(g.feed.subs); n != 0 {
				t.Errorf("%d subscriptions are left", n)
			}
		})
	}
}

// While somebody waits the swap is looked at every second at first, then ever more
// slowly, at last as often as its state asks for, and every five seconds at least.
func TestHowOftenAWaitLooks(t *testing.T) {
	for name, c := range map[string]struct {
		every time.Duration
		state int
		want  int // in a minute
	}{
		"a state of every second":   {time.Second, 0, 60},
		"a state of three seconds":  {3 * time.Second, 0, 24},
		"a state of half a minute":  {30 * time.Second, 0, 19},
		"a state with no frequency": {0, 0, 19},
		"a state of no table":       {time.Second, 99, 19},
	} {
		inBubble(t, name, func(t *testing.T) {
			f := lamp()
			f.States[0].Every = c.every
			passes := 0
			f.Ask = func(in swap.Decision) swap.Ask { passes++; return swap.Ask{} }
			g := toyEngine(t, new(storage.Memory), &toyReader{}, &toyExecutor{}, f)
			r := newToy("a")
			r.State = c.state
			add(t, g, r)
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute-time.Millisecond)
			defer cancel()
			g.poll(ctx, "a")
			if passes != c.want {
				t.Errorf("%d passes in a minute, want %d", passes, c.want)
			}
		})
	}
	synctest.Test(t, func(t *testing.T) { // a type that is not configured, and a swap that is not there
		other := lamp()
		other.Type = swap.FromBTCLNAuto
		g := toyEngine(t, new(storage.Memory), &toyReader{}, &toyExecutor{}, other)
		create(t, g, "a")
		for _, id := range []string{"a", "none"} {
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			g.poll(ctx, id)
			cancel()
		}
	})
}

// Whoever begins to wait after the engine was closed is told so.
func TestWaitingOnAClosedEngine(t *testing.T) {
	g := toyEngine(t, new(storage.Memory), &toyReader{}, &toyExecutor{}, lamp())
	r := create(t, g, "a")
	g.Close()
	if err := g.await(t.Context(), "a", r, false); !errors.Is(err, ErrClosed) {
		t.Errorf("%v", err)
	}
}

// A transaction that counted as forgotten and was mined all the same has had its
// effect: its caller is not told that it failed.
func TestForgottenTransactionThatWasMined(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, g := engineOn(t, done)
		quoted(t, g, swap.ToBTC, "a", "")
		l.tx("0x1", chains.TxPending)
		pass(t, g, "a", signedBy(owner, "0x1"))
		l.tx("0x1", chains.TxUnknown)
		pass(t, g, "a", nil)
		time.Sleep(11 * time.Minute)
		if s := pass(t, g, "a", nil).Record.Submission; !s.Closed || s.Reason == "" {
			t.Fatalf("%+v", s)
		}
		l.tx("0x1", chains.TxConfirmed)
		l.escrow("a", chains.EscrowFact{State: chains.EscrowOpen, InitTx: "0x1"})
		pass(t, g, "a", nil)
		if ids, err := g.Submit(t.Context(), checks{swap.ActionInit}, "a", []string{"0x1"}); err != nil || !slices.Equal(ids, []string{"0x1"}) {
			t.Errorf("%v, %v", ids, err)
		}
	})
}

// Whoever joins a submission hears why it fails, as the first caller does.
func TestWhoJoinsHearsOfTheFailure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, g := engineOn(t, done)
		quoted(t, g, swap.ToBTC, "a", "")
		l.tx("0x1", chains.TxPending)
		hang := make(chan error)
		for range 2 {
			go func() {
				_, err := g.Submit(t.Context(), checks{swap.ActionInit}, "a", []string{"0x1"})
				hang <- err
			}()
			time.Sleep(3 * time.Second)
		}
		l.tx("0x1", chains.TxReverted)
		for range 2 {
			if err := <-hang; fault.CodeOf(err) != fault.InvalidState || !strings.Contains(err.Error(), "reverted") {
				t.Errorf("told %v", err)
			}
		}
	})
}
