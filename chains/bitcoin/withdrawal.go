package bitcoin

import (
	"errors"
	"fmt"
	"math"

	"github.com/btcsuite/btcd/wire"

	"github.com/swapper-go/swapper/internal/btc/rawtx"
)

// executionDelay is the difference between a withdrawal's execution expiry and
// its lock time, in seconds.
const executionDelay = 1_000_000_000

// Withdrawal is a Bitcoin transaction that takes tokens out of a vault on a smart
// chain: input 0 spends the vault's output, output 0 is the vault's next output,
// and output 1 is an OP_RETURN that encodes the recipient and the amounts
// (protocol: swap-flows-spv-and-core.md A5). Its slices share memory with the
// transaction that it was read from.
type Withdrawal struct {
	TxID            Hash
	Vault           OutPoint // the vault's output, which input 0 spends
	NextValue       int64    // sats in the vault's next output
	NextScript      []byte   // its script
	Shares          FeeShares
	ExecutionExpiry uint32 // Unix seconds
	Payload         []byte // data of output 1; decoded by [vault.PayoutFormat]
}

// ParseWithdrawal reads a withdrawal. It returns an error for a transaction
// that a vault contract would not accept or might interpret differently.
func ParseWithdrawal(tx *wire.MsgTx) (Withdrawal, error) {
	if len(tx.TxIn) < 2 || len(tx.TxOut) < 2 {
		return Withdrawal{}, errors.New("a withdrawal must have at least two inputs and two outputs")
	}
	shares, err := ParseFeeShares(tx.TxIn[0].Sequence, tx.TxIn[1].Sequence)
	if err != nil {
		return Withdrawal{}, err
	}
	if tx.LockTime > math.MaxUint32-executionDelay {
		return Withdrawal{}, fmt.Errorf("lock time %d makes the execution's expiry out of range", tx.LockTime)
	}
	payload, err := rawtx.OpReturnData(tx.TxOut[1].PkScript)
	if err != nil {
		return Withdrawal{}, fmt.Errorf("output 1: %w", err)
	}
	return Withdrawal{
		TxID:            tx.TxHash(),
		Vault:           tx.TxIn[0].PreviousOutPoint,
		NextValue:       tx.TxOut[0].Value,
		NextScript:      tx.TxOut[0].PkScript,
		Shares:          shares,
		ExecutionExpiry: tx.LockTime + executionDelay,
		Payload:         payload,
	}, nil
}

// NextVault returns the output that controls the vault after the withdrawal.
func (w Withdrawal) NextVault() OutPoint { return OutPoint{Hash: w.TxID} }

// VaultState is the part of a vault's state that withdrawals change.
type VaultState struct {
	UTXO        OutPoint  // spending it as input 0 of a transaction makes a withdrawal
	Raw         [2]uint64 // balances of token 0 and 1, divided by the multipliers
	Withdrawals uint32    // number of withdrawals so far
}
