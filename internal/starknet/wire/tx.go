package wire

import (
	"encoding/json"
	"fmt"
	"math/big"

	"github.com/NethermindEth/starknet.go/hash"
	"github.com/NethermindEth/starknet.go/rpc"

	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/internal/bigs"
)

// TxType is the type of a transaction.
type TxType string

// The types that are handed out and taken back.
const (
	Invoke        TxType = "INVOKE"         // an account makes calls
	DeployAccount TxType = "DEPLOY_ACCOUNT" // an account comes into being
)

// DAMode says where a transaction's nonce or fee is kept. Networks know only the
// first so far.
type DAMode = rpc.DataAvailabilityMode

// The modes.
const (
	DAModeL1 = rpc.DAModeL1
	DAModeL2 = rpc.DAModeL2
)

// Details are what transactions of both types have in common (§10.1).
type Details struct {
	Sender                Felt
	ChainID               Felt
	Nonce                 uint64
	Bounds                Bounds
	Tip                   uint64 // fri per unit of L2 gas, paid on top
	PaymasterData         []Felt
	AccountDeploymentData []Felt
	NonceMode, FeeMode    DAMode
}

// Transaction is a transaction of version 3: to be signed, or signed.
type Transaction struct {
	Type TxType
	Details

	Calls  []Call // of an [Invoke] that is handed out: what the text lists, and what was listed in a text
	Deploy Deploy // of a [DeployAccount]; class hash zero: the wallet fills in its own

	Signed    bool
	Calldata  []Felt // of a signed [Invoke], as the account gets it
	Signature []Felt
}

// NewInvoke returns the transaction by which sender makes calls, with bounds for their
// gas at the rate.
func (n Network) NewInvoke(sender Felt, nonce uint64, rate FeeRate, calls []Call) *Transaction {
	return &Transaction{Type: Invoke, Details: n.details(sender, nonce, rate.Bounds(gasOf(calls))), Calls: calls}
}

// NewDeploy returns the transaction that must precede the first one of an account that
// is not deployed: the wallet fills in its class, salt and constructor. rate is the current
// one, not the swap's (§10.2).
func (n Network) NewDeploy(sender Felt, rate FeeRate) *Transaction {
	return &Transaction{Type: DeployAccount, Details: n.details(sender, 0, rate.Bounds(gasDeploy))}
}

func (n Network) details(sender Felt, nonce uint64, b Bounds) Details {
	return Details{Sender: sender, ChainID: n.ChainIDFelt(), Nonce: nonce, Bounds: b, NonceMode: DAModeL1, FeeMode: DAModeL1}
}

// RPC returns the transaction in the library's types: as an invocation, or as a
// deployment. The other one is nil.
func (t *Transaction) RPC() (*rpc.InvokeTxnV3, *rpc.DeployAccountTxnV3) {
	if t.Type == DeployAccount {
		return nil, t.rpcDeploy()
	}
	return t.rpcInvoke(), nil
}

// calldata is what the account gets.
func (t *Transaction) calldata() []Felt {
	if t.Signed {
		return t.Calldata
	}
	return ExecuteCalldata(t.Calls)
}

var errUnsigned = fault.Invalid("signed", "is required: the transaction is not signed")

// Hash is what the account signs, and the transaction's id (§10.5).
func (t *Transaction) Hash() (Felt, error) { return t.hash(rpc.TransactionV3) }

// QueryHash is what an account signs for nodes that shall estimate or simulate the
// transaction and must not be able to send it: its version has another bit.
func (t *Transaction) QueryHash() (Felt, error) { return t.hash(rpc.TransactionV3WithQueryBit) }

