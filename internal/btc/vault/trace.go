package vault

import (
	"context"
	"fmt"
	"slices"

	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/internal/btc/single"
)

// How many withdrawals may lie between a vault's state on its smart chain and an
// output of it on Bitcoin.
const (
	MaxPendingQuoted  = 2  // for a quote: liquidity providers' vaults are at most so far ahead (protocol: swap-flows-spv-and-core.md A4 check 23)
	MaxPendingClaimed = 25 // for a claim, which has to include all of them; a longer chain of withdrawals belongs to another vault (D17)
)

// Tx is a withdrawal with the transaction that it was read from.
type Tx struct {
	Tx *bitcoin.Tx
	bitcoin.Withdrawal
}

// Trace returns the withdrawals that lead from the vault's output on its
// smart chain to a later one on Bitcoin, oldest first; none if they are the same.
// It goes back from the later one by each transaction's first input, one call
// of fetch per step, and gives up after limit steps. fetch is as [node.Tx].
//
// It returns an error if a transaction cannot be fetched, is not the one asked
// for, or is not a withdrawal whose next vault output is the one that the walk
// came from.
func Trace(ctx context.Context, fetch func(context.Context, bitcoin.Hash) (*bitcoin.Tx, error), onChain, later bitcoin.OutPoint, limit int) ([]Tx, error) {
	var path []Tx
	for at := later; at != onChain; {
		if len(path) >= limit {
			return nil, fmt.Errorf("output %s is more than %d withdrawals away from the vault's %s, or does not descend from it", later, limit, onChain)
		}
		tx, err := fetch(ctx, at.Hash)
		if err != nil {
			return nil, fmt.Errorf("withdrawal %s: %w", at.Hash, err)
		}
		w, err := bitcoin.ParseWithdrawal(tx.Msg)
		if err != nil {
			return nil, fmt.Errorf("withdrawal %s: %w", at.Hash, err)
		}
		if w.NextVault() != at {
			return nil, fmt.Errorf("withdrawal %s does not move its vault to %s", w.TxID, at)
		}
		path = append(path, Tx{Tx: tx, Withdrawal: w})
		at = w.Vault
	}
	slices.Reverse(path)
	return path, nil
}

// Unclaimed returns the withdrawals from the vault's output on its smart chain to a
// transaction, which is one of them, oldest first: what has to be claimed, in this order. The
// code of its errors is [fault.InvalidState] where the chain of withdrawals says that nothing can
// be claimed.
func Unclaimed(ctx context.Context, backend single.Transactions, onChain bitcoin.OutPoint, id bitcoin.Hash) ([]Tx, error) {
	fetch := func(ctx context.Context, id bitcoin.Hash) (*bitcoin.Tx, error) {
		return single.Tx(ctx, backend, id)
	}
	path, err := Trace(ctx, fetch, onChain, bitcoin.OutPoint{Hash: id}, MaxPendingClaimed)
	switch code := fault.CodeOf(err); {
	case err == nil && len(path) == 0:
		return nil, fault.New(fault.InvalidState, "the withdrawal was already claimed")
	case err == nil:
		return path, nil
	case code == fault.Upstream || code == fault.Timeout: // not answered, which says nothing of the vault
		return nil, fmt.Errorf("the vault's withdrawals: %w", err)
	default:
		return nil, fault.New(fault.InvalidState, "the vault's withdrawals: %w", err)
	}
}
