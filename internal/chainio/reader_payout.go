package chainio

import (
	"context"
	"errors"

	"golang.org/x/sync/errgroup"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/internal/btc/single"
	"github.com/swapper-go/swapper/internal/lp"
	"github.com/swapper-go/swapper/internal/lp/verify"
	"github.com/swapper-go/swapper/internal/swap"
)

// Payout implements engine.Reader: it proves what an LP presents against the claim
// hash of the escrow, which is all that the contract will ask for.
func (rd *Reader) Payout(ctx context.Context, chain, contract string, q swap.PayoutAsk) (swap.PayoutFact, error) {
	k, _, err := rd.contract(chain, contract)
	if err != nil {
		return swap.PayoutFact{}, err
	}
	if q.Escrow.Kind == chains.HTLC {
		return judged(verify.Secret(k, q.Escrow, q.Secret))
	}
	tx, err := rd.BitcoinTx(ctx, q.TxID)
	if err != nil || tx == nil {
		return swap.PayoutFact{}, err
	}
	p, err := verify.PayoutTx(k, q.Escrow, tx.Msg, q.Nonce, uint16(q.Confirmations))
	fact, err := judged(err)
	if !fact.Proven {
		if tx.Msg.TxHash() != q.TxID {
			fact.False = nil // another transaction than the one that the LP names
		}
		return fact, err
	}
	fact = swap.PayoutFact{Proven: true, TxID: tx.ID, Vout: p.Vout, Sats: p.Sats, Nonce: p.Nonce, Confirmations: uint32(p.Confirmations)}
	if a, err := bitcoin.AddressFromScript(p.Script, rd.Bitcoin.Network()); err == nil {
		fact.Address = a.String()
	}
	return fact, nil
}

// Delivered implements engine.Reader.
func (rd *Reader) Delivered(ctx context.Context, chain, contract string, q swap.DeliveredAsk) (*chains.Escrow, error) {
	k, _, err := rd.contract(chain, contract)
	if err != nil {
		return nil, err
	}
	e, err := verify.Delivered(k, q.Want, q.Data, q.Opens)
	if err != nil {
		return nil, err
	}
	return &e, nil
}

// judged separates a proof that is none, which is an answer, from a question that
// was not answered.
func judged(err error) (swap.PayoutFact, error) {
	if lie, ok := errors.AsType[*lp.LPError](err); ok {
		return swap.PayoutFact{False: lie}, nil
	}
	return swap.PayoutFact{Proven: err == nil}, err
}

// ETA implements engine.Reader. What it asks goes out together.
func (rd *Reader) ETA(ctx context.Context, q swap.ETAAsk) (int, error) {
	var tx *bitcoin.Tx
	var standing *bitcoin.CPFP
	var blocks []bitcoin.ProjectedBlock
	var unsure error
	var g errgroup.Group
	mempool := single.Mempool(rd.Bitcoin)
	g.Go(func() (err error) { tx, err = single.Tx(ctx, rd.Bitcoin, q.TxID); return err })
	g.Go(func() (err error) { blocks, err = mempool.ProjectedBlocks(ctx); return err })
	g.Go(func() error { standing, unsure = single.CPFP(ctx, mempool, q.TxID); return nil })
	err := g.Wait()
	switch {
	case tx == nil:
		return -1, err
	case tx.Confirmed():
		return int(swap.ConfirmationDelay(tx.Confirmations, q.Confirmations, nil, nil).Seconds()), nil
	case err != nil || unsure != nil:
		return -1, errors.Join(err, unsure)
	}
	return int(swap.ConfirmationDelay(0, q.Confirmations, standing, blocks).Seconds()), nil
}
