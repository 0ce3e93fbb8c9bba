package swap

import (
	"context"
	"errors"

	"github.com/btcsuite/btcd/wire"
	"golang.org/x/sync/errgroup"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/swap/lp"
)

// VaultPays makes sure that a vault will pay a withdrawal when it is confirmed,
// as [lp.VaultPays] judges it. Errors have the code fault.Upstream.
func (w *Live) VaultPays(ctx context.Context, c chains.VaultContract, v chains.Vault, ours chains.Withdrawal, tx *wire.MsgTx) error {
	facts, err := w.VaultFacts(ctx, c, &v, ours.Vault, tx)
	if err != nil {
		return err
	}
	return lp.VaultPays(facts, bitcoin.PendingWithdrawal{Withdrawal: ours.Withdrawal, Amounts: ours.Amounts})
}

// VaultFacts asks what has to be known of a vault's output before a withdrawal
// may spend it: the transaction that made it, what spends it, and the withdrawals
// that lead to it from the vault's state v, which may be nil. The contract is
// asked to read those, and ours if it is not nil. An error means that a question
// was not answered. The first three go out together, one more per withdrawal,
// then the contract's.
func (w *Live) VaultFacts(ctx context.Context, c chains.VaultContract, v *chains.Vault, utxo bitcoin.OutPoint, ours *wire.MsgTx) (lp.VaultFacts, error) {
	facts := lp.VaultFacts{Vault: v}
	fetch := func(ctx context.Context, id bitcoin.Hash) (*bitcoin.Tx, error) {
		return bitcoin.GetTx(ctx, w.bitcoin, id)
	}
	var before []bitcoin.VaultTx
	g, gctx := errgroup.WithContext(ctx)
	g.Go(func() error {
		spend, err := bitcoin.GetOutspend(gctx, w.bitcoin, utxo)
		facts.Spend = spend.State
		return err
	})
	g.Go(func() (err error) {
		if facts.Output, err = fetch(gctx, utxo.Hash); errors.Is(err, bitcoin.ErrNotFound) {
			err = nil
		}
		return err
	})
	if v != nil {
		g.Go(func() (err error) {
			before, err = bitcoin.TraceVault(gctx, fetch, v.UTXO, utxo, bitcoin.MaxPendingQuoted)
			if err != nil && (errors.Is(err, bitcoin.ErrNotFound) || fault.CodeOf(err) == fault.Internal) {
				facts.Trace, err = err, nil // an answer, not a failure to ask
			}
			return err
		})
	}
	if err := g.Wait(); err != nil {
		return facts, err
	}
	var raw [][]byte
	read := func(tx *wire.MsgTx) error {
		text, err := bitcoin.StripTx(tx)
		raw = append(raw, text)
		return err
	}
	for _, b := range before {
		p, err := c.ParseWithdrawal(b.Tx.Msg)
		if err != nil {
			facts.Parse = err
			return facts, nil
		}
		facts.Pending = append(facts.Pending, p)
		if err := read(b.Tx.Msg); err != nil {
			return facts, err
		}
	}
	if ours != nil {
		if err := read(ours); err != nil {
			return facts, err
		}
	}
	if len(raw) == 0 {
		return facts, nil
	}
	if facts.Parse = c.DryRun(ctx, raw); facts.Parse != nil && ctx.Err() != nil {
		return facts, context.Cause(ctx)
	}
	return facts, nil
}
