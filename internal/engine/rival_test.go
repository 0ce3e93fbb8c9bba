package engine

import (
	"context"
	"encoding/hex"
	"errors"
	"math/big"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/internal/flowtest"
	"github.com/swapper-go/swapper/internal/lp"
	"github.com/swapper-go/swapper/internal/swap"
	"github.com/swapper-go/swapper/storage"
)

// ledger is a chain whose escrows and transactions a test writes. What it was not
// told of is not there. LPs are silent.
type ledger struct {
	Reader
	mu      sync.Mutex
	height  uint64
	escrows map[string]chains.EscrowFact // by escrow hash
	txs     map[string]chains.TxStatus
	down    bool
}

func (l *ledger) Escrow(_ context.Context, _, _ string, q chains.EscrowQuery) (chains.EscrowFact, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.down {
		return chains.EscrowFact{}, errors.New("the node is down")
	}
	var f chains.EscrowFact
	if q.Escrow != nil {
		f = l.escrows[string(q.Escrow.Hash)]
	}
	l.height++
	f.Head = chains.Block{Height: l.height, Time: time.Now().Unix()}
	if q.Auth != nil && f.Auth == chains.AuthUnknown {
		f.Auth = chains.AuthGood
	}
	return f, nil
}

func (l *ledger) Txs(_ context.Context, _ string, txs []chains.Signed) ([]chains.TxStatus, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.down {
		return nil, errors.New("the node is down")
	}
	all := make([]chains.TxStatus, len(txs))
	for i, tx := range txs {
		all[i] = l.txs[tx.ID]
	}
	return all, nil
}

func (l *ledger) LPStatus(context.Context, lp.StatusQuery) (lp.Status, error) {
	return lp.Status{}, errors.New("silent")
}

func (l *ledger) Delivered(_ context.Context, _, _ string, q swap.DeliveredAsk) (*chains.Escrow, error) {
	e := q.Want
	e.Hash, e.Data = []byte(hex.EncodeToString(q.Data)), q.Data
	return &e, nil
}

func (l *ledger) escrow(hash string, f chains.EscrowFact) {
	l.mu.Lock()
	l.escrows[hash] = f
	l.mu.Unlock()
}

func (l *ledger) tx(id string, s chains.TxState) {
	l.mu.Lock()
	l.txs[id] = chains.TxStatus{State: s, Block: chains.Block{Height: l.height}}
	l.mu.Unlock()
}

const owner = "0xowner"

// engineOn returns an engine of the real types on a new ledger. Effects are answered
// by execute.
func engineOn(t *testing.T, execute func(r *swap.Record, e swap.Effect) swap.Outcome) (*ledger, *Engine) {
	t.Helper()
	l := &ledger{height: 100, escrows: map[string]chains.EscrowFact{}, txs: map[string]chains.TxStatus{}}
	return l, newEngine(t, Config{Reader: l, Executor: executorFunc(func(_ context.Context, r *swap.Record, e swap.Effect) swap.Outcome { return execute(r, e) }), Flows: []*swap.Flow{flowtest.Flow(swap.ToBTC), flowtest.Flow(swap.ToBTCLN), flowtest.Flow(swap.FromBTCLNAuto)}})
}

func done(*swap.Record, swap.Effect) swap.Outcome { return swap.Outcome{Done: true} }

// quoted is a stored quote whose escrow has the id as its hash.
func quoted(t *testing.T, g *Engine, typ swap.Type, id, paymentHash string) *swap.Record {
	t.Helper()
	now := time.Now()
	e := &chains.Escrow{Hash: []byte(id), ClaimHash: []byte(paymentHash), Offerer: owner, Claimer: "0xlp", Expiry: now.Add(5 * 24 * time.Hour).Unix(), Sequence: big.NewInt(1)}
	r := &swap.Record{Head: swap.Head{ID: id, Type: typ, Chain: "CITREA", Signer: owner, CreatedAt: swap.At(now), Expiry: swap.At(now.Add(10 * time.Minute))},
		Escrow: &swap.EscrowPart{Expected: e, Real: e, Init: &chains.Auth{}}, Lightning: &swap.LightningPart{Hash: paymentHash, EndsAt: swap.At(now.Add(time.Hour))}}
	if typ == swap.FromBTCLNAuto {
		r.Escrow.Real, r.Escrow.Init, r.Lightning.Invoice = nil, nil, "lnbc1"
	}
	add(t, g, r)
	return r
}

