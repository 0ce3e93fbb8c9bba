package engine

import (
	"math/big"
	"testing"

	"github.com/swapper-go/swapper/internal/swap"
	"github.com/swapper-go/swapper/storage"
	"github.com/swapper-go/swapper/tokens"
)

// The census follows the schedule: what is watched is counted by its state, money
// only once something began, and what is deleted or settled is gone from it.
func TestCensusFollowsTheSchedule(t *testing.T) {
	f := swap.Flows()[0]
	g := toyEngine(t, new(storage.Memory), &toyReader{}, &toyExecutor{}, f)
	s := &schedule{at: map[string]*turn{}}
	wbtc := tokens.Token{Chain: "CITREA", Ticker: "WBTC", Decimals: 8}
	record := func(id string, change func(*swap.Record)) *swap.Record {
		r := &swap.Record{Head: swap.Head{ID: id, Type: f.Type, Chain: "CITREA"}, Terms: swap.Terms{Input: tokens.NewAmount(big.NewInt(7), wbtc)}, Escrow: &swap.EscrowPart{}}
		if change != nil {
			change(r)
		}
		return r
	}
	g.reschedule(s, record("quote", nil), 0)
	for _, id := range []string{"a", "b"} {
		g.reschedule(s, record(id, func(r *swap.Record) {
			r.Escrow.InitTx = "0x1"
			r.Tried = map[string]swap.Try{"send:1": {Attempts: 2}, "send:0": {Outcome: swap.Done}}
		}), 0)
	}
	c := g.Census()
	row, _ := f.State(0)
	if got := c.Groups[Group{f.Type, "CITREA", 0, row.Name}]; got != 3 || len(c.Groups) != 1 {
		t.Errorf("%+v", c.Groups)
	}
	if len(c.UnderWay) != 1 || c.UnderWay[0].Raw.Int64() != 14 || c.UnderWay[0].Token != wbtc {
		t.Errorf("under way: %+v", c.UnderWay)
	}
	if c.Waiting[swap.SendTx] != 2 || len(c.Waiting) != 1 {
		t.Errorf("waiting: %v", c.Waiting)
	}
	g.reschedule(s, record("a", func(r *swap.Record) { r.Settled = true }), 0)
	g.census.drop("b") // as after a deletion
	if c = g.Census(); len(c.Groups) != 1 || c.Groups[Group{f.Type, "CITREA", 0, row.Name}] != 1 || len(c.UnderWay) != 0 || len(c.Waiting) != 0 {
		t.Errorf("%+v", c)
	}
}
