package swap

import (
	"context"
	"fmt"

	"golang.org/x/sync/errgroup"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/fault"
)

// mostPayments bounds what is read of an address to which somebody pays again
// and again.
const mostPayments = 50

// GasPayout implements [World].
func (w *Live) GasPayout(ctx context.Context, chain string, q GasAsk) (GasFact, error) {
	c, ok := w.chains[chain]
	if !ok {
		return GasFact{}, fault.New(fault.Unsupported, "chain %s is not configured", chain)
	}
	var f GasFact
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error {
		all, err := c.Status(ctx, []chains.Signed{{ID: q.TxID}})
		if err == nil && len(all) != 1 {
			err = fmt.Errorf("%d answers to one question", len(all))
		}
		if err == nil {
			f.Status = all[0]
		}
		return err
	})
	if can, ok := c.(chains.Payouts); ok {
		g.Go(func() (err error) { f.Paid, err = can.Paid(ctx, q.TxID, q.To); return err })
	}
	if err := g.Wait(); err != nil {
		return GasFact{}, err
	}
	return f, nil
}

// Received implements [World].
func (w *Live) Received(ctx context.Context, address string) ([]*bitcoin.Tx, error) {
	a, err := bitcoin.ParseAddress(address, w.bitcoin.Network())
	if err != nil {
		return nil, err
	}
	var all []*bitcoin.Tx
	for tx, err := range w.bitcoin.AddressTxs(ctx, a) {
		if err != nil {
			return nil, err
		}
		if paysTo(tx, a) == 0 {
			continue
		}
		if all = append(all, tx); len(all) == mostPayments {
			break
		}
	}
	return all, nil
}

// Refunded implements [World].
func (w *Live) Refunded(ctx context.Context, q RefundedAsk) (RefundedFact, error) {
	tx, err := w.BitcoinTx(ctx, q.TxID)
	if err != nil || tx == nil {
		return RefundedFact{}, err
	}
	f := RefundedFact{Confirmations: tx.Confirmations}
	if q.To == "" {
		for _, out := range tx.Msg.TxOut {
			f.Sats += out.Value
		}
		return f, nil
	}
	a, err := bitcoin.ParseAddress(q.To, w.bitcoin.Network())
	if err != nil {
		return RefundedFact{}, err
	}
	f.Sats = paysTo(tx, a)
	return f, nil
}

// paysTo returns the sats that a transaction pays to an address.
func paysTo(tx *bitcoin.Tx, a bitcoin.Address) (sats int64) {
	for _, out := range tx.Msg.TxOut {
		if string(out.PkScript) == string(a.Script()) {
			sats += out.Value
		}
	}
	return sats
}
