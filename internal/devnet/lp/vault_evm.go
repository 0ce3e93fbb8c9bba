package lp

import (
	"context"

	"github.com/btcsuite/btcd/wire"
	"github.com/ethereum/go-ethereum/common"

	"github.com/swapper-go/swapper/chains"
	evmwire "github.com/swapper-go/swapper/internal/evm/wire"
)

// onEVM is a vault without what changes.
func (g *evmLedger) onEVM(v chains.Vault) evmwire.Vault {
	p := g.net.VaultParams(common.HexToAddress(v.Tokens[0]), v.Multipliers[0].Int64(), int64(v.Confirmations))
	p.Token1Multiplier = v.Multipliers[1]
	return evmwire.Vault{VaultRef: evmwire.VaultRef{Owner: common.HexToAddress(v.Owner), ID: v.ID}, Params: p, InitialUTXO: v.UTXO}
}

// standing is a vault as its contract has it.
func standing(v chains.Vault, now evmwire.Vault) chains.Vault {
	v.Open, v.OurRelay = true, true // else it is an error
	v.UTXO, v.Raw, v.Withdrawals = now.UTXO, now.Raw, now.Withdrawals
	return v
}

func (g *evmLedger) openVault(ctx context.Context, v chains.Vault) (chains.Vault, error) {
	vault := g.onEVM(v)
	now, err := g.net.OpenVault(ctx, g.account, vault.ID.Int64(), vault.Params, v.UTXO, v.Raw)
	return standing(v, now), err
}

func (g *evmLedger) fillVault(ctx context.Context, v chains.Vault, raw [2]uint64) (chains.Vault, error) {
	fill, err := g.net.FillVault(g.onEVM(v), raw)
	if err == nil {
		_, err = g.account.SendAll(ctx, fill)
	}
	if err != nil {
		return v, err
	}
	return g.readVault(ctx, v)
}

func (g *evmLedger) readVault(ctx context.Context, v chains.Vault) (chains.Vault, error) {
	now, err := g.net.ReadVault(ctx, g.onEVM(v))
	return standing(v, now), err
}

func (g *evmLedger) claimVault(ctx context.Context, v chains.Vault, all []chains.Withdrawal) error {
	if err := g.net.SyncRelay(ctx); err != nil {
		return err
	}
	at, err := g.net.ReadVault(ctx, g.onEVM(v))
	if err != nil {
		return err
	}
	for _, w := range all {
		proof, err := g.net.Proof(w.TxID, 0, v.Confirmations)
		if err != nil {
			return err
		}
		call, err := g.net.Deployment().ClaimVault(at, w, proof, g.account.Address)
		if err != nil {
			return err
		}
		if _, err := g.account.Send(ctx, call); err != nil {
			return err
		}
	}
	return nil
}

func (g *evmLedger) parseWithdrawal(tx *wire.MsgTx) (chains.Withdrawal, error) {
	return evmwire.ParseWithdrawal(tx)
}

func (g *evmLedger) withdrawalLen(gasDrop bool) int { return evmwire.PayoutFormat().Len(gasDrop) }