// pass runs a pass with facts of its own, and waits for its effects.
func pass(t *testing.T, g *Engine, id string, in swap.Input) *Result {
	t.Helper()
	time.Sleep(2 * snapshotLife)
	if in == nil {
		in = swap.Look{}
	}
	res, err := g.Advance(t.Context(), id, in)
	if err != nil {
		t.Fatalf("pass over %s: %v", id, err)
	}
	synctest.Wait()
	return res
}

func signedBy(who, id string) swap.Submit {
	return swap.Submit{Action: swap.ActionInit, Txs: []swap.SignedTx{{Signed: chains.Signed{ID: id, From: who}}}}
}

func (g *Engine) found(t *testing.T, index, value string) (ids []string) {
	t.Helper()
	for e, err := range g.Store.Find(t.Context(), storage.Query{Index: index, Value: value}) {
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, e.ID)
	}
	return ids
}

// Two swaps of one invoice that the wallet opened by itself are both followed to
// their end.
func TestBothSwapsOfAnInvoiceAreFollowed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, g := engineOn(t, done)
		quoted(t, g, swap.ToBTCLN, "a", "11")
		quoted(t, g, swap.ToBTCLN, "b", "11")
		for _, id := range []string{"a", "b"} {
			l.escrow(id, chains.EscrowFact{State: chains.EscrowOpen, InitTx: "0x" + id})
		}
		pass(t, g, "a", nil)
		res := pass(t, g, "b", nil)
		if res.Record.State != swap.OutCommitted {
			t.Fatalf("the second swap is in state %d", res.Record.State)
		}
		if v := g.View(res); fault.CodeOf(v.Blocked) != fault.InvalidState || v.Action == nil {
			t.Errorf("the problem is shown as %v beside %v", v.Blocked, v.Action)
		}
		if ids := g.found(t, swap.ByPaying, "11"); len(ids) != 2 {
			t.Errorf("paying: %v", ids)
		}
		// The LP pays once. The other escrow ends, and its refund is stored.
		time.Sleep(6 * 24 * time.Hour)
		if res = pass(t, g, "b", nil); res.Record.State != swap.OutRefundable || g.View(res).Action == nil {
			t.Fatalf("state %d, action %v", res.Record.State, g.View(res).Action)
		}
		refund := signedBy(owner, "0xrefund")
		refund.Action = swap.ActionRefund
		pass(t, g, "b", refund)
		l.tx("0xrefund", chains.TxConfirmed)
		l.escrow("b", chains.EscrowFact{State: chains.EscrowRefunded, InitTx: "0xb", RefundTx: "0xrefund"})
		if res = pass(t, g, "b", nil); res.Record.State != swap.OutRefunded || len(res.Record.Shared) != 0 {
			t.Errorf("state %d, shared %v", res.Record.State, res.Record.Shared)
		}
		// A reorganisation undoes it, while the other one still holds the key.
		l.escrow("b", chains.EscrowFact{State: chains.EscrowOpen, InitTx: "0xb"})
		if res = pass(t, g, "b", nil); res.Record.State != swap.OutRefundable || g.View(res).Action == nil {
			t.Errorf("state %d after the refund was undone", res.Record.State)
		}
	})
}

