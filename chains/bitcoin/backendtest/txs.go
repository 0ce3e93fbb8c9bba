package backendtest

import (
	"bytes"
	"errors"
	"sync"
	"testing"

	"github.com/btcsuite/btcd/wire"
	"github.com/google/go-cmp/cmp"

	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/internal/btc/rawtx"
	"github.com/swapper-go/swapper/internal/btc/single"
	"github.com/swapper-go/swapper/internal/trial"
)

// broadcast sends a transaction through the backend.
func broadcast(t *testing.T, s Setup, tx *wire.MsgTx) bitcoin.Hash {
	t.Helper()
	raw := trial.Must(rawtx.Encode(tx))(t)
	id, err := s.Backend.Broadcast(t.Context(), raw)
	if err != nil || id != tx.TxHash() {
		t.Fatalf("broadcast of %s: %s, error %v", tx.TxHash(), id, err)
	}
	return id
}

func getTx(t *testing.T, s Setup, id bitcoin.Hash) *bitcoin.Tx {
	t.Helper()
	return trial.Must(single.Tx(t.Context(), s.Backend, id))(t)
}

func testTransactions(t *testing.T, s Setup) {
	a := s.Chain.Address(t, bitcoin.P2TR)
	op := s.Chain.Pay(t, a, 100_000)
	s.Chain.Mine(t, 1)
	msg := s.Chain.Spend(t, a, []bitcoin.OutPoint{op}, 3, wire.NewTxOut(40_000, a.Script()))
	id := broadcast(t, s, msg)

	tx := getTx(t, s, id)
	if tx.Confirmed() || tx.Confirmations != 0 || tx.Height != 0 || tx.BlockHash != (bitcoin.Hash{}) || !tx.BlockTime.IsZero() {
		t.Errorf("unconfirmed transaction: %+v", tx)
	}
	want := trial.Must(rawtx.Encode(msg))(t)
	if got, err := rawtx.Encode(tx.Msg); err != nil || !bytes.Equal(got, want) || tx.ID != id {
		t.Errorf("transaction %s is %x, error %v; want %x", tx.ID, got, err, want)
	}
	for i, out := range tx.Prevouts {
		if out != nil && (out.Value != 100_000 || !bytes.Equal(out.PkScript, a.Script())) {
			t.Errorf("input %d spends %+v", i, out)
		}
	}

	s.Chain.Mine(t, 1)
	height, hash := s.Chain.Tip(t)
	for confirmations := uint32(1); confirmations <= 3; confirmations++ {
		tx := getTx(t, s, id)
		if !tx.Confirmed() || tx.Confirmations != confirmations || tx.Height != height || tx.BlockHash != hash ||
			uint32(tx.BlockTime.Unix()) != s.Chain.Header(t, height).Time {
			t.Errorf("after %d blocks: %+v", confirmations, tx)
		}
		s.Chain.Mine(t, 1)
	}

	answers := s.Backend.Txs(t.Context(), []bitcoin.Hash{unknown, id, op.Hash, unknown, id})
	for i, want := range []bitcoin.Hash{{}, id, op.Hash, {}, id} {
		switch r := answers[i]; {
		case want == bitcoin.Hash{}:
			if !errors.Is(r.Err, bitcoin.ErrNotFound) || r.Value != nil {
				t.Errorf("answer %d: %v, error %v", i, r.Value, r.Err)
			}
		case r.Err != nil || r.Value.ID != want:
			t.Errorf("answer %d: %v, error %v", i, r.Value, r.Err)
		}
	}
	if got := s.Backend.Txs(t.Context(), nil); len(got) != 0 {
		t.Errorf("%d answers to no question", len(got))
	}
}

