package engine

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math/big"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/internal/lp"
	"github.com/swapper-go/swapper/internal/swap"
	"github.com/swapper-go/swapper/storage"
)

var errGone = errors.New("gone")

// echo answers each question with something, or with an error.
type echo struct{ err error }

func (e echo) Escrow(context.Context, string, string, chains.EscrowQuery) (chains.EscrowFact, error) {
	return chains.EscrowFact{State: chains.EscrowOpen}, e.err
}
func (e echo) Delivered(context.Context, string, string, swap.DeliveredAsk) (*chains.Escrow, error) {
	return &chains.Escrow{Expiry: 1}, e.err
}
func (e echo) ETA(context.Context, swap.ETAAsk) (int, error) { return 7, e.err }
func (e echo) VerifyRefund(context.Context, string, string, swap.RefundAsk) error {
	return e.err
}
func (e echo) Vault(context.Context, string, string, chains.VaultID) (chains.VaultFact, error) {
	return chains.VaultFact{Vault: chains.Vault{Open: true}}, e.err
}
func (e echo) Withdrawal(context.Context, string, string, chains.WithdrawalQuery) (chains.WithdrawalFact, error) {
	return chains.WithdrawalFact{FrontTx: "x"}, e.err
}
func (e echo) Txs(_ context.Context, _ string, txs []chains.Signed) ([]chains.TxStatus, error) {
	return make([]chains.TxStatus, len(txs)), e.err
}
func (e echo) Payout(context.Context, string, string, swap.PayoutAsk) (swap.PayoutFact, error) {
	return swap.PayoutFact{Proven: true}, e.err
}
func (e echo) LPStatus(context.Context, lp.StatusQuery) (lp.Status, error) {
	return lp.Status{Code: 7}, e.err
}
func (e echo) BitcoinTx(context.Context, bitcoin.Hash) (*bitcoin.Tx, error) {
	return &bitcoin.Tx{Height: 7}, e.err
}
func (e echo) Spends(context.Context, []bitcoin.OutPoint) ([]bitcoin.Spend, error) {
	return []bitcoin.Spend{{State: bitcoin.SpentInMempool}}, e.err
}
func (e echo) GasPayout(context.Context, string, swap.GasAsk) (swap.GasFact, error) {
	return swap.GasFact{Paid: big.NewInt(7)}, e.err
}
func (e echo) Received(context.Context, swap.ReceivedAsk) ([]*bitcoin.Tx, error) {
	return make([]*bitcoin.Tx, 1), e.err
}
func (e echo) VerifyInit(context.Context, string, string, swap.InitAsk) (swap.Millis, error) {
	return 7, e.err
}
func (e echo) Refunded(context.Context, swap.RefundedAsk) (swap.RefundedFact, error) {
	return swap.RefundedFact{Sats: 7}, e.err
}

