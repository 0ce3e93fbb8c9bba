package swap

import (
	"context"
	"errors"

	"github.com/btcsuite/btcd/wire"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/fault"
)

// VaultPays makes sure that a vault will pay a withdrawal when it is confirmed:
// the vault is open and bound to our relay, the output that the withdrawal
// spends is unspent and is led to by at most two others, the balances cover all
// of them with every fee, and the contract can read each (protocol:
// swap-flows-spv-and-core.md A4 checks 14 and 22 to 25, A7 steps 10 to 12).
// Whatever is not so would close the vault over the withdrawal, or leave it
// behind. Errors have the code fault.Upstream.
func (w *Live) VaultPays(ctx context.Context, c chains.VaultContract, v chains.Vault, ours chains.Withdrawal, tx *wire.MsgTx) error {
	if !v.Open || !v.OurRelay {
		return fault.New(fault.Upstream, "the vault is closed, make a new swap")
	}
	spend, err := bitcoin.GetOutspend(ctx, w.bitcoin, ours.Vault)
	if err != nil {
		return err
	}
	if spend.State != bitcoin.Unspent {
		return fault.New(fault.Upstream, "the vault's output is %s, make a new swap", spentWord(spend.State))
	}
	fetch := func(ctx context.Context, id bitcoin.Hash) (*bitcoin.Tx, error) {
		return bitcoin.GetTx(ctx, w.bitcoin, id)
	}
	before, err := bitcoin.TraceVault(ctx, fetch, v.UTXO, ours.Vault, bitcoin.MaxPendingQuoted)
	if err != nil {
		return fault.New(fault.Upstream, "the vault's pending withdrawals: %w", err)
	}
	pending := make([]bitcoin.PendingWithdrawal, 0, len(before)+1)
	raw := make([][]byte, 0, len(before)+1)
	for _, b := range before {
		p, err := c.ParseWithdrawal(b.Tx.Msg)
		if err != nil {
			return fault.New(fault.Upstream, "pending withdrawal %s: %w", b.TxID, err)
		}
		pending = append(pending, bitcoin.PendingWithdrawal{Withdrawal: p.Withdrawal, Amounts: p.Amounts})
		text, err := bitcoin.StripTx(b.Tx.Msg)
		if err != nil {
			return err
		}
		raw = append(raw, text)
	}
	pending = append(pending, bitcoin.PendingWithdrawal{Withdrawal: ours.Withdrawal, Amounts: ours.Amounts})
	if _, err := v.VaultState.After(pending...); err != nil {
		return fault.New(fault.Upstream, "the vault cannot pay: %w", err)
	}
	text, err := bitcoin.StripTx(tx)
	if err != nil {
		return err
	}
	if err := c.DryRun(ctx, append(raw, text)); err != nil {
		if e, ok := errors.AsType[*fault.Error](err); ok {
			return e
		}
		return fault.New(fault.Upstream, "the vault's contract: %w", err)
	}
	return nil
}

func spentWord(s bitcoin.SpendState) string {
	if s == bitcoin.SpendUnknown {
		return "not known"
	}
	return "already spent"
}
