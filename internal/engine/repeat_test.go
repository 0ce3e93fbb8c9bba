package engine

import (
	"context"
	"errors"
	"maps"
	"math"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/internal/async"
	"github.com/swapper-go/swapper/internal/lp"
	"github.com/swapper-go/swapper/internal/swap"
	"github.com/swapper-go/swapper/internal/trial"
	"github.com/swapper-go/swapper/storage"
	"github.com/swapper-go/swapper/tokens"
)

// hearingReader is told by nodes as tests say.
type hearingReader struct {
	toyReader
	mark    atomic.Uint64
	changed atomic.Bool // TxUnchanged says no
	txs     atomic.Int64
	etas    atomic.Int64
	lps     atomic.Int64
	late    func(ctx context.Context) error // of the provider's answer; nil: it comes
}

func (w *hearingReader) Heard(string) uint64  { return w.mark.Load() }
func (w *hearingReader) HeardBitcoin() uint64 { return w.mark.Load() }

func (w *hearingReader) TxUnchanged(*bitcoin.Tx, uint64) (uint32, bool) {
	return 900, !w.changed.Load()
}

func (w *hearingReader) BitcoinTx(context.Context, bitcoin.Hash) (*bitcoin.Tx, error) {
	w.txs.Add(1)
	return &bitcoin.Tx{ID: bitcoin.Hash{1}}, nil
}

func (w *hearingReader) ETA(context.Context, swap.ETAAsk) (int, error) {
	w.etas.Add(1)
	return 600, nil
}

func (w *hearingReader) LPStatus(ctx context.Context, _ lp.StatusQuery) (lp.Status, error) {
	w.lps.Add(1)
	if w.late != nil {
		return lp.Status{}, w.late(ctx)
	}
	return lp.Status{Code: lp.CodeUnpaid}, nil
}

func hearing(t *testing.T, mark uint64, f *swap.Flow) (*Engine, *hearingReader) {
	w := &hearingReader{}
	w.mark.Store(mark)
	return toyEngine(t, new(storage.Memory), w, &toyExecutor{}, f), w
}

// What is known to be unchanged is not asked again for a status of a swap that waits, and is
// asked whenever anything else may follow from it.
func TestStatusOfUnchangedSwapAsksNothing(t *testing.T) {
	yes := true
	for name, c := range map[string]struct {
		deaf    bool
		between func(w *hearingReader)
		after   time.Duration
		view    swap.View
		why     purpose
		input   swap.Input
		fact    chains.EscrowFact
		failed  bool // the first question
		due     time.Duration
		asked   int64
	}{
		"unchanged":                     {asked: 1},
		"unchanged, to be waited for":   {view: swap.View{Action: &swap.Wait{}}, asked: 1},
		"by the schedule":               {why: asRoutine, asked: 1},
		"nothing is heard":              {deaf: true, asked: 2},
		"something was told":            {between: func(w *hearingReader) { w.mark.Add(1) }, asked: 2},
		"the subscription has ended":    {between: func(w *hearingReader) { w.mark.Store(0) }, asked: 2},
		"a minute later":                {after: time.Minute, asked: 2},
		"by the schedule, later":        {why: asRoutine, after: time.Minute, asked: 2},
		"after a moment of the swap":    {due: time.Second, asked: 2},
		"something can be signed":       {view: swap.View{Action: &swap.Sign{}}, asked: 2},
		"something can be paid":         {view: swap.View{Action: &swap.Pay{}}, asked: 2},
		"the preimage can be shown":     {view: swap.View{Reveal: &yes}, asked: 2},
		"something stands in the way":   {view: swap.View{Blocked: errors.New("the nodes contradict each other")}, asked: 2},
		"it has ended":                  {view: swap.View{Row: swap.StateRow{Finished: true}}, asked: 2},
		"something is to be decided":    {why: forFacts, asked: 2},
		"an event was told":             {input: swap.Look{}, asked: 2},
		"the question was not answered": {failed: true, asked: 2},
		"open and final":                {fact: chains.EscrowFact{State: chains.EscrowOpen, Final: true}, asked: 1},
		"open, by one of several nodes": {fact: chains.EscrowFact{State: chains.EscrowOpen, Unsettled: true}, asked: 1},
		"open, to be final later":       {fact: chains.EscrowFact{State: chains.EscrowOpen}, asked: 2},
	} {
		inBubble(t, name, func(t *testing.T) {
			f := lamp()
			f.View = func(swap.Decision) swap.View { return c.view }
			g, w := hearing(t, 7, f)
			if c.deaf {
				w.mark.Store(0)
			}
			w.set(c.fact, nil)
			if c.failed {
				w.set(chains.EscrowFact{}, errors.New("the node is down"))
			}
			r := newToy("a")
			if c.due > 0 {
				r.Lightning = &swap.LightningPart{EndsAt: swap.At(time.Now().Add(c.due))}
			}
			add(t, g, r)
			advance(t, g, "a", nil)
			w.set(c.fact, nil)
			if c.between != nil {
				c.between(w)
			}
			time.Sleep(2*time.Second + c.after) // the pass before is not fresh
			trial.Must(g.advance(t.Context(), "a", c.input, c.why))(t)
			if got := w.asked.Load(); got != c.asked {
				t.Errorf("asked %d times, want %d", got, c.asked)
			}
		})
	}
}