// Each question that a flow asks is asked, alone, and its answer or its error is
// where the flow looks for it.
func TestEachQuestionHasItsAnswer(t *testing.T) {
	questions := swap.Ask{
		Escrow: &chains.EscrowQuery{}, Found: &chains.EscrowQuery{}, LP: &lp.StatusQuery{}, Delivered: &swap.DeliveredAsk{}, ETA: &swap.ETAAsk{},
		Refund: &swap.RefundAsk{}, Payment: &bitcoin.Hash{}, Payout: &swap.PayoutAsk{}, Spends: make([]bitcoin.OutPoint, 1), Taken: &bitcoin.OutPoint{}, Vault: &chains.VaultID{},
		Withdrawal: &chains.WithdrawalQuery{}, Txs: []chains.Signed{{ID: "x"}}, GasTx: &swap.GasAsk{}, Received: &swap.ReceivedAsk{}, Init: &swap.InitAsk{}, Refunded: &swap.RefundedAsk{}, Rival: &swap.RivalAsk{},
	}
	all := reflect.ValueOf(questions)
	for i := range all.NumField() {
		name := all.Type().Field(i).Name
		for _, wrong := range []error{nil, errGone} {
			var ask swap.Ask
			reflect.ValueOf(&ask).Elem().Field(i).Set(all.Field(i))
			w := passReader{echo{wrong}, func(context.Context, string, swap.RivalAsk) (bool, error) { return true, wrong }}
			in := swap.Decision{R: &swap.Record{}, Obs: &swap.Observation{}, Now: time.Now()}
			if !answer(t.Context(), w, in, ask) {
				t.Errorf("%s: nothing was asked", name)
			}
			facts := reflect.ValueOf(in.Obs).Elem()
			for j := range facts.NumField() {
				if facts.Field(j).Kind() != reflect.Struct {
					continue // what a fact is about
				}
				fact, asked := facts.Type().Field(j).Name, facts.Field(j).FieldByName("Asked").Bool()
				if asked != (fact == name) {
					t.Errorf("%s: %s was asked: %v", name, fact, asked)
				}
				if err, _ := facts.Field(j).FieldByName("Err").Interface().(error); fact == name && !errors.Is(err, wrong) {
					t.Errorf("%s: error %v", name, err)
				}
				if v := facts.Field(j).FieldByName("Value"); fact == name && fact != "Refund" && wrong == nil && v.IsZero() {
					t.Errorf("%s: no answer", name)
				}
			}
		}
	}
	if answer(t.Context(), passReader{}, swap.Decision{Obs: &swap.Observation{}}, swap.Ask{}) {
		t.Error("nothing counts as a question")
	}
	asked := []chains.Signed{{ID: "a"}, {ID: "b"}}
	if m, err := byID(asked)(make([]chains.TxStatus, 1), nil); err == nil {
		t.Errorf("one answer to two questions: %v", m)
	}
	if m, err := byID(asked)(make([]chains.TxStatus, 2), errGone); !errors.Is(err, errGone) {
		t.Errorf("answers beside an error: %v", m)
	}
	if m, err := byID(asked)([]chains.TxStatus{{State: chains.TxPending}, {State: chains.TxConfirmed}}, nil); err != nil || m["b"].State != chains.TxConfirmed || m["a"].State != chains.TxPending {
		t.Errorf("%v, %v", m, err)
	}
}

// Once an effect has its place, the table is asked again: it must be the same effect,
// in the same place, and due.
func TestEffectIsJudgedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := lamp()
		var due []swap.Effect
		f.Effects = func(swap.Decision) []swap.Effect { return due }
		g := toyEngine(t, new(storage.Memory), &toyReader{}, &toyExecutor{answer: func(int64) swap.Outcome { return swap.Outcome{} }}, f)
		create(t, g, "a")
		send := swap.Effect{Kind: swap.SendTx, Step: 1}
		for name, c := range map[string]struct {
			due  []swap.Effect
			want bool
		}{
			"the same":             {[]swap.Effect{{Kind: swap.Publish}, send}, true},
			"none":                 {nil, false},
			"another step":         {[]swap.Effect{{Kind: swap.SendTx}}, false},
			"another kind":         {[]swap.Effect{{Kind: swap.Broadcast}}, false},
			"it reveals something": {[]swap.Effect{{Kind: swap.SendTx, Step: 1, Reveals: true}}, false},
		} {
			due = nil
			time.Sleep(time.Minute)
			advance(t, g, "a", nil)
			due = c.due
			r, e, err := g.stillDue(t.Context(), "a", send)
			if (err == nil) != c.want || c.want && (r == nil || e.Key() != send.Key()) || !c.want && !errors.Is(err, errNotDue) {
				t.Errorf("%s: %+v, %v", name, e, err)
			}
		}
		due = []swap.Effect{send}
		r := load(t, g, "a")
		next := r.Clone()
		next.Tried = map[string]swap.Try{send.Key(): {NotBefore: swap.At(time.Now().Add(time.Hour))}}
		write(t, g, r, next)
		time.Sleep(time.Minute)
		if _, _, err := g.stillDue(t.Context(), "a", send); !errors.Is(err, errNotDue) {
			t.Errorf("before its time: %v", err)
		}
		if _, _, err := g.stillDue(t.Context(), "b", send); fault.CodeOf(err) != fault.NotFound {
			t.Errorf("of a swap that is not there: %v", err)
		}
		f.Effects = nil
		time.Sleep(time.Minute)
		if _, _, err := g.stillDue(t.Context(), "a", send); !errors.Is(err, errNotDue) {
			t.Errorf("of a type without effects: %v", err)
		}
		other := &swap.Record{Head: swap.Head{ID: "c", Type: swap.TrustedFromBTC, Chain: "CITREA"}}
		add(t, g, other)
		if _, _, err := g.stillDue(t.Context(), "c", send); !errors.Is(err, errNotDue) {
			t.Errorf("of a type that is not configured: %v", err)
		}
		if v := g.StoredView(other); !reflect.DeepEqual(v, swap.View{}) {
			t.Errorf("of a type that is not configured %+v is shown", v)
		}
	})
}

