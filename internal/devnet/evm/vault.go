package evm

import (
	"context"
	"math/big"

	"github.com/ethereum/go-ethereum/common"

	btc "github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/internal/evm/wire"
)

// VaultParams are parameters of a vault that believes this network's relay: a
// token with its multiplier, and the native coin in raw units of sats.
func (n *Net) VaultParams(token common.Address, multiplier, confirmations int64) wire.VaultParams {
	return wire.VaultParams{
		BtcRelayContract: n.contracts.BtcRelay.Address, Token0: token, Token1: Native,
		Token0Multiplier: big.NewInt(multiplier), Token1Multiplier: big.NewInt(1e10), Confirmations: big.NewInt(confirmations),
	}
}

// OpenVault opens a vault of an account on a Bitcoin output and puts raw units of
// its tokens into it. The output should exist and be the owner's: the contract
// does not look.
func (n *Net) OpenVault(ctx context.Context, owner *Account, id int64, p wire.VaultParams, utxo btc.OutPoint, raw [2]uint64) (wire.Vault, error) {
	v := wire.Vault{VaultRef: wire.VaultRef{Owner: owner.Address, ID: big.NewInt(id)}, Params: p, InitialUTXO: utxo}
	open, err := n.openVault(v)
	if err != nil {
		return v, err
	}
	fill, err := n.FillVault(v, raw)
	if err != nil {
		return v, err
	}
	if _, err := owner.SendAll(ctx, append([]wire.Call{open}, fill...)); err != nil {
		return v, err
	}
	return n.ReadVault(ctx, v)
}

// ReadVault returns the state of a vault now. One that is closed is an error.
func (n *Net) ReadVault(ctx context.Context, v wire.Vault) (wire.Vault, error) {
	data, err := wire.VaultCall(v.VaultRef)
	if err != nil {
		return v, err
	}
	answer, err := n.Read(ctx, n.faucet.Address, wire.Call{To: n.contracts.VaultManager.Address, Data: data})
	if err != nil {
		return v, err
	}
	state, err := wire.DecodeVaultState(answer)
	if err != nil {
		return v, err
	}
	return n.Deployment().NewVault(v.VaultRef, state, v.Params)
}
