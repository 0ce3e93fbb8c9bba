package chainio

import (
	"context"
	"errors"

	"github.com/btcsuite/btcd/wire"
	"golang.org/x/sync/errgroup"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/internal/btc/rawtx"
	"github.com/swapper-go/swapper/internal/btc/single"
	btcvault "github.com/swapper-go/swapper/internal/btc/vault"
	"github.com/swapper-go/swapper/internal/lp/verify"
)

// VaultFacts asks what has to be known of a vault's output before a withdrawal
// may spend it: the transaction that made it, what spends it, and the withdrawals
// that lead to it from the vault's state, which vault reads and which may be nil.
// The contract is asked to read those, and ours if it is not nil. An error means
// that a question was not answered. The first three go out together, then one for
// each withdrawal but the last, then the contract's.
func (rd *Reader) VaultFacts(ctx context.Context, c chains.VaultContract, vault func(context.Context) (*chains.Vault, error), utxo bitcoin.OutPoint, ours *wire.MsgTx) (verify.VaultFacts, error) {
	var facts verify.VaultFacts
	g, gctx := errgroup.WithContext(ctx)
	g.Go(func() (err error) { facts.Vault, err = vault(gctx); return err })
	g.Go(func() error {
		spend, err := single.Outspend(gctx, rd.Bitcoin, utxo)
		facts.Spend = spend.State
		return err
	})
	var missing error
	g.Go(func() (err error) {
		if facts.Output, err = single.Tx(gctx, rd.Bitcoin, utxo.Hash); errors.Is(err, bitcoin.ErrNotFound) {
			missing, err = err, nil
		}
		return err
	})
	if err := g.Wait(); err != nil {
		return facts, err
	}
	var before []btcvault.Tx
	if v := facts.Vault; v != nil {
		var err error
		before, err = btcvault.Trace(ctx, func(ctx context.Context, id bitcoin.Hash) (*bitcoin.Tx, error) {
			if id == utxo.Hash {
				return facts.Output, missing
			}
			return single.Tx(ctx, rd.Bitcoin, id)
		}, v.UTXO, utxo, btcvault.MaxPendingQuoted)
		switch {
		case err == nil:
		case errors.Is(err, bitcoin.ErrNotFound) || fault.CodeOf(err) == fault.Internal:
			facts.Trace = err // an answer, not a failure to ask
		default:
			return facts, err
		}
	}
	var raw [][]byte
	read := func(tx *wire.MsgTx) error {
		text, err := rawtx.Strip(tx)
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