// A node that leaves an event out delays it by a minute; nothing is decided meanwhile by what
// was so before, not even by the clock.
func TestNothingIsDecidedByWhatWasNotAsked(t *testing.T) {
	for name, c := range map[string]struct {
		expires time.Duration
		after   time.Duration
		state   int
	}{
		"the event is not told of":    {time.Hour, 10 * time.Second, 0},
		"and found within a minute":   {time.Hour, time.Minute, 2},
		"the quote expires meanwhile": {5 * time.Second, 10 * time.Second, 2},
	} {
		inBubble(t, name, func(t *testing.T) {
			g, w := hearing(t, 7, lamp())
			r := newToy("a")
			r.Expiry = swap.At(time.Now().Add(c.expires))
			add(t, g, r)
			advance(t, g, "a", nil)
			w.set(chains.EscrowFact{State: chains.EscrowClaimed}, nil)
			time.Sleep(c.after)
			res, err := g.Advance(t.Context(), "a", nil)
			if err != nil || res.Record.State != c.state {
				t.Errorf("state %d, %v; want %d", res.Record.State, err, c.state)
			}
		})
	}
}

// An effect is not begun by what was not asked.
func TestNoEffectByWhatWasNotAsked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := lamp()
		var due atomic.Bool
		f.Effects = func(swap.Decision) []swap.Effect {
			if due.Load() {
				return []swap.Effect{{Kind: swap.Publish}}
			}
			return nil
		}
		w := &hearingReader{}
		w.mark.Store(7)
		p := &toyExecutor{answer: func(int64) swap.Outcome { return swap.Outcome{Done: true} }}
		g := toyEngine(t, new(storage.Memory), w, p, f)
		create(t, g, "a")
		advance(t, g, "a", nil)
		due.Store(true)
		time.Sleep(2 * time.Second)
		trial.Must(g.advance(t.Context(), "a", nil, asRoutine))(t)
		if got := w.asked.Load(); got < 2 {
			t.Errorf("asked %d times before the effect, want at least 2", got)
		}
		due.Store(false)
	})
}

// A caller who comes after a routine pass that has shown nobody anything gets an own one.
func TestRepeatedRoutinePassServesNoCaller(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := lamp()
		f.View = func(swap.Decision) swap.View { return swap.View{Action: &swap.Sign{}} }
		g, w := hearing(t, 7, f)
		create(t, g, "a")
		for _, why := range []purpose{forView, asRoutine, forView} {
			trial.Must(g.advance(t.Context(), "a", nil, why))(t)
			if why == forView {
				time.Sleep(2 * time.Second)
			}
		}
		if got := w.asked.Load(); got != 2 {
			t.Errorf("asked %d times, want 2: for each caller", got)
		}
	})
}

// A status says as of which blocks it holds while anything in it is repeated, and no longer
// than that.
func TestStatusSaysAsOfWhichBlock(t *testing.T) {
	f := lamp()
	f.Ask = func(in swap.Decision) swap.Ask {
		if in.Obs.Escrow.Asked {
			return swap.Ask{}
		}
		return swap.Ask{Escrow: &chains.EscrowQuery{}, Payment: &bitcoin.Hash{1}}
	}
	chain := newToy("a").Chain
	both := map[string]uint64{chain: 70, tokens.Bitcoin: 900}
	for name, c := range map[string]struct {
		deaf    bool
		between func(w *hearingReader)
		after   time.Duration
		view    swap.View
		want    map[string]uint64
	}{
		"unchanged":                          {want: both},
		"without a subscription":             {deaf: true},
		"a block of another branch was told": {between: func(w *hearingReader) { w.mark.Add(1); w.changed.Store(true) }},
		"of Bitcoin's chain alone":           {between: func(w *hearingReader) { w.changed.Store(true) }, want: map[string]uint64{chain: 70}},
		"the head is lost":                   {between: func(w *hearingReader) { w.mark.Store(0); w.changed.Store(true) }},
		"a minute later":                     {after: time.Minute},
		"something can be signed":            {view: swap.View{Action: &swap.Sign{}}},
	} {
		inBubble(t, name, func(t *testing.T) {
			f := *f
			f.View = func(swap.Decision) swap.View { return c.view }
			g, w := hearing(t, 7, &f)
			w.set(chains.EscrowFact{Head: chains.Block{Height: 70}}, nil)
			if c.deaf {
				w.mark.Store(0)
			}
			create(t, g, "a")
			status := func() map[string]uint64 {
				s := trial.Must(g.Status(t.Context(), failingBuilder{}, StatusRequest{ID: "a", Caller: func(*swap.Record) (swap.Caller, error) { return swap.Caller{}, nil }}))(t)
				return s.AsOf
			}
			if asOf := status(); asOf != nil {
				t.Errorf("what was asked for holds as of %v", asOf)
			}
			w.set(chains.EscrowFact{Head: chains.Block{Height: 75}}, nil)
			if c.between != nil {
				c.between(w)
			}
			time.Sleep(2*time.Second + c.after) // the pass before is not fresh
			if asOf := status(); !maps.Equal(asOf, c.want) {
				t.Errorf("as of %v, want %v", asOf, c.want)
			}
		})
	}
}