func testOutspends(t *testing.T, s Setup) {
	a := s.Chain.Address(t, bitcoin.P2WPKH)
	one, two, three := s.Chain.Pay(t, a, 50_000), s.Chain.Pay(t, a, 60_000), s.Chain.Pay(t, a, 70_000)
	s.Chain.Mine(t, 1)
	confirmed := broadcast(t, s, s.Chain.Spend(t, a, []bitcoin.OutPoint{one}, 2))
	s.Chain.Mine(t, 1)
	height, _ := s.Chain.Tip(t)
	waiting := broadcast(t, s, s.Chain.Spend(t, a, []bitcoin.OutPoint{two}, 2))

	none := bitcoin.OutPoint{Hash: three.Hash, Index: 99}
	ops := []bitcoin.OutPoint{three, one, {Hash: unknown}, two, none, {Hash: waiting}}
	spentBy := func(id bitcoin.Hash) bitcoin.Hash {
		if s.NoSpenders {
			return bitcoin.Hash{}
		}
		return id
	}
	want := []bitcoin.Result[bitcoin.Spend]{
		{Value: bitcoin.Spend{State: bitcoin.Unspent}},
		{Value: bitcoin.Spend{State: bitcoin.SpentConfirmed, TxID: spentBy(confirmed), Height: height}},
		{Value: bitcoin.Spend{State: bitcoin.SpendUnknown}},
		{Value: bitcoin.Spend{State: bitcoin.SpentInMempool, TxID: waiting}},
		{Value: bitcoin.Spend{State: bitcoin.SpendUnknown}},
		{Value: bitcoin.Spend{State: bitcoin.Unspent}}, // of an unconfirmed transaction
	}
	if s.NoSpenders {
		want[1].Value.Height = 0
	}
	if diff := cmp.Diff(want, s.Backend.Outspends(t.Context(), ops)); diff != "" {
		t.Errorf("outspends differ (-want +got):\n%s", diff)
	}
	// Spent by a child of an unconfirmed transaction.
	child := broadcast(t, s, s.Chain.Spend(t, a, []bitcoin.OutPoint{{Hash: waiting}}, 2))
	if got, err := single.Outspend(t.Context(), s.Backend, bitcoin.OutPoint{Hash: waiting}); err != nil ||
		got != (bitcoin.Spend{State: bitcoin.SpentInMempool, TxID: child}) {
		t.Errorf("output of an unconfirmed transaction: %+v, error %v", got, err)
	}
	s.Chain.Mine(t, 1)
}

