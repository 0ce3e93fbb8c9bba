package watchtower

import (
	"context"
	"errors"
	"fmt"
	"math/big"

	"github.com/ethereum/go-ethereum"
	"github.com/ethereum/go-ethereum/common"

	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/internal/btc/single"
	"github.com/swapper-go/swapper/internal/evm/wire"
)

// vaults are the vaults that the chain's logs have told of.
type vaults struct {
	next uint64 // first block whose logs have not been read
	last common.Hash
	open []wire.Vault
	seen [2]common.Hash // heads of both chains at which there was nothing left to do
}

// claimVaults claims the next withdrawal of every vault that can be claimed.
func (t *Tower) claimVaults(ctx context.Context, b Behaviour) error {
	_, tip := t.options.EVM.Bitcoin().Tip()
	heads := [2]common.Hash{t.options.EVM.Head().Hash(), common.Hash(tip)}
	if heads == t.vaults.seen {
		return nil
	}
	if err := t.findVaults(ctx); err != nil {
		return err
	}
	var failed error
	for _, v := range t.vaults.open {
		now, err := t.options.EVM.ReadVault(ctx, v)
		switch {
		case fault.CodeOf(err) == fault.NotFound: // closed, or its opening was taken back
		case err != nil:
			failed = errors.Join(failed, err)
		default:
			failed = errors.Join(failed, t.claimNext(ctx, now, b))
		}
	}
	if failed == nil && b.Delay == 0 {
		t.vaults.seen = heads
	}
	return failed
}

// findVaults reads the logs of new blocks, and all of them again after a
// reorganisation.
func (t *Tower) findVaults(ctx context.Context) error {
	known := t.vaults
	head := t.options.EVM.Head()
	if head.Hash() == known.last {
		return nil
	}
	if known.next > 0 {
		before, err := t.node.HeaderByNumber(ctx, new(big.Int).SetUint64(known.next-1))
		if errors.Is(err, ethereum.NotFound) || err == nil && before.Hash() != known.last {
			*known = vaults{}
		} else if err != nil {
			return err
		}
	}
	d := t.options.EVM.Deployment()
	logs, err := t.node.FilterLogs(ctx, ethereum.FilterQuery{
		FromBlock: new(big.Int).SetUint64(known.next), ToBlock: head.Number, Addresses: []common.Address{d.VaultManager.Address},
	})
	if err != nil {
		return err
	}
	for _, l := range logs {
		event, err := d.DecodeLog(l)
		if err != nil {
			return err
		}
		if opened, ok := event.(wire.VaultOpenEvent); ok {
			known.open = append(known.open, wire.Vault{VaultRef: opened.VaultRef, Params: opened.Params})
		}
	}
	known.next, known.last = head.Number.Uint64()+1, head.Hash()
	return nil
}

// claimNext claims the withdrawal that spends the vault's output, if Bitcoin has
// confirmed it often enough.
func (t *Tower) claimNext(ctx context.Context, v wire.Vault, b Behaviour) error {
	spend, err := single.Outspend(ctx, t.bitcoin, v.UTXO)
	if err != nil || spend.State != bitcoin.SpentConfirmed {
		return err
	}
	tx, proof, err := t.options.EVM.Bitcoin().Proof(spend.TxID)
	if err != nil {
		return err
	}
	tip, _ := t.options.EVM.Bitcoin().Tip()
	if uint64(proof.Height)+v.Params.Confirmations.Uint64() > uint64(tip)+1 {
		return nil
	}
	w, err := wire.ParseWithdrawal(tx)
	if err != nil {
		return nil // claiming it would close the vault: no claimer earns by that
	}
	if ok, err := t.ready(ctx, w.TxID, b.Delay); !ok {
		return err
	}
	if err := t.options.EVM.SyncRelay(ctx); err != nil {
		return fmt.Errorf("bring the relay up to date: %w", err)
	}
	confirmed, err := t.options.EVM.Proof(w.TxID, 0, uint32(v.Params.Confirmations.Uint64()))
	if err != nil {
		return err
	}
	call, err := t.options.EVM.Deployment().ClaimVault(v, w, confirmed, t.options.Account.Address)
	if err != nil {
		return err
	}
	return t.send(ctx, w.TxID, call, Claim{Withdrawal: w.TxID})
}