func (t *Transaction) hash(version rpc.TransactionVersion) (Felt, error) {
	chainID := t.ChainID
	var h *Felt
	var err error
	if t.Type == DeployAccount {
		sender, tx := t.Sender, t.rpcDeploy()
		tx.Version = version
		h, err = hash.TransactionHashDeployAccountV3(tx, &sender, &chainID)
	} else {
		tx := t.rpcInvoke()
		tx.Version = version
		h, err = hash.TransactionHashInvokeV3(tx, &chainID)
	}
	if err != nil {
		return Felt{}, fmt.Errorf("hash of the transaction: %w", err)
	}
	return *h, nil
}

// ID is the id of a signed transaction, as nodes write it: minimal hexadecimal. Ids are
// compared as numbers, since not everybody writes them so (§10.5).
func (t *Transaction) ID() (string, error) {
	if !t.Signed {
		return "", errUnsigned
	}
	h, err := t.Hash()
	if err != nil {
		return "", err
	}
	return Hex(h), nil
}

// Trial returns an unsigned invocation as if it were signed, with nothing: nodes can try
// it, and it cannot be executed.
func (t *Transaction) Trial() *Transaction {
	trial := *t
	trial.Calldata, trial.Signed = t.calldata(), true
	return &trial
}

// Broadcast returns a signed transaction as nodes take it, and the method and the name
// of its parameter (§10.6). Details beside the signature win over those in it.
func (t *Transaction) Broadcast() (method, param string, body json.RawMessage, err error) {
	if !t.Signed {
		return "", "", nil, errUnsigned
	}
	if t.Type == DeployAccount {
		body, err = json.Marshal(t.rpcDeploy())
		return "starknet_addDeployAccountTransaction", "deploy_account_transaction", body, err
	}
	body, err = json.Marshal(t.rpcInvoke())
	return "starknet_addInvokeTransaction", "invoke_transaction", body, err
}

func (t *Transaction) rpcInvoke() *rpc.InvokeTxnV3 {
	sender, nonce := t.Sender, FeltOf(t.Nonce)
	return &rpc.InvokeTxnV3{
		Type: rpc.TransactionTypeInvoke, Version: rpc.TransactionV3, SenderAddress: &sender, Calldata: pointers(t.calldata()), Signature: pointers(t.Signature), Nonce: &nonce,
		ResourceBounds: t.Bounds.rpc(), Tip: rpcUint64(t.Tip), PayMasterData: pointers(t.PaymasterData), AccountDeploymentData: pointers(t.AccountDeploymentData),
		NonceDataMode: t.NonceMode, FeeMode: t.FeeMode,
	}
}

func (t *Transaction) rpcDeploy() *rpc.DeployAccountTxnV3 {
	nonce, salt, class := FeltOf(t.Nonce), t.Deploy.Salt, t.Deploy.ClassHash
	return &rpc.DeployAccountTxnV3{
		Type: rpc.TransactionTypeDeployAccount, Version: rpc.TransactionV3, Signature: pointers(t.Signature), Nonce: &nonce, ContractAddressSalt: &salt,
		ConstructorCalldata: pointers(t.Deploy.ConstructorCalldata), ClassHash: &class, ResourceBounds: t.Bounds.rpc(), Tip: rpcUint64(t.Tip),
		PayMasterData: pointers(t.PaymasterData), NonceDataMode: t.NonceMode, FeeMode: t.FeeMode,
	}
}

func (b Bounds) rpc() *rpc.ResourceBoundsMapping {
	of := func(b Bound) rpc.ResourceBounds {
		return rpc.ResourceBounds{MaxAmount: rpcUint64(b.MaxAmount), MaxPricePerUnit: rpc.U128(hexOf(bigs.OrZero(b.MaxPrice)))}
	}
	return &rpc.ResourceBoundsMapping{L1Gas: of(b.L1), L2Gas: of(b.L2), L1DataGas: of(b.L1Data)}
}

func rpcUint64(n uint64) rpc.U64 { return rpc.U64(fmt.Sprintf("%#x", n)) }

func hexOf(n *big.Int) string { return fmt.Sprintf("%#x", n) }