func testMerkleProofs(t *testing.T, s Setup) {
	s.Chain.Mine(t, 1)
	_, before := s.Chain.Tip(t)
	a := s.Chain.Address(t, bitcoin.P2PKH)
	var ids []bitcoin.Hash
	for i := range int64(6) {
		ids = append(ids, s.Chain.Pay(t, a, 20_000+i).Hash)
	}
	if _, err := s.Backend.MerkleProof(t.Context(), ids[0], before); !errors.Is(err, bitcoin.ErrNotFound) {
		t.Errorf("proof of an unconfirmed transaction: %v", err)
	}
	s.Chain.Mine(t, 1)
	height, block := s.Chain.Tip(t)
	positions := make(map[uint32]bool)
	for _, id := range ids {
		p := trial.Must(s.Backend.MerkleProof(t.Context(), id, block))(t)
		if err := p.Verify(s.Chain.Header(t, height)); err != nil || p.TxID != id || p.Height != height {
			t.Errorf("proof %+v: %v", p, err)
		}
		positions[p.Pos] = true
	}
	if len(positions) != len(ids) || positions[0] {
		t.Errorf("positions %v", positions)
	}
	for name, q := range map[string][2]bitcoin.Hash{
		"another block": {ids[0], before}, "unknown transaction": {unknown, block}, "unknown block": {ids[0], unknown},
	} {
		if _, err := s.Backend.MerkleProof(t.Context(), q[0], q[1]); !errors.Is(err, bitcoin.ErrNotFound) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func testBroadcast(t *testing.T, s Setup) {
	a := s.Chain.Address(t, bitcoin.P2WPKH)
	op := s.Chain.Pay(t, a, 100_000)
	s.Chain.Mine(t, 1)
	tx := s.Chain.Spend(t, a, []bitcoin.OutPoint{op}, 5, wire.NewTxOut(10_000, a.Script()))
	broadcast(t, s, tx)
	broadcast(t, s, tx) // in the mempool
	s.Chain.Mine(t, 1)
	broadcast(t, s, tx) // in the chain
	change := bitcoin.OutPoint{Hash: tx.TxHash(), Index: 1}
	next := s.Chain.Spend(t, a, []bitcoin.OutPoint{{Hash: tx.TxHash()}, change}, 5)
	broadcast(t, s, next)
	s.Chain.Mine(t, 1)
	broadcast(t, s, tx) // in the chain, and all of its outputs spent

	rival := s.Chain.Spend(t, a, []bitcoin.OutPoint{op}, 50)
	orphan := tx.Copy()
	orphan.TxIn[0].PreviousOutPoint.Hash = unknown
	broken := s.Chain.Spend(t, a, []bitcoin.OutPoint{{Hash: next.TxHash()}}, 5)
	broken.TxIn[0].Witness[0][7] ^= 1
	for name, tx := range map[string]*wire.MsgTx{"spends what is spent": rival, "spends nothing": orphan, "bad signature": broken} {
		raw := trial.Must(rawtx.Encode(tx))(t)
		_, err := s.Backend.Broadcast(t.Context(), raw)
		rejected, ok := errors.AsType[*bitcoin.RejectedError](err)
		if !ok || rejected.Reason == "" {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := s.Backend.Broadcast(t.Context(), []byte("nonsense")); fault.CodeOf(err) != fault.InvalidInput {
		t.Errorf("nonsense: %v", err)
	}
}

func testReorg(t *testing.T, s Setup) {
	a := s.Chain.Address(t, bitcoin.P2TR)
	op := s.Chain.Pay(t, a, 100_000)
	s.Chain.Mine(t, 1)
	spend := s.Chain.Spend(t, a, []bitcoin.OutPoint{op}, 2, wire.NewTxOut(10_000, a.Script()))
	id := broadcast(t, s, spend)
	s.Chain.Mine(t, 1)
	height, stale := s.Chain.Tip(t)
	if tx := getTx(t, s, id); tx.Confirmations != 1 {
		t.Fatalf("%+v", tx)
	}

	s.Chain.Reorg(t, 1)
	if got, err := s.Backend.TipHeight(t.Context()); err != nil || got != height+1 {
		t.Errorf("tip %d, error %v", got, err)
	}
	if tx := getTx(t, s, id); tx.Confirmed() || tx.BlockHash != (bitcoin.Hash{}) {
		t.Errorf("transaction of a stale block: %+v", tx)
	}
	if in, err := s.Backend.InMainChain(t.Context(), stale); err != nil || in {
		t.Errorf("stale block in the main chain: %v, %v", in, err)
	}
	if _, err := s.Backend.MerkleProof(t.Context(), id, stale); !errors.Is(err, bitcoin.ErrNotFound) {
		t.Errorf("proof in a stale block: %v", err)
	}
	if got, err := single.Outspend(t.Context(), s.Backend, op); err != nil || got.State != bitcoin.SpentInMempool {
		t.Errorf("spent in a stale block: %+v, %v", got, err)
	}
	s.Chain.Mine(t, 1)
	if tx := getTx(t, s, id); tx.Confirmations != 1 || tx.Height != height+2 {
		t.Errorf("mined again: %+v", tx)
	}
	if _, err := s.Backend.MerkleProof(t.Context(), id, stale); !errors.Is(err, bitcoin.ErrNotFound) {
		t.Errorf("proof in a stale block of a transaction that stands elsewhere: %v", err)
	}

	// A branch with a double spend: the first transaction is gone for good.
	rival := s.Chain.Spend(t, a, []bitcoin.OutPoint{op}, 4, wire.NewTxOut(11_000, a.Script()))
	s.Chain.Reorg(t, 1, rival)
	if _, err := single.Tx(t.Context(), s.Backend, id); !errors.Is(err, bitcoin.ErrNotFound) {
		t.Errorf("double-spent transaction: %v", err)
	}
	got, err := single.Outspend(t.Context(), s.Backend, op)
	if err != nil || got.State != bitcoin.SpentConfirmed || !s.NoSpenders && got.TxID != rival.TxHash() {
		t.Errorf("output: %+v, %v; want it spent by %s", got, err, rival.TxHash())
	}
}

func testReplacement(t *testing.T, s Setup) {
	a := s.Chain.Address(t, bitcoin.P2WPKH)
	op := s.Chain.Pay(t, a, 100_000)
	s.Chain.Mine(t, 1)
	first := broadcast(t, s, s.Chain.Spend(t, a, []bitcoin.OutPoint{op}, 2, wire.NewTxOut(10_000, a.Script())))
	second := broadcast(t, s, s.Chain.Spend(t, a, []bitcoin.OutPoint{op}, 20, wire.NewTxOut(10_000, a.Script())))
	if _, err := single.Tx(t.Context(), s.Backend, first); !errors.Is(err, bitcoin.ErrNotFound) {
		t.Errorf("replaced transaction: %v", err)
	}
	if got, err := single.Outspend(t.Context(), s.Backend, op); err != nil || got != (bitcoin.Spend{State: bitcoin.SpentInMempool, TxID: second}) {
		t.Errorf("output: %+v, %v; want it spent by %s", got, err, second)
	}
	s.Chain.Mine(t, 1)
	if tx := getTx(t, s, second); tx.Confirmations != 1 {
		t.Errorf("%+v", tx)
	}
}

func testConcurrentUse(t *testing.T, s Setup) {
	a := s.Chain.Address(t, bitcoin.P2WPKH)
	op := s.Chain.Pay(t, a, 30_000)
	s.Chain.Mine(t, 1)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 5 {
				_, tipErr := s.Backend.TipHeight(t.Context())
				tx, txErr := single.Tx(t.Context(), s.Backend, op.Hash)
				spend, spendErr := single.Outspend(t.Context(), s.Backend, op)
				utxos, utxoErr := s.Backend.AddressUTXOs(t.Context(), a)
				if err := errors.Join(tipErr, txErr, spendErr, utxoErr); err != nil {
					t.Error(err)
					return
				}
				if tx.Confirmations != 1 || spend.State != bitcoin.Unspent || len(utxos) != 1 {
					t.Errorf("%+v, %+v, %+v", tx, spend, utxos)
				}
			}
		})
	}
	wg.Wait()
}
