package engine

import (
	"context"
	"iter"
	"testing"
	"testing/synctest"
	"time"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/internal/swap"
	"github.com/swapper-go/swapper/internal/trial"
	"github.com/swapper-go/swapper/storage"
)

// expiredQuotes returns an engine of quotes that are over and stay as they are, which
// are deleted after a minute if the chain knows of no escrow.
func expiredQuotes(t *testing.T, s storage.Store, w Reader) *Engine {
	t.Helper()
	f := lamp()
	f.Moves = nil
	f.Ask = func(in swap.Decision) swap.Ask {
		if in.Obs.Escrow.Asked {
			return swap.Ask{}
		}
		return swap.Ask{Escrow: &chains.EscrowQuery{}}
	}
	return toyEngine(t, s, w, &toyExecutor{}, f)
}

func endedQuote(t *testing.T, g *Engine, id string, ago time.Duration) *swap.Record {
	t.Helper()
	r := newToy(id)
	r.State, r.Ended, r.Escrow = 4, swap.At(time.Now().Add(-ago)), &swap.EscrowPart{}
	add(t, g, r)
	return r
}

func deleted(t *testing.T, g *Engine, id string) bool {
	t.Helper()
	_, err := g.Load(t.Context(), id)
	if err != nil && fault.CodeOf(err) != fault.NotFound {
		t.Fatal(err)
	}
	return err != nil
}

// A quote is deleted once it has been over for as long as it is kept, and not a
// millisecond before. What is deleted is not shown from an earlier pass.
func TestWhenAQuoteIsDeleted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := expiredQuotes(t, new(storage.Memory), &toyReader{})
		endedQuote(t, g, "kept", time.Minute-time.Millisecond)
		endedQuote(t, g, "due", time.Minute)
		advance(t, g, "due", nil)
		g.Purge(t.Context())
		if !deleted(t, g, "due") || deleted(t, g, "kept") {
			t.Errorf("due: deleted %v; kept: deleted %v", deleted(t, g, "due"), deleted(t, g, "kept"))
		}
		if res, err := g.Advance(t.Context(), "due", nil); fault.CodeOf(err) != fault.NotFound {
			t.Errorf("a deleted quote is shown: %+v, %v", res, err)
		}
	})
}

// A quote that could not be deleted is tried again after an hour, and no sooner; one
// that was used is never asked about.
func TestWhenDeletingIsTriedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &toyReader{}
		w.set(chains.EscrowFact{}, errGone)
		g := expiredQuotes(t, new(storage.Memory), w)
		used := newToy("used")
		used.State, used.Ended, used.Escrow = 4, swap.At(time.Now().Add(-time.Hour)), &swap.EscrowPart{InitTx: "0x1"}
		add(t, g, used)
		g.Purge(t.Context())
		if n := w.asked.Load(); n != 0 {
			t.Errorf("asked %d times about a quote that was used", n)
		}
		endedQuote(t, g, "a", time.Hour)
		g.Purge(t.Context())
		w.set(chains.EscrowFact{}, nil)
		time.Sleep(sparedFor - time.Nanosecond)
		if g.Purge(t.Context()); w.asked.Load() != 1 || deleted(t, g, "a") {
			t.Errorf("asked %d times within the hour", w.asked.Load())
		}
		time.Sleep(time.Nanosecond)
		if g.Purge(t.Context()); w.asked.Load() != 2 || !deleted(t, g, "a") {
			t.Errorf("asked %d times after an hour; deleted %v", w.asked.Load(), deleted(t, g, "a"))
		}
		if deleted(t, g, "used") {
			t.Error("a quote that was used is deleted")
		}
	})
}

// damagedFirst yields, before the entries, one that cannot be read, and one whose
// body cannot be decoded.
type damagedFirst struct{ storage.Store }

func (s damagedFirst) Find(ctx context.Context, q storage.Query) iter.Seq2[storage.Entry, error] {
	return func(yield func(storage.Entry, error) bool) {
		if yield(storage.Entry{ID: "0"}, errDisk) && yield(storage.Entry{ID: "1", Body: []byte("{")}, nil) {
			s.Store.Find(ctx, q)(yield)
		}
	}
}

// What cannot be read, or looked at, is not deleted, and keeps no other quote from
// being deleted.
func TestDamagedQuotesKeepNoOtherFromBeingDeleted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		down := true
		s := &failing{Store: damagedFirst{new(storage.Memory)}}
		g := expiredQuotes(t, s, &toyReader{})
		endedQuote(t, g, "unreadable", time.Hour)
		endedQuote(t, g, "well", time.Hour)
		s.get = func(id string) error {
			if down && id == "unreadable" {
				return errDisk
			}
			return nil
		}
		g.Purge(t.Context())
		down = false
		if !deleted(t, g, "well") || deleted(t, g, "unreadable") {
			t.Errorf("well: deleted %v; unreadable: deleted %v", deleted(t, g, "well"), deleted(t, g, "unreadable"))
		}
	})
}

// changing writes a swap each time before it is deleted.
type changing struct {
	storage.Store
	change func(id string)
}

func (s *changing) Delete(ctx context.Context, id string, version uint64) error {
	s.change(id)
	return s.Store.Delete(ctx, id, version)
}

// A quote that changes between the chain's answer and its deletion stays.
func TestQuoteThatChangesMeanwhileIsKept(t *testing.T) {
	s := &changing{Store: new(storage.Memory)}
	g := expiredQuotes(t, s, &toyReader{})
	endedQuote(t, g, "a", time.Hour)
	s.change = func(id string) {
		e := trial.Must(s.Get(t.Context(), id))(t)
		trial.Do(t, s.Update(t.Context(), e))
	}
	if g.Purge(t.Context()); deleted(t, g, "a") {
		t.Error("deleted")
	}
}
