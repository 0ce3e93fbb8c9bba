package contracts

import (
	"fmt"

	"github.com/swapper-go/swapper/internal/starknet/wire"
)

// Tx is a signed transaction with its hash.
type Tx struct {
	*wire.Transaction
	Hash  Felt
	Query bool // made to ask for its fee: it can be simulated and not sent
}

// NewTx takes a signed transaction. A deployment of an account gets the address that
// it makes as its sender.
func NewTx(t *wire.Transaction, query bool) (*Tx, error) {
	if t.Type == wire.DeployAccount {
		t.Sender = t.Deploy.Address()
	}
	hash := t.Hash
	if query {
		hash = t.QueryHash
	}
	id, err := hash()
	if err != nil {
		return nil, err
	}
	return &Tx{t, id, query}, nil
}

// validate is what the sender's account gets first.
func (t *Tx) validate() (selector Felt, calldata []Felt) {
	if t.Type == wire.DeployAccount {
		return selectorValidateDeploy, append([]Felt{t.Deploy.ClassHash, t.Deploy.Salt}, t.Deploy.ConstructorCalldata...)
	}
	return selectorValidate, t.Calldata
}

func (t *Tx) info() *TxInfo {
	return &TxInfo{Version: 3, Account: t.Sender, Signature: t.Signature, Hash: t.Hash, ChainID: t.ChainID, Nonce: t.Nonce, Bounds: t.Bounds, Tip: t.Tip, Query: t.Query}
}

// RefusalKind is why a transaction is not taken.
type RefusalKind int

// The kinds.
const (
	InvalidNonce RefusalKind = iota + 1
	InsufficientBalance
	InsufficientResources // the bounds do not cover the validation, or not the prices
	ValidationFailed
	ClassNotFound
	NotAnAccount
	Duplicate
	Underpriced // another one with its nonce waits, and it does not offer enough to replace that
	Unsupported
)

// Refusal says why a transaction is not taken. Nothing is charged for it.
type Refusal struct {
	Kind RefusalKind
	Text string
}

func (r *Refusal) Error() string { return r.Text }

func refuse(kind RefusalKind, format string, args ...any) *Refusal {
	return &Refusal{kind, fmt.Sprintf(format, args...)}
}

func wrongNonce(t *Tx, account uint64) *Refusal {
	return refuse(InvalidNonce, "Invalid transaction nonce of contract at address %s. Account nonce: %#x; got: %#x.", wire.Hex64(t.Sender), account, t.Nonce)
}
