package bitcoin

import "fmt"

// PendingWithdrawal is a withdrawal that the vault has not processed yet, with
// its amounts.
type PendingWithdrawal struct {
	Withdrawal
	Amounts WithdrawalAmounts
}

// VaultAfter returns the state after a chain of withdrawals, oldest first. Each must
// spend the output that the one before left, and the balances must cover its
// total with all fees: a contract closes the vault on one that they do not
// cover, and its recipient gets nothing (protocol: swap-flows-spv-and-core.md D2).
func VaultAfter(s VaultState, pending ...PendingWithdrawal) (VaultState, error) {
	for _, w := range pending {
		if w.Vault != s.UTXO {
			return VaultState{}, fmt.Errorf("withdrawal %s spends %s, but the vault is at %s", w.TxID, w.Vault, s.UTXO)
		}
		for i, total := range w.Amounts.Total {
			if total > s.Raw[i] {
				return VaultState{}, fmt.Errorf("withdrawal %s takes %d of token %d, but the vault holds %d", w.TxID, total, i, s.Raw[i])
			}
			s.Raw[i] -= total
		}
		s.UTXO = w.NextVault()
		s.Withdrawals++
	}
	return s, nil
}
