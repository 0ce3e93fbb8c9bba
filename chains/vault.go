package chains

import (
	"context"
	"math/big"

	"github.com/btcsuite/btcd/wire"

	"github.com/swapper-go/swapper/chains/bitcoin"
)

// VaultContract is implemented by contract sets with SPV vaults: LP funds
// controlled by spending a Bitcoin UTXO (protocol: swap-flows-spv-and-core.md
// A).
type VaultContract interface {
	RelayContract

	// WithdrawalData encodes what a withdrawal's OP_RETURN output says.
	// recipient is canonical; raw are vault units, the second 0 if there is no
	// gas drop. The zero address is refused as recipient: it would close the
	// vault. Pure.
	WithdrawalData(recipient string, raw [2]uint64) ([]byte, error)

	// WithdrawalDataLen returns the length of WithdrawalData's result, for
	// estimates; gasDrop says whether there is a second amount. Pure.
	WithdrawalDataLen(gasDrop bool) int

	// ParseWithdrawal reads a Bitcoin transaction as a withdrawal. Pure.
	ParseWithdrawal(tx *wire.MsgTx) (Withdrawal, error)

	// Vaults reads vaults in one batch, in order. All nodes of the chain are asked, as for
	// a settled query: bitcoin is paid on what they say (see [ContradictionError]).
	Vaults(ctx context.Context, ids []VaultID) ([]VaultFact, error)

	// Withdrawals reads the states of withdrawals in one batch, in order.
	Withdrawals(ctx context.Context, queries []WithdrawalQuery) ([]WithdrawalFact, error)

	// DryRun asks the contract to parse transactions, witness-stripped, as it
	// will when they are claimed. A transaction that it cannot parse is an error
	// with the code fault.Upstream: claiming it would close the vault.
	DryRun(ctx context.Context, txs [][]byte) error
}

// VaultList is implemented by contract sets that can find their vaults.
type VaultList interface {
	VaultContract

	// OpenedVaults returns vaults that were opened from a height on, oldest first, and the height
	// from which to ask next. A call searches a part of a long history, and no block that is not
	// final; it is at the end once that height stays the same. One node says it: what a vault is, and
	// whether it exists, [VaultContract.Vaults] tells.
	OpenedVaults(ctx context.Context, from uint64) (opened []OpenedVault, next uint64, err error)
}

// OpenedVault is a vault by the event of its opening.
type OpenedVault struct {
	VaultID
	Height uint64
}

// VaultID identifies a vault.
type VaultID struct {
	Owner string
	ID    *big.Int
}

// Vault is the state of a vault.
type Vault struct {
	VaultID
	Open               bool
	Tokens             [2]string   // addresses; the second is the native token
	Multipliers        [2]*big.Int // base units per raw unit
	bitcoin.VaultState             // UTXO, balances, number of withdrawals claimed
	Confirmations      uint32      // that a withdrawal needs
	OurRelay           bool        // bound to the configured relay; a vault that is not must not be used
}

// VaultFact is the answer for one vault. A vault that does not exist is not open.
type VaultFact struct {
	Err   error
	Vault Vault
	Head  Block
}

// Withdrawal is what a Bitcoin transaction instructs a vault to do.
type Withdrawal struct {
	bitcoin.Withdrawal                           // fee shares, spent and next vault UTXO
	Recipient          string                    // canonical
	Raw                [2]uint64                 // payout in vault units
	Amounts            bitcoin.WithdrawalAmounts // with all fees
	Execution          []byte                    // hash of a contract call after the payout; nil if none
}

// WithdrawalQuery asks for the state of a withdrawal.
type WithdrawalQuery struct {
	Vault     VaultID
	Recipient string
	TxID      bitcoin.Hash
	From      uint64 // lowest height to search
	Settled   bool   // ask all nodes of the chain, see [ContradictionError]
}

// WithdrawalState is the state of a withdrawal in its vault.
type WithdrawalState int

const (
	WithdrawalNone    WithdrawalState = iota
	WithdrawalFronted                 // a third party advanced the payout
	WithdrawalClaimed                 // the vault paid
	WithdrawalClosed                  // the vault closed because of it: nothing was paid
)

// WithdrawalFact is the answer to a [WithdrawalQuery].
type WithdrawalFact struct {
	Err                     error
	State                   WithdrawalState
	FrontTx, ClaimTx, Close string // transaction ids
	Height                  uint64 // of the block in which it last changed; 0 if nothing happened
	Head                    Block
	Final                   bool
	Unsettled               bool // as in [EscrowFact]
	Witnesses               int  // as in [EscrowFact]
}
