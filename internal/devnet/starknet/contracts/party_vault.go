package contracts

import (
	"context"
	"fmt"
	"math/big"

	"github.com/swapper-go/swapper/chains"
	btc "github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/internal/starknet/wire"
)

// OpenVault opens a vault of the party's on a Bitcoin output and puts raw units of its
// tokens into it, all in one transaction. The output should exist and be the party's:
// the contract does not look.
func (p *Party) OpenVault(ctx context.Context, id *big.Int, tokens [2]wire.Felt, multipliers [2]*big.Int, confirmations uint8, utxo btc.OutPoint, raw [2]uint64) (wire.Vault, error) {
	number, err := wire.FeltOfBig(id)
	if err != nil {
		return wire.Vault{}, err
	}
	d := p.Deployment()
	v := wire.Vault{VaultRef: wire.VaultRef{Owner: p.Address(), ID: number}, Relay: d.BtcRelay.Address, Tokens: tokens, Multipliers: multipliers,
		InitialUTXO: utxo, Confirmations: confirmations}
	open, err := OpenVault(d, v)
	if err != nil {
		return wire.Vault{}, err
	}
	if _, err := p.Account.Send(ctx, append([]wire.Call{open}, FillVault(d, v, raw)...)...); err != nil {
		return wire.Vault{}, err
	}
	return p.Vault(v.VaultRef)
}

// Vault returns the state of a vault, open or closed, at the newest accepted block.
func (p *Party) Vault(ref wire.VaultRef) (wire.Vault, error) {
	answer, err := p.Net.Call(p.Deployment().VaultManager.Address, wire.EntryGetVault, ref.Felts()...)
	if err != nil {
		return wire.Vault{}, err
	}
	return wire.ReadVault(ref, answer)
}

// ClaimVault claims withdrawals from a vault in the order in which they spend its
// outputs, after it has brought the relay up to date. It returns the last transaction.
func (p *Party) ClaimVault(ctx context.Context, ref wire.VaultRef, all ...chains.Withdrawal) (last wire.Felt, err error) {
	if err := p.Net.SyncRelay(ctx); err != nil {
		return last, err
	}
	v, err := p.Vault(ref)
	if err != nil {
		return last, err
	}
	var claims []wire.Call
	for _, w := range all {
		proof, err := p.Net.Proof(w.TxID, 0, uint32(v.Confirmations))
		if err != nil {
			return last, err
		}
		claim, err := p.Deployment().VaultClaim(v, proof)
		if err != nil {
			return last, fmt.Errorf("claim %s: %w", w.TxID, err)
		}
		claims = append(claims, claim)
	}
	for _, batch := range wire.Batches(claims) {
		if last, err = p.Account.Send(ctx, batch...); err != nil {
			return last, err
		}
	}
	return last, nil
}
