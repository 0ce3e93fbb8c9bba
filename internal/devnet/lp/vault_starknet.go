package lp

import (
	"context"
	"fmt"

	btcwire "github.com/btcsuite/btcd/wire"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/internal/devnet/starknet/contracts"
	"github.com/swapper-go/swapper/internal/starknet/wire"
)

func (g *starknetLedger) openVault(ctx context.Context, v chains.Vault) (chains.Vault, error) {
	var tokens [2]wire.Felt
	for i, text := range v.Tokens {
		var err error
		if tokens[i], err = wire.ParseAddress(text); err != nil {
			return v, err
		}
	}
	opened, err := g.OpenVault(ctx, v.ID, tokens, v.Multipliers, uint8(v.Confirmations), v.UTXO, v.Raw)
	return g.Deployment().Neutral(opened), err
}

func (g *starknetLedger) fillVault(ctx context.Context, v chains.Vault, raw [2]uint64) (chains.Vault, error) {
	now, err := g.vault(v)
	if err != nil {
		return v, err
	}
	if _, err := g.Account.Send(ctx, contracts.FillVault(g.Deployment(), now, raw)...); err != nil {
		return v, err
	}
	return g.readVault(ctx, v)
}

// vault is a vault as its contract has it.
func (g *starknetLedger) vault(v chains.Vault) (wire.Vault, error) {
	ref, err := wire.VaultRefOf(v.VaultID)
	if err != nil {
		return wire.Vault{}, err
	}
	return g.Vault(ref)
}

func (g *starknetLedger) readVault(_ context.Context, v chains.Vault) (chains.Vault, error) {
	now, err := g.vault(v)
	if err != nil {
		return v, err
	}
	if !now.Open() {
		return v, fmt.Errorf("vault %s of %s is closed", v.ID, v.Owner)
	}
	return g.Deployment().Neutral(now), nil
}

func (g *starknetLedger) claimVault(ctx context.Context, v chains.Vault, all []chains.Withdrawal) error {
	ref, err := wire.VaultRefOf(v.VaultID)
	if err == nil {
		_, err = g.ClaimVault(ctx, ref, all...)
	}
	return err
}

func (g *starknetLedger) parseWithdrawal(tx *btcwire.MsgTx) (chains.Withdrawal, error) {
	return wire.ParseWithdrawal(tx)
}

func (g *starknetLedger) withdrawalLen(gasDrop bool) int { return wire.PayoutFormat().Len(gasDrop) }
