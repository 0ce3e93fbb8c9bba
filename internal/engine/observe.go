package engine

import (
	"context"
	"fmt"
	"runtime/debug"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/internal/lp"
	"github.com/swapper-go/swapper/internal/swap"
)

// Reader answers the questions of flows. Its methods are safe for concurrent
// use and may merge what several swaps ask.
type Reader interface {
	Escrow(ctx context.Context, chain, contract string, q chains.EscrowQuery) (chains.EscrowFact, error)
	Delivered(ctx context.Context, chain, contract string, q swap.DeliveredAsk) (*chains.Escrow, error)
	ETA(ctx context.Context, q swap.ETAAsk) (seconds int, err error)
	VerifyRefund(ctx context.Context, chain, contract string, q swap.RefundAsk) error
	Vault(ctx context.Context, chain, contract string, q chains.VaultID) (chains.VaultFact, error)
	Withdrawal(ctx context.Context, chain, contract string, q chains.WithdrawalQuery) (chains.WithdrawalFact, error)
	Txs(ctx context.Context, chain string, txs []chains.Signed) ([]chains.TxStatus, error)
	Payout(ctx context.Context, chain, contract string, q swap.PayoutAsk) (swap.PayoutFact, error)
	LPStatus(ctx context.Context, q lp.StatusQuery) (lp.Status, error)
	BitcoinTx(ctx context.Context, id bitcoin.Hash) (*bitcoin.Tx, error) // nil: not found
	Spends(ctx context.Context, ops []bitcoin.OutPoint) ([]bitcoin.Spend, error)
	GasPayout(ctx context.Context, chain string, q swap.GasAsk) (swap.GasFact, error)
	Received(ctx context.Context, q swap.ReceivedAsk) ([]*bitcoin.Tx, error)
	VerifyInit(ctx context.Context, chain, contract string, q swap.InitAsk) (until swap.Millis, err error)
	Refunded(ctx context.Context, q swap.RefundedAsk) (swap.RefundedFact, error)
}

// passReader is what one pass asks: the reader, and the store.
type passReader struct {
	Reader
	rival func(ctx context.Context, id string, q swap.RivalAsk) (bool, error)
}

// taken returns what spends an output; a routine pass does not ask it.
func (w passReader) taken(ctx context.Context, output bitcoin.OutPoint) (bitcoin.Spend, error) {
	if l, ok := w.Reader.(routineReader); ok && l.unseen() {
		return bitcoin.Spend{}, errNotShown
	}
	all, err := w.Spends(ctx, []bitcoin.OutPoint{output})
	if err != nil {
		return bitcoin.Spend{}, err
	}
	return all[0], nil
}

// maxRounds bounds how often one pass asks. No type needs more than three, and one more for
// settled facts.
const maxRounds = 5

// answer puts one round of answers into in.Obs and reports whether anything was asked.
func answer(ctx context.Context, w passReader, in swap.Decision, ask swap.Ask) bool {
	r, obs := in.R, in.Obs
	var g errgroup.Group
	asked := 0
	add := func(f func()) {
		asked++
		g.Go(func() error { return panicOf(f) })
	}
	if q := ask.Escrow; q != nil {
		add(func() {
			put(&obs.Escrow, in.Now)(inOurTime(in.Now, escrowHead)(notLagging(r)(w.Escrow(ctx, r.Chain, r.Contract, *q))))
		})
	}
	if q := ask.Found; q != nil {
		add(func() {
			put(&obs.Found, in.Now)(inOurTime(in.Now, escrowHead)(notLagging(r)(w.Escrow(ctx, r.Chain, r.Contract, *q))))
		})
	}
	if q := ask.LP; q != nil {
		add(func() { put(&obs.LP, in.Now)(w.LPStatus(ctx, *q)) })
	}
	if q := ask.Delivered; q != nil {
		obs.Judged = q.Data
		add(func() { put(&obs.Delivered, in.Now)(w.Delivered(ctx, r.Chain, r.Contract, *q)) })
	}
	if q := ask.ETA; q != nil {
		add(func() { put(&obs.ETA, in.Now)(w.ETA(ctx, *q)) })
	}
	if q := ask.Refund; q != nil {
		add(func() { put(&obs.Refund, in.Now)(struct{}{}, w.VerifyRefund(ctx, r.Chain, r.Contract, *q)) })
	}
	if q := ask.Payment; q != nil {
		add(func() { put(&obs.Payment, in.Now)(w.BitcoinTx(ctx, *q)) })
	}
	if q := ask.Payout; q != nil {
		add(func() { put(&obs.Payout, in.Now)(w.Payout(ctx, r.Chain, r.Contract, *q)) })
	}
	if q := ask.Spends; q != nil {
		add(func() { put(&obs.Spends, in.Now)(w.Spends(ctx, q)) })
	}
	if q := ask.Taken; q != nil {
		add(func() { put(&obs.Taken, in.Now)(w.taken(ctx, *q)) })
	}
	if q := ask.Vault; q != nil {
		add(func() {
			put(&obs.Vault, in.Now)(inOurTime(in.Now, vaultHead)(w.Vault(ctx, r.Chain, r.Contract, *q)))
		})
	}
	if q := ask.Withdrawal; q != nil {
		add(func() {
			put(&obs.Withdrawal, in.Now)(inOurTime(in.Now, withdrawalHead)(w.Withdrawal(ctx, r.Chain, r.Contract, *q)))
		})
	}
	if q := ask.Txs; q != nil {
		add(func() { put(&obs.Txs, in.Now)(byID(q)(w.Txs(ctx, r.Chain, q))) })
	}
	if q := ask.GasTx; q != nil {
		add(func() { put(&obs.GasTx, in.Now)(w.GasPayout(ctx, r.Chain, *q)) })
	}
	if q := ask.Received; q != nil {
		add(func() { put(&obs.Received, in.Now)(w.Received(ctx, *q)) })
	}
	if q := ask.Init; q != nil {
		add(func() { put(&obs.Init, in.Now)(w.VerifyInit(ctx, r.Chain, r.Contract, *q)) })
	}
	if q := ask.Refunded; q != nil {
		add(func() { put(&obs.Refunded, in.Now)(w.Refunded(ctx, *q)) })
	}
	if q := ask.Rival; q != nil {
		add(func() { put(&obs.Rival, in.Now)(w.rival(ctx, r.ID, *q)) })
	}
	if err := g.Wait(); err != nil { // a panic, which belongs to the pass; facts carry their own errors
		panic(err)
	}
	return asked > 0
}

// panicOf calls f and returns its panic.
func panicOf(f func()) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("%v\n%s", p, debug.Stack())
		}
	}()
	f()
	return nil
}

// byID names the states of transactions by their ids.
func byID(asked []chains.Signed) func([]chains.TxStatus, error) (map[string]chains.TxStatus, error) {
	return func(all []chains.TxStatus, err error) (map[string]chains.TxStatus, error) {
		if err != nil {
			return nil, err
		}
		if len(all) != len(asked) {
			return nil, fmt.Errorf("%d answers to %d questions", len(all), len(asked))
		}
		m := make(map[string]chains.TxStatus, len(all))
		for i, tx := range asked {
			m[tx.ID] = all[i]
		}
		return m, nil
	}
}

func put[T any](to *swap.Fact[T], now time.Time) func(T, error) {
	return func(v T, err error) { *to = swap.Fact[T]{Value: v, Asked: true, Err: err, At: now} }
}
