// Package vault follows SPV vaults on Bitcoin: what their withdrawals pay, which are
// pending, and the state that they leave.
package vault

import (
	"fmt"

	"github.com/swapper-go/swapper/chains/bitcoin"
)

// Pending is a withdrawal that the vault has not processed yet, with
// its amounts.
type Pending struct {
	bitcoin.Withdrawal
	Amounts bitcoin.WithdrawalAmounts
}

// After returns the state after a chain of withdrawals, oldest first. Each must
// spend the output that the one before left, and the balances must cover its
// total with all fees: a contract closes the vault on one that they do not
// cover, and its recipient gets nothing (protocol: swap-flows-spv-and-core.md D2).
func After(s bitcoin.VaultState, pending ...Pending) (bitcoin.VaultState, error) {
	for _, w := range pending {
		if w.Vault != s.UTXO {
			return bitcoin.VaultState{}, fmt.Errorf("withdrawal %s spends %s, but the vault is at %s", w.TxID, w.Vault, s.UTXO)
		}
		for i, total := range w.Amounts.Total {
			if total > s.Raw[i] {
				return bitcoin.VaultState{}, fmt.Errorf("withdrawal %s takes %d units of token %d, but the vault holds %d", w.TxID, total, i, s.Raw[i])
			}
			s.Raw[i] -= total
		}
		s.UTXO = w.NextVault()
		s.Withdrawals++
	}
	return s, nil
}
