package engine

import (
	"context"
	"encoding/json"
	"errors"
	"iter"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/internal/flowtest"
	"github.com/swapper-go/swapper/internal/lp"
	"github.com/swapper-go/swapper/internal/swap"
	"github.com/swapper-go/swapper/storage"
	"github.com/swapper-go/swapper/tokens"
)

// falseLP is an LP that delivers another escrow than was agreed, on a chain that shows none.
type falseLP struct{ Reader }

func (falseLP) LPStatus(context.Context, lp.StatusQuery) (lp.Status, error) {
	return lp.Status{Code: lp.CodeDone, Escrow: json.RawMessage(`{"amount":"1"}`)}, nil
}

func (falseLP) Delivered(context.Context, string, string, swap.DeliveredAsk) (*chains.Escrow, error) {
	return nil, &lp.LPError{Check: lp.CheckEscrow, Reason: "amount is 1, agreed was 2"}
}

func (falseLP) Escrow(context.Context, string, string, chains.EscrowQuery) (chains.EscrowFact, error) {
	return chains.EscrowFact{Head: chains.Block{Height: 1, Time: time.Now().Unix()}}, nil
}

// openingLP says nothing, and the chain shows another escrow of it than was agreed: by the
// word of one node, and of so many when all are asked.
type openingLP struct {
	falseLP
	witnesses int
}

func (openingLP) LPStatus(context.Context, lp.StatusQuery) (lp.Status, error) {
	return lp.Status{}, errors.New("no answer")
}

func (o openingLP) Escrow(_ context.Context, _, _ string, q chains.EscrowQuery) (chains.EscrowFact, error) {
	f := chains.EscrowFact{State: chains.EscrowOpen, InitTx: "0xopening", Escrow: &chains.Escrow{Data: json.RawMessage(`{"amount":"1"}`)}, Unsettled: !q.Settled, Head: chains.Block{Height: 1, Time: time.Now().Unix()}}
	if q.Settled {
		f.Witnesses = o.witnesses
	}
	return f, nil
}

// An LP that opens a false escrow and says nothing is punished once two nodes of the chain
// show it, in the pass that finds it, and never on one node's word.
func TestLieThatTheChainShowsIsAccused(t *testing.T) {
	for name, c := range map[string]struct {
		witnesses int
		shared    bool
		imported  bool
		kept      bool
		punished  int
	}{
		"two nodes":                        {2, false, false, true, 1},
		"one node":                         {1, false, false, false, 0},
		"the only node":                    {0, false, false, false, 0},
		"imported":                         {2, false, true, false, 0},
		"another swap has the same hash":   {2, true, false, true, 0},
		"one node, and the hash is shared": {1, true, false, false, 0},
	} {
		inBubble(t, name, func(t *testing.T) {
			store, p := new(storage.Memory), new(punished)
			g := liarsEngine(t, store, p)
			g.reader = openingLP{witnesses: c.witnesses}
			if c.shared {
				r := liarsSwap("b", "11")
				r.Settled = true
				restore(t, g, r)
			}
			r := liarsSwap("a", "11")
			r.Quoted = !c.imported
			restore(t, g, r)
			for range 3 {
				res := advance(t, g, "a", nil)
				if l := res.Record.Lie; (l != nil) != c.kept || l != nil && !strings.Contains(string(l.Came), "0xopening") {
					t.Errorf("kept %+v", l)
				}
				time.Sleep(2 * snapshotLife)
			}
			if len(p.whom) != c.punished {
				t.Errorf("punished %v, want %d", p.whom, c.punished)
			}
		})
	}
}

// punished counts punishments.
type punished struct {
	mu    sync.Mutex
	what  []lp.Pair
	whom  []string
	error error
}

func (p *punished) note(url string, about lp.Pair, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.whom, p.what, p.error = append(p.whom, url), append(p.what, about), err
}

func liarsEngine(t *testing.T, store storage.Store, p *punished) *Engine {
	g := newEngine(t, Config{Store: store, Reader: falseLP{}, Executor: executorFunc(func(context.Context, *swap.Record, swap.Effect) swap.Outcome { return swap.Outcome{Done: true} }),
		Flows: []*swap.Flow{flowtest.Flow(swap.FromBTCLNAuto)}, Punish: p.note})
	return g
}

// liarsSwap is a swap from Lightning that was agreed with a liar.
func liarsSwap(id, hash string) *swap.Record {
	now := time.Now()
	r := &swap.Record{Head: swap.Head{ID: id, Type: swap.FromBTCLNAuto, Chain: "CITREA", Signer: "0x1", LP: swap.LP{URL: "https://liar"}, CreatedAt: swap.At(now), Expiry: swap.At(now.Add(time.Hour)), Quoted: true},
		Escrow: &swap.EscrowPart{Expected: &chains.Escrow{Data: json.RawMessage(`{"amount":"2"}`)}}, Lightning: &swap.LightningPart{Hash: hash, EndsAt: swap.At(now.Add(2 * time.Hour))}}
	r.Terms.Output.Token = tokens.Token{Chain: "CITREA", Address: "0xcoin"}
	return r
}