// That an effect begins is stored: when, that a process was lost over it, and that a
// preimage may be public; not over somebody else's change.
func TestWhatIsStoredOfABeginning(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := toyEngine(t, new(storage.Memory), &toyReader{}, &toyExecutor{}, lamp())
		now := swap.At(time.Now())
		for i, c := range []struct {
			e        swap.Effect
			before   swap.Try
			revealed swap.Millis
			after    swap.Try
			public   swap.Millis
		}{
			{swap.Effect{Kind: swap.PostPSBT, Mark: true}, swap.Try{}, 0, swap.Try{Started: now}, 0},
			{swap.Effect{Kind: swap.PostPSBT, Mark: true}, swap.Try{Started: 5}, 0, swap.Try{Started: 5, Attempts: 1}, 0},
			{swap.Effect{Kind: swap.PostPSBT, Mark: true}, swap.Try{Started: 5, Attempts: 3}, 0, swap.Try{Started: 5, Attempts: 3}, 0},
			{swap.Effect{Kind: swap.PostPSBT, Mark: true}, swap.Try{Started: 5, By: "another", Busy: 7}, 0, swap.Try{Started: 5, Attempts: 1}, 0},
			{swap.Effect{Kind: swap.Publish, Reveals: true}, swap.Try{}, 0, swap.Try{Started: now}, now},
			{swap.Effect{Kind: swap.Publish, Reveals: true}, swap.Try{Started: 5}, 0, swap.Try{Started: now, Attempts: 1}, now},
			{swap.Effect{Kind: swap.Publish, Reveals: true}, swap.Try{Started: 5}, 6, swap.Try{Started: 5, Attempts: 1}, 6},
			{swap.Effect{Kind: swap.Publish, Reveals: true}, swap.Try{Started: 5, Attempts: 2, Outcome: swap.Refused, Busy: 7}, 5, swap.Try{Started: 5, Attempts: 2}, 5},
			{swap.Effect{Kind: swap.Publish, Reveals: true}, swap.Try{Started: 5, Attempts: 2, Outcome: swap.Done, Busy: 7}, 5, swap.Try{Started: 5, Attempts: 2, Outcome: swap.Done}, 5},
		} {
			c.after.By, c.after.Busy = g.Effects.owner, now+swap.Millis((effectTimeout+effectGrace)/time.Millisecond)
			r := newToy(fmt.Sprint(i))
			r.Lightning = &swap.LightningPart{Revealed: c.revealed}
			if c.before != (swap.Try{}) {
				r.Tried = map[string]swap.Try{c.e.Key(): c.before}
			}
			add(t, g, r)
			r = load(t, g, r.ID)
			next, err := g.markStarted(t.Context(), r, c.e)
			if err != nil || next.Tried[c.e.Key()] != c.after || next.Lightning.Revealed != c.public {
				t.Errorf("%d: %+v, public since %d, %v", i, next.Tried, next.Lightning.Revealed, err)
			}
			if stored, err := g.Load(t.Context(), r.ID); err != nil || stored.Tried[c.e.Key()] != c.after || stored.Lightning.Revealed != c.public {
				t.Errorf("%d: stored %+v, %v", i, stored, err)
			}
			if _, err := g.markStarted(t.Context(), r, c.e); !errors.Is(err, storage.ErrConflict) {
				t.Errorf("%d: over another change: %v", i, err)
			}
		}
	})
}

// brokenStore yields an error, or a body that cannot be read, in the place of entries.
type brokenStore struct {
	*storage.Memory
	findErr error
	damaged string // id
}

