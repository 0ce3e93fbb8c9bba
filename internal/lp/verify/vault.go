package verify

import (
	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/internal/btc/vault"
	"github.com/swapper-go/swapper/internal/lp"
)

// VaultFacts is what the chains say about a vault and the output of it that a
// swap spends.
type VaultFacts struct {
	Vault   *chains.Vault       // as the smart chain has it; nil: there is none
	Output  *bitcoin.Tx         // that made the output; nil: not known. Needed for a quote only
	Spend   bitcoin.SpendState  // of the output
	Pending []chains.Withdrawal // that lead from the vault's state to the output, oldest first
	Trace   error               // why they do not: too many, or not withdrawals of this vault
	Parse   error               // the contract's refusal to read one of them
}

// VaultPays checks that a vault will pay a withdrawal when it is confirmed: it is
// open and bound to our relay, the output that the withdrawal spends is unspent
// and follows from the vault's state, the balances cover the withdrawals before it
// and all of this one with every fee, and the contract can read them. Whatever is
// not so would close the vault over the withdrawal, or leave it behind (protocol:
// swap-flows-spv-and-core.md A4 checks 14 and 22 to 25, A7 steps 10 to 12, D2).
// Pure.
func VaultPays(f VaultFacts, ours vault.Pending) error {
	return first(f.open, f.unspent, f.traced, func() error { return f.covered(ours) }, f.readable)
}

func (f VaultFacts) open() error {
	switch {
	case f.Vault == nil || !f.Vault.Open:
		return doubt(lp.CheckVaultOpen, "the vault is not open")
	case !f.Vault.OurRelay:
		return lp.Lie(lp.CheckVaultOpen, "the vault is bound to a different Bitcoin relay")
	}
	return nil
}

// unspent: an honest LP can have given the output to somebody else meanwhile.
func (f VaultFacts) unspent() error {
	word := "already spent"
	switch f.Spend {
	case bitcoin.Unspent:
		return nil
	case bitcoin.SpendUnknown:
		word = "unknown"
	}
	e := lp.Lie("", "the vault's output is %s", word)
	e.Check, e.Recoverable = lp.CheckUTXOSpent, true
	return e
}

func (f VaultFacts) traced() error {
	if f.Trace != nil {
		return doubt(lp.CheckVaultPending, "the vault's pending withdrawals: %w", f.Trace)
	}
	if len(f.Pending) > vault.MaxPendingQuoted {
		return doubt(lp.CheckVaultPending, "the vault has %d pending withdrawals, at most %d are accepted", len(f.Pending), vault.MaxPendingQuoted)
	}
	return nil
}

func (f VaultFacts) covered(ours vault.Pending) error {
	pending := make([]vault.Pending, 0, len(f.Pending)+1)
	for _, w := range f.Pending {
		pending = append(pending, vault.Pending{Withdrawal: w.Withdrawal, Amounts: w.Amounts})
	}
	if _, err := vault.After(f.Vault.VaultState, append(pending, ours)...); err != nil {
		return doubt(lp.CheckVaultBalance, "the vault cannot pay: %w", err)
	}
	return nil
}

// readable does not blame the LP: our own node may be the one that failed.
func (f VaultFacts) readable() error {
	if f.Parse == nil {
		return nil
	}
	return doubt(lp.CheckVaultWithdrawal, "a withdrawal of the vault: %w", f.Parse)
}
