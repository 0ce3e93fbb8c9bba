package chainio

import (
	"context"
	"fmt"
	"slices"

	"github.com/btcsuite/btcd/wire"
	"golang.org/x/sync/errgroup"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/internal/btc/single"
	"github.com/swapper-go/swapper/internal/swap"
)

// mostPayments bounds what is read of an address to which somebody pays again
// and again.
const mostPayments = 50

// GasPayout implements engine.Reader.
func (rd *Reader) GasPayout(ctx context.Context, chain string, q swap.GasAsk) (swap.GasFact, error) {
	c, ok := rd.Chains[chain]
	if !ok {
		return swap.GasFact{}, fault.New(fault.Unsupported, "chain %s is not configured", chain)
	}
	var f swap.GasFact
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
		g.Go(func() error {
			paid, err := can.Paid(ctx, q.TxID, q.To)
			f.Paid, f.Witnesses = paid.Amount, paid.Witnesses
			return err
		})
	}
	if err := g.Wait(); err != nil {
		return swap.GasFact{}, err
	}
	return f, nil
}

// mostLooked bounds what is looked at to find payments of one amount among others.
const mostLooked = 2000

// Received implements engine.Reader.
func (rd *Reader) Received(ctx context.Context, q swap.ReceivedAsk) ([]*bitcoin.Tx, error) {
	a, err := bitcoin.ParseAddress(q.Address, rd.Bitcoin.Network())
	if err != nil {
		return nil, err
	}
	index, err := single.Index(rd.Bitcoin)
	if err != nil {
		return nil, err
	}
	var all []*bitcoin.Tx
	fitting, others, looked := 0, 0, 0
	for tx, err := range index.AddressTxs(ctx, a) {
		if err != nil {
			return nil, err
		}
		if looked++; looked > mostLooked {
			break
		}
		count := &others
		switch {
		case paysTo(tx, a) == 0:
			continue
		case q.Sats == 0 || paysExactly(tx, a, q.Sats):
			count = &fitting
		}
		if *count == mostPayments {
			continue
		}
		*count++
		if all = append(all, tx); fitting == mostPayments {
			break
		}
	}
	return all, nil
}

// paysExactly reports whether one output pays exactly this to an address.
func paysExactly(tx *bitcoin.Tx, a bitcoin.Address, sats uint64) bool {
	return slices.ContainsFunc(tx.Msg.TxOut, func(out *wire.TxOut) bool {
		return out.Value >= 0 && uint64(out.Value) == sats && string(out.PkScript) == string(a.Script())
	})
}

// Refunded implements engine.Reader.
func (rd *Reader) Refunded(ctx context.Context, q swap.RefundedAsk) (swap.RefundedFact, error) {
	tx, err := rd.BitcoinTx(ctx, q.TxID)
	if err != nil || tx == nil {
		return swap.RefundedFact{}, err
	}
	f := swap.RefundedFact{Confirmations: tx.Confirmations}
	if q.To == "" {
		for _, out := range tx.Msg.TxOut {
			f.Sats += out.Value
		}
		return f, nil
	}
	a, err := bitcoin.ParseAddress(q.To, rd.Bitcoin.Network())
	if err != nil {
		return swap.RefundedFact{}, err
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
