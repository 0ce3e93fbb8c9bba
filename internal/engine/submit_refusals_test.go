package engine

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/internal/swap"
	"github.com/swapper-go/swapper/storage"
)

// judge is a Checker whose verdicts a test gives.
type judge struct {
	checks
	ids   error
	check func(ctx context.Context) error
}

func (j judge) IDs(_ *swap.Record, signed []string) ([]string, error) {
	if j.ids != nil {
		return nil, j.ids
	}
	return signed, nil
}

func (j judge) Check(ctx context.Context, r *swap.Record, a swap.Action, signed []string) (swap.Submit, error) {
	if err := j.check(ctx); err != nil {
		return swap.Submit{}, err
	}
	return j.checks.Check(ctx, r, a, signed)
}

// A caller whose transactions were refused hears so, with the reason, and nothing of
// them is stored.
func TestRefusedSubmissionIsReported(t *testing.T) {
	wrong := fault.New(fault.InvalidInput, "not what was asked for")
	pays := checks{swap.ActionInit}
	synctest.Test(t, func(t *testing.T) {
		l, g := engineOn(t, done)
		quoted(t, g, swap.ToBTCLN, "a", "11")
		quoted(t, g, swap.ToBTCLN, "b", "11")
		submit := func(c Checker, id, tx string) error {
			_, err := g.Submit(t.Context(), c, id, []string{tx})
			return err
		}
		if err := submit(judge{checks: pays, check: func(context.Context) error { return wrong }}, "a", "0x1"); !errors.Is(err, wrong) {
			t.Errorf("transactions that are wrong: %v", err)
		}
		hangs := func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }
		if err := submit(judge{checks: pays, check: hangs}, "a", "0x1"); fault.CodeOf(err) != fault.Timeout {
			t.Errorf("transactions that were not judged in time: %v", err)
		}
		if err := submit(pays, "none", "0x1"); fault.CodeOf(err) != fault.NotFound {
			t.Errorf("of an unknown swap: %v", err)
		}
		if r, err := g.Load(t.Context(), "a"); err != nil || r.Submission != nil {
			t.Fatalf("%+v, %v", r, err)
		}
		l.tx("0x1", chains.TxPending)
		first := func(context.Context) error { pass(t, g, "a", signedBy(owner, "0x1")); return nil }
		if err := submit(judge{checks: pays, check: first}, "a", "0x2"); !errors.Is(err, errUnderWay) {
			t.Errorf("while another one was stored: %v", err)
		}
		if err := submit(judge{checks: pays, ids: wrong}, "a", "0x1"); !errors.Is(err, wrong) {
			t.Errorf("transactions that cannot be read: %v", err)
		}
		v := g.View(pass(t, g, "b", nil))
		if err := submit(pays, "b", "0x3"); v.Blocked == nil || err == nil || err.Error() != v.Blocked.Error() {
			t.Errorf("of an invoice that another swap pays: %v, want %v", err, v.Blocked)
		}
	})
}

// What happens to another swap tells nothing to who waits for this one.
func TestWaitingIsForOneSwap(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := toyEngine(t, new(storage.Memory), &toyReader{}, &toyExecutor{}, lamp())
		r := newToy("a")
		r.Submission = &swap.Submission{Since: 5, Txs: []swap.SignedTx{{Signed: chains.Signed{ID: "0x1"}}}}
		add(t, g, r)
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		go func() {
			time.Sleep(3 * time.Second)
			other := newToy("b")
			other.State = 3
			if err := g.Create(t.Context(), other); err != nil {
				t.Error(err)
			}
		}()
		if err := g.await(ctx, "a", r, false); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("told %v", err)
		}
	})
}

// A subscription ends with its reason.
func TestSubscriptionEndsWithItsReason(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := toyEngine(t, new(storage.Memory), &toyReader{}, &toyExecutor{}, lamp())
		ctx, cancel := context.WithTimeoutCause(t.Context(), time.Second, errGone)
		defer cancel()
		if err := g.Subscribe(ctx, func(Change) bool { return true }); !errors.Is(err, errGone) {
			t.Errorf("after its context: %v", err)
		}
		g.Close()
		if err := g.Subscribe(t.Context(), func(Change) bool { return true }); !errors.Is(err, ErrClosed) {
			t.Errorf("of a closed engine: %v", err)
		}
	})
}
