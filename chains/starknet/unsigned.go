package starknet

import (
	"github.com/NethermindEth/juno/core/felt"
	"github.com/NethermindEth/starknet.go/rpc"

	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/internal/starknet/wire"
)

// Transaction is a transaction that an action asks a wallet to sign, in starknet.go's
// types. [UnsignedTransaction] reads one; the account signs [Transaction.Hash], and what
// is submitted is the text of [Transaction.Sign].
type Transaction struct {
	Sender  *felt.Felt // the account
	ChainID *felt.Felt
	// Invoke is what the account does; nil in a deployment.
	Invoke *rpc.InvokeTxnV3
	// Deploy is the account's own deployment, which precedes its first transaction; else
	// nil. What is handed out leaves class hash, salt and constructor calldata to the wallet: set
	// them before the transaction is signed.
	Deploy *rpc.DeployAccountTxnV3

	tx *wire.Transaction
}

// UnsignedTransaction decodes a transaction that an action asks a wallet to sign,
// written as in the REST API. Errors have the code fault.InvalidInput.
func UnsignedTransaction(text string) (*Transaction, error) {
	tx, err := wire.ParseTransaction(text)
	if err != nil {
		return nil, fault.Invalid("", "%w", err)
	}
	if tx.Signed {
		return nil, fault.Invalid("", "the transaction is signed already")
	}
	t := &Transaction{Sender: new(tx.Sender), ChainID: new(tx.ChainID), tx: tx}
	t.Invoke, t.Deploy = tx.RPC()
	return t, nil
}

// Hash is what the account signs.
func (t *Transaction) Hash() (*felt.Felt, error) {
	tx, err := t.signed()
	if err != nil {
		return nil, err
	}
	h, err := tx.Hash()
	if err != nil {
		return nil, err
	}
	return &h, nil
}

// Sign returns the text to submit: the transaction as it was handed out, with the
// signature of the account, r and s of a plain key. Errors have the code
// fault.InvalidInput.
func (t *Transaction) Sign(signature ...*felt.Felt) (string, error) {
	tx, err := t.signed()
	if err != nil {
		return "", err
	}
	if len(signature) == 0 {
		return "", fault.Invalid("signature", "is required")
	}
	for _, f := range signature {
		if f == nil {
			return "", fault.Invalid("signature", "has a felt that is nil")
		}
		tx.Signature = append(tx.Signature, *f)
	}
	return tx.String(), nil
}

// signed is the transaction with what a wallet fills in.
func (t *Transaction) signed() (*wire.Transaction, error) {
	tx := *t.tx
	tx.Signed = true
	if t.Deploy == nil {
		tx.Calldata = wire.ExecuteCalldata(tx.Calls)
		return &tx, nil
	}
	if t.Deploy.ClassHash == nil || t.Deploy.ClassHash.IsZero() || t.Deploy.ContractAddressSalt == nil {
		return nil, fault.Invalid("classHash", "is required, and so is the salt: the class of the account, which only its wallet knows")
	}
	tx.Deploy = wire.Deploy{ClassHash: *t.Deploy.ClassHash, Salt: *t.Deploy.ContractAddressSalt}
	for _, f := range t.Deploy.ConstructorCalldata {
		if f == nil {
			return nil, fault.Invalid("constructorCalldata", "has a felt that is nil")
		}
		tx.Deploy.ConstructorCalldata = append(tx.Deploy.ConstructorCalldata, *f)
	}
	if at := tx.Deploy.Address(); at != tx.Sender {
		return nil, fault.Invalid("classHash", "with salt and constructor calldata it makes the account %s, must make %s", wire.Hex64(at), wire.Hex64(tx.Sender))
	}
	return &tx, nil
}
