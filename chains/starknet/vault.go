package starknet

import (
	"context"

	btcwire "github.com/btcsuite/btcd/wire"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/internal/starknet/wire"
)

func (k *contract) WithdrawalData(recipient string, raw [2]uint64) ([]byte, error) {
	return wire.WithdrawalData(recipient, raw, nil)
}

func (k *contract) WithdrawalDataLen(gasDrop bool) int { return wire.PayoutFormat().Len(gasDrop) }

func (k *contract) ParseWithdrawal(tx *btcwire.MsgTx) (chains.Withdrawal, error) {
	return wire.ParseWithdrawal(tx)
}

// Vaults takes one round trip.
func (k *contract) Vaults(ctx context.Context, queries []chains.VaultID) ([]chains.VaultFact, error) {
	return k.reader.Vaults(ctx, queries)
}

// Withdrawals takes those round trips of [starkread.Reader.Withdrawals].
func (k *contract) Withdrawals(ctx context.Context, queries []chains.WithdrawalQuery) ([]chains.WithdrawalFact, error) {
	return k.reader.Withdrawals(ctx, queries)
}

// OpenedVaults takes the round trips of [starkread.Reader.OpenedVaults].
func (k *contract) OpenedVaults(ctx context.Context, from uint64) ([]chains.OpenedVault, uint64, error) {
	return k.reader.OpenedVaults(ctx, from)
}

// DryRun takes one round trip.
func (k *contract) DryRun(ctx context.Context, txs [][]byte) error { return k.reader.DryRun(ctx, txs) }

// RelayTip takes one round trip. With several nodes it is what most of them say, the
// higher of two: watchtowers are paid for what the relay lacks.
func (k *contract) RelayTip(ctx context.Context) (uint32, error) {
	return k.reader.RelayTip(ctx)
}
