package bitcoin

import (
	"errors"
	"fmt"
	"math"

	"github.com/btcsuite/btcd/wire"

	"github.com/swapper-go/swapper/internal/btc/opreturn"
)

// executionDelay is what a withdrawal's lock time and the end of its execution
// lie apart, in seconds.
const executionDelay = 1_000_000_000

// Withdrawal is a Bitcoin transaction that takes tokens out of a vault on a
// smart chain: input 0 spends the vault's output, output 0 is its next one,
// output 1 says in an OP_RETURN who gets what (protocol:
// swap-flows-spv-and-core.md A5). Its slices are those of the transaction that it
// was read from.
type Withdrawal struct {
	TxID            Hash
	Vault           OutPoint // the vault's output, which input 0 spends
	NextValue       int64    // sats in the vault's next output
	NextScript      []byte   // its script
	Shares          FeeShares
	ExecutionExpiry uint32 // Unix seconds
	Payload         []byte // what output 1 carries; [vault.PayoutFormat] reads it
}

// ParseWithdrawal reads a withdrawal. It refuses whatever a vault contract
// would not accept as one, or could read otherwise than the caller.
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
	payload, err := opreturn.Data(tx.TxOut[1].PkScript)
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
	UTXO        OutPoint  // whoever spends it as a transaction's input 0 withdraws
	Raw         [2]uint64 // balances of token 0 and 1, divided by the multipliers
	Withdrawals uint32    // how many there were
}