// A transaction that no block holds is asked for once an hour by the schedule, once a minute
// for callers, and whenever a block may have changed it.
func TestUnchangedTransactionIsAskedSeldom(t *testing.T) {
	f := lamp()
	f.Ask = func(in swap.Decision) swap.Ask {
		if in.Obs.Payment.Asked {
			return swap.Ask{}
		}
		return swap.Ask{Payment: &bitcoin.Hash{1}}
	}
	for name, c := range map[string]struct {
		why     purpose
		changed bool
		asked   int64 // in three hours, every five minutes
	}{
		"by the schedule": {why: asRoutine, asked: 3},
		"for callers":     {why: forView, asked: 36},
		"changed":         {why: asRoutine, changed: true, asked: 36},
	} {
		inBubble(t, name, func(t *testing.T) {
			g, w := hearing(t, 7, f)
			w.changed.Store(c.changed)
			r := newToy("a")
			r.Expiry = swap.At(time.Now().Add(24 * time.Hour))
			add(t, g, r)
			for range 36 {
				trial.Must(g.advance(t.Context(), "a", nil, c.why))(t)
				time.Sleep(5 * time.Minute)
			}
			if got := w.txs.Load(); got != c.asked {
				t.Errorf("asked %d times, want %d", got, c.asked)
			}
		})
	}
}

// How long a payment will take is asked once a minute for callers, and whenever a block has come.
func TestTimeOfUnchangedPaymentIsAskedSeldom(t *testing.T) {
	f := lamp()
	f.Ask = func(in swap.Decision) swap.Ask {
		if in.Obs.ETA.Asked {
			return swap.Ask{}
		}
		return swap.Ask{Payment: &bitcoin.Hash{1}, ETA: &swap.ETAAsk{TxID: bitcoin.Hash{1}, Confirmations: 3}}
	}
	for name, c := range map[string]struct {
		between func(w *hearingReader)
		after   time.Duration
		asked   int64
	}{
		"unchanged":            {asked: 1},
		"a minute later":       {after: time.Minute, asked: 2},
		"a block has come":     {between: func(w *hearingReader) { w.mark.Add(1) }, asked: 2},
		"the payment is in it": {between: func(w *hearingReader) { w.changed.Store(true) }, asked: 2},
		"nothing is heard":     {between: func(w *hearingReader) { w.mark.Store(0) }, asked: 2},
	} {
		inBubble(t, name, func(t *testing.T) {
			g, w := hearing(t, 7, f)
			create(t, g, "a")
			for i := range 2 {
				if i == 1 && c.between != nil {
					c.between(w)
				}
				res, err := g.Advance(t.Context(), "a", nil)
				if err != nil || res.Observation.ETA.Value != 600 {
					t.Errorf("it takes %d seconds, %v; want 600", res.Observation.ETA.Value, err)
				}
				time.Sleep(2*time.Second + c.after) // the pass before is not fresh
			}
			if got := w.etas.Load(); got != c.asked {
				t.Errorf("asked %d times, want %d", got, c.asked)
			}
		})
	}
}

// withProvider is a flow that asks about an escrow and its provider, once in a pass.
func withProvider() *swap.Flow {
	f := lamp()
	f.Ask = func(in swap.Decision) swap.Ask {
		if in.Obs.Escrow.Asked {
			return swap.Ask{}
		}
		return swap.Ask{Escrow: &chains.EscrowQuery{}, LP: &lp.StatusQuery{URL: "https://lp"}}
	}
	return f
}

