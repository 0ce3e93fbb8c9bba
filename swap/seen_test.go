package swap

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/storage/storagetest"
	"github.com/swapper-go/swapper/swap/lp"
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
	opened := look{openedAt(105), outCommitted}
	claimed := look{claimedAt(103, 105), outClaimed}
	for name, looks := range map[string][]look{
		"by a longer chain":                 {opened, {absentAt(106), outSoftExpired}},
		"by one of the same length":         {opened, {absentAt(105), outSoftExpired}},
		"by a shorter one":                  {opened, {absentAt(100), outSoftExpired}},
		"a node lags behind":                {opened, {absentAt(99), outCommitted}},
		"opened again":                      {opened, {absentAt(105), outSoftExpired}, {openedAt(106), outCommitted}},
		"opened again, on a shorter chain":  {opened, {absentAt(105), outSoftExpired}, {openedAt(101), outCommitted}, {absentAt(101), outSoftExpired}},
		"the claim, by a shorter chain":     {claimed, {openedAt(103), outCommitted}},
		"the claim: a node lags behind":     {claimed, {openedAt(102), outClaimed}},
		"the claim, then the opening":       {claimed, {openedAt(103), outCommitted}, {absentAt(102), outSoftExpired}},
		"the claim, and claimed once more":  {claimed, {openedAt(103), outCommitted}, {claimedAt(104, 104), outClaimed}, {openedAt(103), outClaimed}},
		"never opened: a node lags behind":  {{absentAt(105), outSoftExpired}, {absentAt(104), outSoftExpired}},
		"opened where another node says no": {opened, {absentAt(99), outCommitted}, {openedAt(106), outCommitted}, {absentAt(106), outSoftExpired}},
	} {
		t.Run(name, func(t *testing.T) {
			f := NewToBTCLN()
			r := &Record{Head: Head{Type: ToBTCLN, State: outCreated, Expiry: At(now.Add(-time.Second))}, Lightning: &LightningPart{},
				Escrow:     &EscrowPart{Real: &chains.Escrow{Expiry: now.Add(time.Hour).Unix()}},
				Submission: &Submission{Action: ActionInit, Txs: []SignedTx{{}}}} // is sent until it is confirmed
			for i, l := range looks {
				obs := &Observation{}
				put(&obs.Escrow, now)(notLagging(r)(l.fact, nil))
				for range maxSteps {
					next, move := f.step(In{R: r, Obs: obs, Now: now})
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
	toyWorld
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
	g := toyEngine(t, new(storagetest.Memory), w, &toyPerformer{answer: func(int64) Outcome { return Outcome{Done: true} }}, NewToBTCLN())
	g.now = func() time.Time { return time.Unix(1_800_000_000, 0) }
	r := &Record{Head: Head{ID: "a", Type: ToBTCLN, State: outCommitted, Seen: Seen{Chain: 17}}, Lightning: &LightningPart{},
		Escrow:     &EscrowPart{Real: &chains.Escrow{Expiry: g.now().Add(time.Hour).Unix()}, InitTx: "0x1"},
		Submission: &Submission{Action: ActionInit, Txs: []SignedTx{{Signed: chains.Signed{ID: "0x1"}}}}}
	if err := g.Create(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	w.set(absentAt(16), nil)
	if _, err := g.Advance(t.Context(), "a", Outcome{Effect: SendTx, Done: true}); err != nil {
		t.Fatal(err)
	}
	w.set(absentAt(19), nil)
	res, err := g.Advance(t.Context(), "a", Outcome{Effect: SendTx, Done: true})
	if err != nil || res.Record.State != outSoftExpired {
		t.Fatalf("%+v, %v; want the swap not open any more", res, err)
	}
}

// A first transaction that a reorganisation took back is sent again, or the one
// that builds on it would wait for ever.
func TestFirstTransactionIsTakenBack(t *testing.T) {
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	f := NewToBTC()
	r := &Record{Head: Head{Type: ToBTC, State: outCreated, Expiry: At(now.Add(time.Hour))},
		Escrow: &EscrowPart{Real: &chains.Escrow{Expiry: now.Add(time.Hour).Unix()}},
		Submission: &Submission{Action: ActionInit, Since: At(now), Txs: []SignedTx{
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
		obs := &Observation{Escrow: Fact[chains.EscrowFact]{Asked: true, Value: absentAt(100)}}
		in := In{R: r, Obs: obs, Now: now}
		ask := f.Ask(in)
		if len(ask.Txs) != 2 {
			t.Fatalf("look %d: asks for %d transactions, want both", i, len(ask.Txs))
		}
		put(&obs.Txs, now)(byID(ask.Txs)([]chains.TxStatus{{State: look.approve, Block: chains.Block{Height: 99}}, {State: look.open}}, nil))
		r, _ = f.step(in)
		if next := f.Effects(In{R: r, Obs: obs, Now: now}); len(next) != 1 || next[0].Step != look.step {
			t.Errorf("look %d: sends %+v, want transaction %d", i, next, look.step)
		}
	}
}
