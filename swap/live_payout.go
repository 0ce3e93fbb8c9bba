package swap

import (
	"bytes"
	"context"
	"crypto/sha256"

	"github.com/btcsuite/btcd/wire"
	"golang.org/x/sync/errgroup"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/chains/bitcoin"
)

// Payout implements [World]: it proves what an LP presents against the claim
// hash of the escrow, which is all that the contract will ask for.
func (w *Live) Payout(ctx context.Context, chain, contract string, q PayoutAsk) (PayoutFact, error) {
	k, _, err := w.contract(chain, contract)
	if err != nil {
		return PayoutFact{}, err
	}
	if q.Escrow.Kind == chains.HTLC {
		hash, err := k.ClaimHash(chains.Condition{Kind: chains.HTLC, PaymentHash: sha256.Sum256(q.Secret)})
		if err != nil {
			return PayoutFact{}, err
		}
		return PayoutFact{Proven: len(q.Secret) == 32 && bytes.Equal(hash, q.Escrow.ClaimHash)}, nil
	}
	tx, err := w.BitcoinTx(ctx, q.TxID)
	if err != nil || tx == nil {
		return PayoutFact{}, err
	}
	nonce := q.Nonce
	if nonce == 0 {
		if nonce, err = bitcoin.TxNonce(tx.Msg, false); err != nil {
			return PayoutFact{}, nil // not a payout of this kind
		}
	}
	vout, confirmations, ok := bitcoin.FindClaimOutput(tx.Msg, q.Escrow.ClaimHash, uint16(q.Confirmations), func(out *wire.TxOut, n uint16) ([]byte, error) {
		return k.ClaimHash(chains.Condition{Kind: q.Escrow.Kind, Script: out.PkScript, Sats: uint64(out.Value), Nonce: nonce, Confirmations: n})
	})
	if !ok {
		return PayoutFact{}, nil
	}
	out := tx.Msg.TxOut[vout]
	fact := PayoutFact{Proven: true, TxID: tx.ID, Vout: vout, Sats: uint64(out.Value), Nonce: nonce, Confirmations: uint32(confirmations)}
	if a, err := bitcoin.AddressFromScript(out.PkScript, w.bitcoin.Network()); err == nil {
		fact.Address = a.String()
	}
	return fact, nil
}

// Delivered implements [World].
func (w *Live) Delivered(ctx context.Context, chain, contract string, q DeliveredAsk) (*chains.Escrow, error) {
	k, _, err := w.contract(chain, contract)
	if err != nil {
		return nil, err
	}
	e, err := k.Decode(q.Data)
	if err != nil {
		return nil, &chains.DiffError{Member: "data", Want: "escrow data of the chain", Got: err.Error()}
	}
	if err := k.Diff(q.Want, e, chains.AnyExpiry, chains.AtLeastAmount); err != nil {
		return nil, err
	}
	return &e, nil
}

// Wait implements [World].
func (w *Live) Wait(ctx context.Context, q WaitAsk) (int, error) {
	if q.Tx.Confirmed() {
		return int(bitcoin.ConfirmationDelay(q.Tx.Confirmations, q.Confirmations, nil, nil).Seconds()), nil
	}
	var standing *bitcoin.CPFP
	var blocks []bitcoin.ProjectedBlock
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() (err error) { standing, err = bitcoin.GetCPFP(ctx, w.bitcoin, q.Tx.ID); return err })
	g.Go(func() (err error) { blocks, err = w.bitcoin.ProjectedBlocks(ctx); return err })
	if err := g.Wait(); err != nil {
		return -1, err
	}
	return int(bitcoin.ConfirmationDelay(0, q.Confirmations, standing, blocks).Seconds()), nil
}