// A lie that comes to light after the quote is kept with the swap and punished, once,
// however many processes and passes notice it.
func TestLiesAreAccusedOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store, p := new(storage.Memory), new(punished)
		one, other := liarsEngine(t, store, p), liarsEngine(t, store, p)
		add(t, one, liarsSwap("a", "11"))
		for range 5 {
			var all sync.WaitGroup
			for _, g := range []*Engine{one, other} {
				all.Go(func() {
					if _, err := g.Advance(t.Context(), "a", nil); err != nil {
						t.Error(err)
					}
				})
			}
			all.Wait()
			time.Sleep(2 * snapshotLife)
		}
		if len(p.whom) != 1 || p.whom[0] != "https://liar" || p.what[0] != (lp.Pair{Service: lp.FromBTCLNAuto, Chain: "CITREA", Token: "0xcoin"}) {
			t.Fatalf("punished %v for %v", p.whom, p.what)
		}
		if e, ok := errors.AsType[*lp.LPError](p.error); !ok || e.Check != lp.CheckEscrow || e.LP != "https://liar" || !strings.Contains(e.Reason, "agreed was 2") {
			t.Errorf("for %v", p.error)
		}
		r, err := one.Load(t.Context(), "a")
		if err != nil || r.Lie == nil || string(r.Lie.Agreed) != `{"amount":"2"}` || !strings.Contains(string(r.Lie.Came), `{"amount":"1"}`) {
			t.Errorf("kept %+v, %v", r.Lie, err)
		}
		one.Close()
		other.Close()
	})
}

// An LP is spared for a swap that was recovered or imported, where another swap has the
// same payment hash, and where the store cannot tell. The evidence of the latter two stays.
func TestWhoseLiesHaveNoConsequence(t *testing.T) {
	beside := func(change func(*swap.Record)) func(*testing.T, *Engine, *storage.Memory) {
		return func(t *testing.T, g *Engine, _ *storage.Memory) {
			r := liarsSwap("b", "11")
			r.Settled = true // nothing is asked of it
			change(r)
			restore(t, g, r)
		}
	}
	for name, c := range map[string]struct {
		change func(*swap.Record)
		before func(*testing.T, *Engine, *storage.Memory)
		kept   bool
		after  int
	}{
		"a swap of its own":         {nil, beside(func(r *swap.Record) { r.Lightning.Hash = "22" }), true, 1},
		"recovered":                 {func(r *swap.Record) { r.Quoted = false }, nil, false, 0},
		"another waits":             {nil, beside(func(*swap.Record) {}), true, 0},
		"another has settled":       {nil, beside(func(r *swap.Record) { r.State = swap.LnClaimed }), true, 0},
		"another has expired":       {nil, beside(func(r *swap.Record) { r.State = swap.LnExpired }), true, 0},
		"another was refunded":      {nil, beside(func(r *swap.Record) { r.State = swap.LnFailed }), true, 0},
		"another pays that invoice": {nil, beside(func(r *swap.Record) { r.Type, r.Escrow.InitTx = swap.ToBTCLN, "0x1" }), true, 0},
		"another may pay it":        {nil, beside(func(r *swap.Record) { r.Type = swap.ToBTCLN }), true, 0},
		"its LP calls another the same": {func(r *swap.Record) { r.Gas = &swap.GasPart{Hash: "33"} }, beside(func(r *swap.Record) {
			r.Lightning.Hash, r.Gas = "22", &swap.GasPart{Hash: "33"}
		}), true, 0},
	} {
		inBubble(t, name, func(t *testing.T) {
			store, p := new(storage.Memory), new(punished)
			g := liarsEngine(t, store, p)
			g.Flows[swap.ToBTCLN] = flowtest.Flow(swap.ToBTCLN)
			if c.before != nil {
				c.before(t, g, store)
			}
			r := liarsSwap("a", "11")
			if c.change != nil {
				c.change(r)
			}
			restore(t, g, r)
			res := advance(t, g, "a", nil)
			if (res.Record.Lie != nil) != c.kept || len(p.whom) != c.after {
				t.Errorf("kept %+v, punished %v", res.Record.Lie, p.whom)
			}
		})
	}
	t.Run("the store is silent", func(t *testing.T) {
		p := new(punished)
		store := &mute{Store: new(storage.Memory)}
		g := liarsEngine(t, store, p)
		add(t, g, liarsSwap("a", "11"))
		store.mute = true
		if res, err := g.Advance(t.Context(), "a", nil); err != nil || res.Record.Lie == nil || len(p.whom) != 0 {
			t.Errorf("%v, punished %v", err, p.whom)
		}
	})
}

// mute is a store in which nothing can be searched for.
type mute struct {
	storage.Store
	mute bool
}

func (m *mute) Find(ctx context.Context, q storage.Query) iter.Seq2[storage.Entry, error] {
	if m.mute {
		return func(yield func(storage.Entry, error) bool) { yield(storage.Entry{}, errors.New("no answer")) }
	}
	return m.Store.Find(ctx, q)
}