func (s *brokenStore) Find(ctx context.Context, q storage.Query) iter.Seq2[storage.Entry, error] {
	return func(yield func(storage.Entry, error) bool) {
		if s.findErr != nil {
			yield(storage.Entry{}, s.findErr)
			return
		}
		for e, err := range s.Memory.Find(ctx, q) {
			if e.ID == s.damaged {
				e.Body = []byte("{")
			}
			if !yield(e, err) {
				return
			}
		}
	}
}

// A list has all swaps of a signer, newest first, in whatever number; one that cannot
// be read is named and keeps no other from it; an error of the store ends it.
func TestLists(t *testing.T) {
	s := &brokenStore{Memory: new(storage.Memory)}
	f := lamp()
	f.Unpaid = func(r *swap.Record) bool { return strings.HasSuffix(r.ID, "quote") }
	g := toyEngine(t, s, &toyReader{}, &toyExecutor{}, f)
	const many = 2*maxDecodeBatch + 3
	for i := range many {
		r := newToy(fmt.Sprintf("%04d", i))
		r.CreatedAt, r.Settled = swap.Millis(i+1), i%2 == 0
		add(t, g, r)
	}
	over := newToy("a quote")
	over.CreatedAt, over.Expiry = many+1, swap.At(time.Now().Add(-time.Hour))
	unused := newToy("a fresh quote")
	unused.CreatedAt = many + 2
	for _, r := range []*swap.Record{over, unused} {
		add(t, g, r)
	}
	for range 2 { // the second time some come decoded from memory
		all, errs := listed(t, g, false, 0)
		if len(all) != many+2 || len(errs) != 0 || !slices.IsSortedFunc(all[2:], func(a, b string) int { return strings.Compare(b, a) }) || all[0] != "a fresh quote" || all[1] != "a quote" {
			t.Fatalf("%d swaps, %v: %.5v", len(all), errs, all)
		}
		if pending, errs := listed(t, g, true, 0); len(pending) != many+1 || len(errs) != 0 || pending[0] != "a fresh quote" {
			t.Errorf("%d pending swaps, %v", len(pending), errs)
		}
	}
	for _, most := range []int{1, maxDecodeBatch, maxDecodeBatch + 1} {
		if some, _ := listed(t, g, false, most); len(some) != most {
			t.Errorf("%d swaps, wanted %d", len(some), most)
		}
	}
	// What was settled and is another version now is read again.
	r := load(t, g, "0002")
	next := r.Clone()
	next.Settled, next.Problem = false, "changed"
	write(t, g, r, next)
	for r := range g.List(t.Context(), "CITREA", "0x1", false, nil, 0) {
		if r.ID == "0002" && r.Problem != "changed" {
			t.Errorf("an old version is listed: %+v", r)
		}
	}
	s.damaged = "0003"
	if all, errs := listed(t, g, false, 0); len(all) != many+1 || len(errs) != 1 || !errors.Is(errs[0], ErrUnreadable) {
		t.Errorf("%d swaps beside a damaged one, %v", len(all), errs)
	}
	s.findErr = errGone
	if all, errs := listed(t, g, false, 0); len(all) != 0 || len(errs) != 1 || !errors.Is(errs[0], errGone) {
		t.Errorf("%d swaps of a broken store, %v", len(all), errs)
	}
	if rival, err := g.Rival(t.Context(), "a", swap.RivalAsk{Index: swap.ByPaying, Value: "x"}); rival || !errors.Is(err, errGone) {
		t.Errorf("of a broken store: %v, %v", rival, err)
	}
	if err := g.Look(t.Context(), "CITREA", chains.Hint{EscrowHash: []byte{1}}); !errors.Is(err, errGone) {
		t.Errorf("a hint, of a broken store: %v", err)
	}
	for name, h := range map[string]chains.Hint{"nothing": {}, "zeros": {EscrowHash: make([]byte, 32), ClaimHash: []byte{}}} {
		if err := g.Look(t.Context(), "CITREA", h); err != nil {
			t.Errorf("%s is looked for: %v", name, err)
		}
	}
}

