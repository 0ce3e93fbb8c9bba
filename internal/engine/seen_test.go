package engine

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/internal/flowtest"
	"github.com/swapper-go/swapper/internal/lp"
	"github.com/swapper-go/swapper/internal/swap"
	"github.com/swapper-go/swapper/storage"
)

// openedAt is an open escrow whose opening stands in block 100.
func openedAt(head uint64) chains.EscrowFact {
	return chains.EscrowFact{State: chains.EscrowOpen, Head: chains.Block{Height: head}, InitTx: "0x1", Opened: chains.Block{Height: 100}}
}

func claimedAt(height, head uint64) chains.EscrowFact {
	f := openedAt(head)
	f.State, f.ClaimTx, f.Finished = chains.EscrowClaimed, "0x2", chains.Block{Height: height}
	return f
}

func absentAt(head uint64) chains.EscrowFact {
	return chains.EscrowFact{Head: chains.Block{Height: head}}
}

// What a chain shows is taken back by a chain that has reached the block in which
// it stood and does not show it, however long that chain is; below that block
// answers a node that lags behind.
func TestReorganisations(t *testing.T) {
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	type look struct {
		fact chains.EscrowFact
		want int
	}
	opened := look{openedAt(105), swap.OutCommitted}
	claimed := look{claimedAt(103, 105), swap.OutClaimed}
	for name, looks := range map[string][]look{
		"by a longer chain":                 {opened, {absentAt(106), swap.OutSoftExpired}},
		"by one of the same length":         {opened, {absentAt(105), swap.OutSoftExpired}},
		"by a shorter one":                  {opened, {absentAt(100), swap.OutSoftExpired}},
		"a node lags behind":                {opened, {absentAt(99), swap.OutCommitted}},
		"opened again":                      {opened, {absentAt(105), swap.OutSoftExpired}, {openedAt(106), swap.OutCommitted}},
		"opened again, on a shorter chain":  {opened, {absentAt(105), swap.OutSoftExpired}, {openedAt(101), swap.OutCommitted}, {absentAt(101), swap.OutSoftExpired}},
		"the claim, by a shorter chain":     {claimed, {openedAt(103), swap.OutCommitted}},
		"the claim: a node lags behind":     {claimed, {openedAt(102), swap.OutClaimed}},
		"the claim, then the opening":       {claimed, {openedAt(103), swap.OutCommitted}, {absentAt(102), swap.OutSoftExpired}},
		"the claim, and claimed once more":  {claimed, {openedAt(103), swap.OutCommitted}, {claimedAt(104, 104), swap.OutClaimed}, {openedAt(103), swap.OutClaimed}},
		"never opened: a node lags behind":  {{absentAt(105), swap.OutSoftExpired}, {absentAt(104), swap.OutSoftExpired}},
		"opened where another node says no": {opened, {absentAt(99), swap.OutCommitted}, {openedAt(106), swap.OutCommitted}, {absentAt(106), swap.OutSoftExpired}},
	} {
		t.Run(name, func(t *testing.T) {
			f := flowtest.Flow(swap.ToBTCLN)
			r := &swap.Record{Head: swap.Head{Type: swap.ToBTCLN, State: swap.OutCreated, Expiry: swap.At(now.Add(-time.Second))}, Lightning: &swap.LightningPart{},
				Escrow:     &swap.EscrowPart{Real: &chains.Escrow{Expiry: now.Add(time.Hour).Unix()}},
				Submission: &swap.Submission{Action: swap.ActionInit, Txs: []swap.SignedTx{{}}}} // is sent until it is confirmed
			for i, l := range looks {
				obs := &swap.Observation{}
				put(&obs.Escrow, now)(notLagging(r)(l.fact, nil))
				for range maxSteps {
					next, move := f.Step(swap.Decision{R: r, Obs: obs, Now: now})
					if r = next; move == nil {
						break
					}
				}
				if r.State != l.want {
					t.Fatalf("look %d: state %d, want %d; seen %d", i, r.State, l.want, r.Seen.Chain)
				}
			}
		})
	}
}

