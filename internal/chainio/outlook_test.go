package chainio

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/btcsuite/btcd/wire"

	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/internal/lp"
	"github.com/swapper-go/swapper/internal/swap"
)

// hanging is a backend that answers nothing before a caller gives up.
type hanging struct{ bitcoin.Backend }

func (hanging) Txs(ctx context.Context, ids []bitcoin.Hash) []bitcoin.Result[*bitcoin.Tx] {
	<-ctx.Done()
	out := make([]bitcoin.Result[*bitcoin.Tx], len(ids))
	for i := range out {
		out[i].Err = context.Cause(ctx)
	}
	return out
}

// Who gives up waiting does not hear that there is no such transaction.
func TestGivingUpIsNoAnswer(t *testing.T) {
	rd := New(nil, hanging{}, nil)
	defer rd.Close()
	over, cancel := context.WithCancel(t.Context())
	cancel()
	if tx, err := rd.BitcoinTx(over, bitcoin.Hash{9}); tx != nil || err == nil {
		t.Errorf("%+v, %v", tx, err)
	}
}

// How long a payment has to wait is told from its rate while it is in no block, and from
// its confirmations afterwards.
func TestWaitForConfirmations(t *testing.T) {
	const block = 600
	for name, c := range map[string]struct {
		change func(s *scene, tx *bitcoin.Tx)
		want   int
		ok     bool
	}{
		"next block":             {func(*scene, *bitcoin.Tx) {}, 2 * block, true},
		"confirmed":              {func(_ *scene, tx *bitcoin.Tx) { tx.Confirmations = 1 }, block, true},
		"confirmed, rest silent": {func(s *scene, tx *bitcoin.Tx) { tx.Confirmations, s.ledger.silent["blocks"] = 1, true }, block, true},
		"blocks unknown":         {func(s *scene, _ *bitcoin.Tx) { s.ledger.silent["blocks"] = true }, -1, false},
		"rate unknown":           {func(s *scene, _ *bitcoin.Tx) { s.ledger.silent["cpfp"] = true }, -1, false},
		"not found":              {func(s *scene, tx *bitcoin.Tx) { delete(s.ledger.txs, tx.ID) }, -1, false},
		"silent":                 {func(s *scene, _ *bitcoin.Tx) { s.ledger.silent["txs"] = true }, -1, false},
		"no mempool":             {func(s *scene, _ *bitcoin.Tx) { s.Bitcoin = struct{ bitcoin.Backend }{s.ledger} }, -1, true},
		"no mempool, confirmed": {func(s *scene, tx *bitcoin.Tx) {
			s.Bitcoin, tx.Confirmations = struct{ bitcoin.Backend }{s.ledger}, 1
		}, block, true},
	} {
		s := newScene(t)
		tx := s.ledger.pay(&wire.TxOut{Value: 5})
		tx.Confirmations = 0
		s.ledger.cpfp[tx.ID] = &bitcoin.CPFP{EffectiveFeeRate: 5}
		s.ledger.blocks = []bitcoin.ProjectedBlock{{MinFeeRate: 3}, {MinFeeRate: 1}}
		c.change(s, tx)
		if got, err := s.ETA(t.Context(), swap.ETAAsk{TxID: tx.ID, Confirmations: 2}); got != c.want || (err == nil) != c.ok {
			t.Errorf("%s: %d s, %v", name, got, err)
		}
	}
}

// An answer that nobody came for is asked for again once it is old, where the provider
// answers in time.
func TestOldAnswerIsNotTakenForNews(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var delay atomic.Int64
		delay.Store(int64(5 * time.Second))
		reader, _ := lpAt(func(lp.StatusQuery) time.Duration { return time.Duration(delay.Load()) })
		rd := New(nil, nil, reader)
		defer rd.Close()
		ask := func(id string) (lp.Status, error) {
			return rd.LPStatus(t.Context(), lp.StatusQuery{URL: "https://lp/tobtc", Endpoint: lp.GetRefundAuthorization, ID: id})
		}
		if _, err := ask("a"); !errors.Is(err, errLPSilent) {
			t.Fatal(err)
		}
		delay.Store(int64(time.Millisecond))
		time.Sleep(lpFresh)
		if _, err := ask("b"); !errors.Is(err, errLPSilent) { // not waited for, and answered in time
			t.Fatal(err)
		}
		time.Sleep(lpFresh)
		if s, err := ask("a"); err != nil || s.Code != 3 {
			t.Errorf("%+v, %v; want what the third call says", s, err)
		}
	})
}
