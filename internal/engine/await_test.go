package engine

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/internal/swap"
	"github.com/swapper-go/swapper/storage"
)

// What a caller who handed something in is told, by what the record was and is: that
// it had its effect, why it did not, or nothing yet.
func TestWhatACallerIsTold(t *testing.T) {
	const waits, ok = "waits", ""
	sub := func(since swap.Millis) *swap.Submission {
		return &swap.Submission{Since: since, Txs: []swap.SignedTx{{Signed: chains.Signed{ID: "0x1"}}}}
	}
	closed := func(reason string) *swap.Submission {
		s := sub(5)
		s.Closed, s.Reason = true, reason
		return s
	}
	paid := func(change func(*swap.Submission)) *swap.Submission {
		s := &swap.Submission{Since: 5, PSBT: bitcoin.Hash{9}}
		if change != nil {
			change(s)
		}
		return s
	}
	sent := map[string]swap.Try{string(swap.Broadcast): {Outcome: swap.Done}}
	refused := map[string]swap.Try{string(swap.Broadcast): {Outcome: swap.Refused}}
	of := func(typ swap.Type, state int, s *swap.Submission, tried map[string]swap.Try) swap.Record {
		r := newToy("a")
		r.Type, r.State, r.Submission, r.Tried = typ, state, s, tried
		return *r
	}
	spv := func(state int) swap.Record { return of(swap.SPVFromBTC, state, nil, nil) }
	escrow := func(state int, s *swap.Submission) swap.Record { return of(swap.ToBTCLN, state, s, nil) }
	gas := func(s *swap.Submission, tried map[string]swap.Try) swap.Record {
		return of(swap.TrustedFromBTC, swap.TrustedBTCCreated, s, tried)
	}
	for name, c := range map[string]struct {
		from, now swap.Record
		want      string
	}{
		"it is under way":                    {escrow(0, sub(5)), escrow(0, sub(5)), waits},
		"the swap moved":                     {escrow(0, sub(5)), escrow(1, sub(5)), ok},
		"the swap was refunded":              {escrow(4, sub(5)), escrow(swap.OutRefunded, closed("")), ok},
		"the swap moved and it was replaced": {escrow(0, sub(5)), escrow(1, sub(6)), ok},
		"it was replaced":                    {escrow(0, sub(5)), escrow(0, sub(6)), "replaced"},
		"it is not there any more":           {escrow(0, sub(5)), escrow(0, nil), "replaced"},
		"it failed":                          {escrow(0, sub(5)), escrow(0, closed("reverted")), "reverted"},
		"it is over, and nothing happened":   {escrow(0, sub(5)), escrow(0, closed("")), waits},
		"it was over before":                 {escrow(0, closed("")), escrow(0, closed("")), ok},
		"nothing was there":                  {escrow(0, nil), escrow(0, nil), ok},
		"nothing was there, and another is":  {escrow(0, nil), escrow(0, sub(5)), waits},
		"it had failed before":               {escrow(0, closed("reverted")), escrow(0, closed("reverted")), "reverted"},
		"the provider has to be told":        {spv(swap.SPVCreated), spv(swap.SPVSigned), waits},
		"the provider was told":              {spv(swap.SPVSigned), spv(swap.SPVPosted), ok},
		"the provider declined":              {spv(swap.SPVSigned), spv(swap.SPVDeclined), "refused"},
		"the provider takes another":         {spv(swap.SPVSigned), spv(swap.SPVCreated), "another one can be signed"},
		"it had declined":                    {spv(swap.SPVDeclined), spv(swap.SPVDeclined), "refused"},
		"the payment is not out":             {gas(paid(nil), nil), gas(paid(nil), nil), waits},
		"the payment was refused once":       {gas(paid(nil), nil), gas(paid(nil), refused), waits},
		"the payment is out":                 {gas(paid(nil), nil), gas(paid(nil), sent), ok},
		"the payment was seen":               {gas(paid(nil), nil), gas(paid(func(s *swap.Submission) { s.Closed = true }), nil), ok},
		"the payment failed":                 {gas(paid(nil), nil), gas(paid(func(s *swap.Submission) { s.Closed, s.Reason = true, "spent" }), sent), "spent"},
	} {
		inBubble(t, name, func(t *testing.T) {
			f := lamp()
			f.Type = swap.FromBTC // of the types above there is no table, so that the records stay as they are
			g := toyEngine(t, new(storage.Memory), &toyReader{}, &toyExecutor{}, f)
			r := c.now
			add(t, g, &r)
			ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
			defer cancel()
			began := time.Now()
			err := g.await(ctx, "a", &c.from, false)
			switch {
			case c.want == waits:
				if !errors.Is(err, context.DeadlineExceeded) || time.Since(began) != 10*time.Second {
					t.Errorf("after %s: %v", time.Since(began), err)
				}
			case time.Since(began) != 0:
				t.Errorf("told after %s", time.Since(began))
			case c.want == ok && err != nil, c.want != ok && (err == nil || !strings.Contains(err.Error(), c.want)):
				t.Errorf("%v", err)
			}
		})
	}
}