// While a swap pays an invoice, another one of it is not opened through us.
func TestSecondSwapOfAnInvoiceIsWithheld(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, g := engineOn(t, done)
		quoted(t, g, swap.ToBTCLN, "a", "11")
		quoted(t, g, swap.ToBTCLN, "b", "11")
		if v := g.View(pass(t, g, "b", nil)); v.Action == nil || v.Blocked != nil {
			t.Fatalf("before anything is paid: action %v, %v", v.Action, v.Blocked)
		}
		pass(t, g, "a", signedBy(owner, "0xa"))
		if v := g.View(pass(t, g, "b", nil)); v.Signable() != nil || fault.CodeOf(v.Blocked) != fault.InvalidState {
			t.Errorf("while the first pays: action %v, %v", v.Signable(), v.Blocked)
		}
		if _, err := g.Advance(t.Context(), "b", signedBy(owner, "0xb")); fault.CodeOf(err) != fault.InvalidState {
			t.Errorf("the second submission: %v", err)
		}
		// The first one fails, and the second may pay.
		l.tx("0xa", chains.TxReverted)
		pass(t, g, "a", nil)
		if v := g.View(pass(t, g, "b", nil)); v.Action == nil {
			t.Errorf("after the first failed: %v", v.Blocked)
		}
		pass(t, g, "b", signedBy(owner, "0xb"))
	})
}

// Two submissions at the same moment: the key decides, and says why.
func TestKeyRefusesOnlyTheCommand(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, g := engineOn(t, done)
		r := quoted(t, g, swap.ToBTCLN, "b", "11")
		quoted(t, g, swap.ToBTCLN, "a", "11")
		pass(t, g, "a", signedBy(owner, "0xa"))
		next := r.Clone()
		next.Submission = &swap.Submission{Action: swap.ActionInit, Txs: signedBy(owner, "0xb").Txs, Since: swap.At(time.Now())}
		err := g.write(t.Context(), r, next, &swap.Move{On: swap.OnSubmit})
		if fault.CodeOf(err) != fault.InvalidState || contains([]byte(err.Error()), `"a"`) {
			t.Errorf("a command: %v", err)
		}
		if err := g.write(t.Context(), r, next, nil); err != nil || len(next.Shared) != 1 {
			t.Errorf("a fact: %v, shared %v", err, next.Shared)
		}
	})
}

// A swap whose quote expired comes back with a late escrow, though another one has
// taken its payment hash meanwhile, and keeps that one from being paid.
func TestRevivedSwapSharesItsHash(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, g := engineOn(t, done)
		quoted(t, g, swap.FromBTCLNAuto, "a", "11")
		time.Sleep(2 * time.Hour)
		pass(t, g, "a", nil)
		if res := pass(t, g, "a", nil); res.Record.State != swap.LnExpired {
			t.Fatalf("state %d", res.Record.State)
		}
		quoted(t, g, swap.FromBTCLNAuto, "b", "11")
		found := &chains.Escrow{Data: []byte(`"late"`)}
		l.escrow(hex.EncodeToString(found.Data), chains.EscrowFact{State: chains.EscrowOpen})
		g.reader = &searching{l, found}
		res := pass(t, g, "a", nil)
		if res.Record.State <= swap.LnCreated {
			t.Fatalf("state %d", res.Record.State)
		}
		g.reader = l
		if v := g.View(pass(t, g, "b", nil)); v.Action != nil || fault.CodeOf(v.Blocked) != fault.InvalidState {
			t.Errorf("the other one is to be paid: %v, %v", v.Action, v.Blocked)
		}
	})
}

// A payment hash whose preimage a claim has shown is not paid to again.
func TestSettledHashIsNotUsedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, g := engineOn(t, done)
		r := quoted(t, g, swap.FromBTCLNAuto, "a", "11")
		next := r.Clone()
		next.State, next.Escrow.Real = swap.LnClaimed, next.Escrow.Expected
		write(t, g, r, next)
		again := r.Clone()
		again.ID = "b"
		if err := g.Create(t.Context(), again); fault.CodeOf(err) != fault.InvalidState {
			t.Errorf("stored: %v", err)
		}
	})
}

// searching finds an escrow by its claim hash.
type searching struct {
	*ledger
	found *chains.Escrow
}

func (s *searching) Escrow(ctx context.Context, chain, contract string, q chains.EscrowQuery) (chains.EscrowFact, error) {
	f, err := s.ledger.Escrow(ctx, chain, contract, q)
	if q.Escrow == nil {
		f.State, f.Escrow = chains.EscrowOpen, s.found
	}
	return f, err
}