// A step stores when the swap is to be looked at next: at its next moment, or at once
// if the clock alone changes nothing more and something moved.
func TestWhenTheNextLookIsStored(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := lamp()
		f.Moves = []swap.Move{{From: []int{0}, To: 1, Why: "asked", On: swap.OnReveal}}
		f.Fill = func(in swap.Decision, next *swap.Record) { next.Problem = in.R.ID }
		f.Effects = nil
		g := toyEngine(t, new(storage.Memory), &toyReader{}, &toyExecutor{}, f)
		for id, c := range map[string]struct {
			expiry time.Duration
			input  swap.Input
			due    func(now time.Time) swap.Millis
		}{
			"moves, has a moment": {time.Hour, swap.Reveal{}, func(now time.Time) swap.Millis { return swap.At(now.Add(time.Hour)) + 1 }},
			"moves, has none":     {-time.Hour, swap.Reveal{}, swap.At},
			"stays, has a moment": {time.Hour, nil, func(now time.Time) swap.Millis { return swap.At(now.Add(time.Hour)) + 1 }},
			"stays, and has none": {-time.Hour, nil, func(time.Time) swap.Millis { return 0 }},
		} {
			r := newToy(id)
			r.Expiry = swap.At(time.Now().Add(c.expiry))
			r.Lightning = &swap.LightningPart{EndsAt: r.Expiry} // a moment in every state
			add(t, g, r)
			res, err := g.Advance(t.Context(), id, c.input)
			if err != nil || res.Record.Problem != id || res.Record.Due != c.due(time.Now()) {
				t.Errorf("%s: due at %d, %v; want %d", id, res.Record.Due, err, c.due(time.Now()))
			}
		}
	})
}

// Of an expired quote that was used, is not hidden any more, or of which nobody is
// heard, nothing is deleted.
func TestWhatIsNotDeleted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for name, c := range map[string]struct {
			change func(r *swap.Record)
			err    error // of the chain
			fact   chains.EscrowState
			gone   bool
		}{
			"unused":                {func(*swap.Record) {}, nil, chains.EscrowNone, true},
			"without an escrow":     {func(r *swap.Record) { r.Escrow = nil }, nil, chains.EscrowNone, true},
			"submitted":             {func(r *swap.Record) { r.Submission = &swap.Submission{} }, nil, chains.EscrowNone, false},
			"opened":                {func(r *swap.Record) { r.Escrow.InitTx = "0x1" }, nil, chains.EscrowNone, false},
			"chain does not answer": {func(*swap.Record) {}, errGone, chains.EscrowNone, false},
			"open on the chain":     {func(*swap.Record) {}, nil, chains.EscrowOpen, false},
			"ended just now":        {func(r *swap.Record) { r.Ended = swap.At(time.Now()) }, nil, chains.EscrowNone, false},
		} {
			f := lamp()
			f.Ask = func(in swap.Decision) swap.Ask {
				if in.Obs.Escrow.Asked {
					return swap.Ask{}
				}
				return swap.Ask{Escrow: &chains.EscrowQuery{}}
			}
			f.Moves = nil
			w := &toyReader{}
			w.set(chains.EscrowFact{State: c.fact}, c.err)
			g := toyEngine(t, new(storage.Memory), w, &toyExecutor{}, f)
			r := newToy("a")
			r.State, r.Ended, r.Escrow = 4, swap.At(time.Now().Add(-2*time.Minute)), &swap.EscrowPart{}
			c.change(r)
			add(t, g, r)
			g.Purge(t.Context())
			_, err := g.Load(t.Context(), "a")
			if gone := fault.CodeOf(err) == fault.NotFound; gone != c.gone {
				t.Errorf("%s: deleted %v, %v", name, gone, err)
			}
			before := w.asked.Load()
			if !c.gone {
				g.Purge(t.Context())
				time.Sleep(sparedFor - time.Nanosecond)
				g.Purge(t.Context())
				if n := w.asked.Load() - before; n != 0 {
					if r.MayPurge() && name != "ended just now" {
						t.Errorf("%s: the chain is asked %d times more within the hour", name, n)
					}
				}
			}
			g.Close()
		}
	})
}