// Who waits is told when the engine closes, and that the swap is gone.
func TestWaitingEndsWithTheEngine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := toyEngine(t, new(storage.Memory), &toyReader{}, &toyExecutor{}, lamp())
		r := create(t, g, "a")
		r.Submission = &swap.Submission{Since: 5, Txs: []swap.SignedTx{{Signed: chains.Signed{ID: "0x1"}}}}
		if err := g.await(t.Context(), "b", r, false); fault.CodeOf(err) != fault.NotFound {
			t.Errorf("of another swap: %v", err)
		}
		go func() {
			time.Sleep(3 * time.Second)
			g.Close()
		}()
		waiting := newToy("c")
		waiting.Submission = r.Submission
		add(t, g, waiting)
		if err := g.await(t.Context(), "c", waiting, false); !errors.Is(err, ErrClosed) {
			t.Errorf("of an engine that closes: %v", err)
		}
		if err := g.await(t.Context(), "c", waiting, false); !errors.Is(err, ErrClosed) {
			t.Errorf("of one that is closed: %v", err)
		}
	})
}

// Of two callers with the same transactions one has them stored, and the other joins;
// one with others hears that something is under way, and one whose swap has moved
// that nothing is expected.
func TestSameSubmissionTwice(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, g := engineOn(t, done)
		quoted(t, g, swap.ToBTC, "a", "")
		l.tx("0x1", chains.TxPending)
		first, err := g.accepted(t.Context(), "a", signedBy(owner, "0x1"), []string{"0x1"})
		if err != nil || !first.Record.UnderWay([]string{"0x1"}) {
			t.Fatalf("%+v, %v", first, err)
		}
		res, err := g.accepted(t.Context(), "a", signedBy(owner, "0x1"), []string{"0x1"})
		if err != nil || !res.Record.UnderWay([]string{"0x1"}) || res.Observation == nil || res.At.IsZero() {
			t.Errorf("the same: %+v, %v", res, err)
		}
		if res, err := g.accepted(t.Context(), "a", signedBy(owner, "0x2"), []string{"0x2"}); !errors.Is(err, errUnderWay) {
			t.Errorf("another: %+v, %v", res, err)
		}
		l.tx("0x1", chains.TxConfirmed)
		l.escrow("a", chains.EscrowFact{State: chains.EscrowOpen, InitTx: "0x1"})
		time.Sleep(time.Minute)
		pass(t, g, "a", nil)
		if res, err := g.accepted(t.Context(), "a", signedBy(owner, "0x2"), []string{"0x2"}); !errors.Is(err, errNotTaken) {
			t.Errorf("after the end: %+v, %v", res, err)
		}
	})
}

// Nothing is kept of swaps that nobody looks at; running and fresh passes are.
func TestPlacesOfIdleSwapsAreGivenUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &toyReader{}
		g := toyEngine(t, new(storage.Memory), w, &toyExecutor{}, lamp())
		look := func(id string) {
			advance(t, g, id, nil)
		}
		left := func(when string, want ...string) {
			t.Helper()
			g.mu.Lock()
			defer g.mu.Unlock()
			if got := slices.Sorted(maps.Keys(g.slots)); !slices.Equal(got, want) {
				t.Errorf("%s: places %v are left, want %v", when, got, want)
			}
		}
		for _, id := range []string{"a", "b", "c"} {
			create(t, g, id)
			look(id)
			time.Sleep(snapshotLife / 4)
		}
		if _, err := g.Advance(t.Context(), "unknown", nil); err == nil {
			t.Fatal("it is known")
		}
		left("while all are fresh", "a", "b", "c")
		g.forget("b")
		time.Sleep(snapshotLife / 4)
		g.sweep()
		left("when the first is not", "b", "c")
		var all sync.WaitGroup
		w.delay = time.Minute
		all.Go(func() { _, _ = g.Advance(t.Context(), "c", swap.Look{}) })
		time.Sleep(snapshotLife)
		g.sweep()
		left("while one is under way", "c")
		all.Wait()
		time.Sleep(snapshotLife)
		g.sweep()
		left("at rest")
		if len(g.fresh) != 0 {
			t.Errorf("%d passes are kept", len(g.fresh))
		}
	})
}