// A provider whose escrow is open is asked for a caller every second at first, and then whenever what
// it says is a twentieth older; without an escrow, or when something was told, as often as he asks.
func TestProviderIsAskedForCallersAsTheSwapAges(t *testing.T) {
	f := withProvider()
	open := chains.EscrowFact{State: chains.EscrowOpen, Final: true}
	for name, c := range map[string]struct {
		fact  chains.EscrowFact
		deaf  bool
		event bool
		asked int64 // in ten minutes, every two seconds
	}{
		"open":             {fact: open, asked: 71},
		"not open":         {asked: 300},
		"nothing is heard": {fact: open, deaf: true, asked: 300},
		"events are told":  {fact: open, event: true, asked: 300},
	} {
		inBubble(t, name, func(t *testing.T) {
			g, w := hearing(t, 7, f)
			w.set(c.fact, nil)
			if c.deaf {
				w.mark.Store(0)
			}
			r := newToy("a")
			r.CreatedAt, r.Expiry = swap.At(time.Now()), swap.At(time.Now().Add(time.Hour))
			add(t, g, r)
			for range 300 {
				advance(t, g, "a", nil)
				if c.event {
					w.mark.Add(1)
				}
				time.Sleep(2 * time.Second)
			}
			if got := w.lps.Load(); got != c.asked {
				t.Errorf("asked %d times, want %d", got, c.asked)
			}
		})
	}
}

// An answer of a provider that came too late for one pass will do for the next, where the chain says that the
// escrow is open and tells of what happens; else it is asked anew.
func TestLateAnswerOfProviderWillDoWhileTheChainIsHeard(t *testing.T) {
	f := withProvider()
	open := chains.EscrowFact{State: chains.EscrowOpen, Final: true}
	for name, c := range map[string]struct {
		fact    chains.EscrowFact
		mark    uint64
		why     purpose
		patient bool // in the second pass
	}{
		"open":                     {open, 7, asRoutine, true},
		"not open":                 {chains.EscrowFact{}, 7, asRoutine, false},
		"nothing is heard":         {open, 0, asRoutine, false},
		"a caller waits":           {open, 7, forView, false},
		"something has come about": {open, 7, forFacts, false},
	} {
		inBubble(t, name, func(t *testing.T) {
			g, w := hearing(t, c.mark, f)
			w.set(c.fact, nil)
			var patience []bool
			w.late = func(ctx context.Context) error {
				patience = append(patience, async.PatienceOf(ctx) > 0)
				return errors.New("it takes too long")
			}
			create(t, g, "a")
			for range 2 {
				trial.Must(g.advance(t.Context(), "a", nil, c.why))(t)
				time.Sleep(2 * time.Second)
			}
			if len(patience) != 2 || patience[1] != c.patient {
				t.Errorf("the provider is asked with patience %v, want %v in the second pass", patience, c.patient)
			}
		})
	}
}

// While no caller waits, what a contract holds is asked for again once it is twice as old, six
// hours later at most; what an event brings begins anew, and so does what is not final. So does,
// after a moment of the swap, what the chain said before its own time had come there.
func TestUnchangedContractIsAskedSeldom(t *testing.T) {
	for name, c := range map[string]struct {
		fact  chains.EscrowFact
		event bool // each hour, that changes nothing
		due   time.Duration
		asked int64
	}{
		"open":                       {fact: chains.EscrowFact{State: chains.EscrowOpen, Final: true}, asked: 10},
		"by the word of one of many": {fact: chains.EscrowFact{State: chains.EscrowOpen, Unsettled: true}, asked: 10},
		"not final":                  {fact: chains.EscrowFact{State: chains.EscrowOpen}, asked: 144},
		"after a moment":             {fact: chains.EscrowFact{State: chains.EscrowOpen, Final: true, Head: chains.Block{Time: math.MaxInt64}}, due: 12 * time.Hour, asked: 10},
		"that the chain is behind":   {fact: chains.EscrowFact{State: chains.EscrowOpen, Final: true}, due: 12 * time.Hour, asked: 15},
		"with events":                {fact: chains.EscrowFact{State: chains.EscrowOpen, Final: true}, event: true, asked: 96},
	} {
		inBubble(t, name, func(t *testing.T) {
			g, w := hearing(t, 7, lamp())
			r := newToy("a")
			r.Expiry = swap.At(time.Now().Add(48 * time.Hour))
			if c.due > 0 {
				r.Lightning = &swap.LightningPart{EndsAt: swap.At(time.Now().Add(c.due))}
			}
			add(t, g, r)
			w.set(c.fact, nil)
			for i := range 144 { // in a day, every ten minutes
				if c.event && i%6 == 0 {
					trial.Must(g.advance(t.Context(), "a", swap.Look{}, forFacts))(t)
					time.Sleep(2 * time.Second)
				}
				trial.Must(g.advance(t.Context(), "a", nil, asRoutine))(t)
				time.Sleep(10 * time.Minute)
			}
			if got := w.asked.Load(); got != c.asked {
				t.Errorf("asked %d times, want %d", got, c.asked)
			}
		})
	}
}