// forkedWorld is a chain that has lost the block of an opening and grows no
// further; the transaction waits.
type forkedWorld struct {
	toyReader
	tx chains.TxState
}

func (w *forkedWorld) Txs(_ context.Context, _ string, txs []chains.Signed) ([]chains.TxStatus, error) {
	return []chains.TxStatus{{State: w.tx}}, nil
}

func (w *forkedWorld) LPStatus(context.Context, lp.StatusQuery) (lp.Status, error) {
	return lp.Status{}, errors.New("silent")
}

// What is stored of a look that decides nothing, as of an attempt to send, does
// not put off the next decision.
func TestStoringPutsNothingOff(t *testing.T) {
	w := &forkedWorld{tx: chains.TxPending}
	g := toyEngine(t, new(storage.Memory), w, &toyExecutor{answer: func(int64) swap.Outcome { return swap.Outcome{Done: true} }}, flowtest.Flow(swap.ToBTCLN))
	g.Now = func() time.Time { return time.Unix(1_800_000_000, 0) }
	r := &swap.Record{Head: swap.Head{ID: "a", Type: swap.ToBTCLN, State: swap.OutCommitted, Seen: swap.Seen{Chain: 17}}, Lightning: &swap.LightningPart{},
		Escrow:     &swap.EscrowPart{Real: &chains.Escrow{Expiry: g.Now().Add(time.Hour).Unix()}, InitTx: "0x1"},
		Submission: &swap.Submission{Action: swap.ActionInit, Txs: []swap.SignedTx{{Signed: chains.Signed{ID: "0x1"}}}}}
	add(t, g, r)
	w.set(absentAt(16), nil)
	advance(t, g, "a", swap.Outcome{Effect: swap.SendTx, Done: true})
	w.set(absentAt(19), nil)
	res, err := g.Advance(t.Context(), "a", swap.Outcome{Effect: swap.SendTx, Done: true})
	if err != nil || res.Record.State != swap.OutSoftExpired {
		t.Fatalf("%+v, %v; want the swap not open any more", res, err)
	}
}

// A first transaction that a reorganisation took back is sent again, or the one
// that builds on it would wait for ever.
func TestFirstTransactionIsTakenBack(t *testing.T) {
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	f := flowtest.Flow(swap.ToBTC)
	r := &swap.Record{Head: swap.Head{Type: swap.ToBTC, State: swap.OutCreated, Expiry: swap.At(now.Add(time.Hour))},
		Escrow: &swap.EscrowPart{Real: &chains.Escrow{Expiry: now.Add(time.Hour).Unix()}},
		Submission: &swap.Submission{Action: swap.ActionInit, Since: swap.At(now), Txs: []swap.SignedTx{
			{Signed: chains.Signed{ID: "approve"}, Sent: true}, {Signed: chains.Signed{ID: "open"}}}}}
	for i, look := range []struct {
		approve, open chains.TxState
		step          int
	}{
		{chains.TxConfirmed, chains.TxPending, 1},
		{chains.TxUnknown, chains.TxPending, 0},
		{chains.TxPending, chains.TxPending, 0},
		{chains.TxConfirmed, chains.TxPending, 1},
	} {
		obs := &swap.Observation{Escrow: swap.Fact[chains.EscrowFact]{Asked: true, Value: absentAt(100)}}
		in := swap.Decision{R: r, Obs: obs, Now: now}
		ask := f.Ask(in)
		if len(ask.Txs) != 2 {
			t.Fatalf("look %d: asks for %d transactions, want both", i, len(ask.Txs))
		}
		put(&obs.Txs, now)(byID(ask.Txs)([]chains.TxStatus{{State: look.approve, Block: chains.Block{Height: 99}}, {State: look.open}}, nil))
		r, _ = f.Step(in)
		if next := f.Effects(swap.Decision{R: r, Obs: obs, Now: now}); len(next) != 1 || next[0].Step != look.step {
			t.Errorf("look %d: sends %+v, want transaction %d", i, next, look.step)
		}
	}
}
