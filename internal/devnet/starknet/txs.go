package starknet

import (
	"github.com/swapper-go/swapper/internal/devnet/starknet/contracts"
	"github.com/swapper-go/swapper/internal/starknet/wire"
)

// writeTx writes a transaction.
func writeTx(tx *contracts.Tx, withHash bool) map[string]any {
	if !isV3(tx) {
		out := map[string]any{"type": tx.Type, "version": "0x0", "class_hash": wire.Hex(tx.Deploy.ClassHash), "contract_address_salt": "0x0",
			"constructor_calldata": hexes(tx.Deploy.ConstructorCalldata)}
		if withHash {
			out["transaction_hash"] = wire.Hex(tx.Hash)
		}
		return out
	}
	bound := func(b wire.Bound) map[string]string {
		return map[string]string{"max_amount": hexOfUint(b.MaxAmount), "max_price_per_unit": hexOf(b.MaxPrice)}
	}
	out := map[string]any{
		"type": tx.Type, "version": "0x3", "signature": hexes(tx.Signature), "nonce": hexOfUint(tx.Nonce), "tip": hexOfUint(tx.Tip),
		"resource_bounds": map[string]any{"l1_gas": bound(tx.Bounds.L1), "l2_gas": bound(tx.Bounds.L2), "l1_data_gas": bound(tx.Bounds.L1Data)},
		"paymaster_data":  hexes(tx.PaymasterData), "nonce_data_availability_mode": tx.NonceMode, "fee_data_availability_mode": tx.FeeMode,
	}
	if tx.Type == wire.DeployAccount {
		out["class_hash"], out["contract_address_salt"], out["constructor_calldata"] = wire.Hex(tx.Deploy.ClassHash), wire.Hex(tx.Deploy.Salt), hexes(tx.Deploy.ConstructorCalldata)
	} else {
		out["sender_address"], out["calldata"], out["account_deployment_data"] = wire.Hex(tx.Sender), hexes(tx.Calldata), hexes(tx.AccountDeploymentData)
	}
	if withHash {
		out["transaction_hash"] = wire.Hex(tx.Hash)
	}
	return out
}

// isV3 reports whether a transaction is one that an account sent. The contracts that
// there are from the start came as transactions of the oldest kind.
func isV3(tx *contracts.Tx) bool { return tx.Type == wire.Invoke || tx.Type == wire.DeployAccount }

// tx finds the transaction that a request is about in a block, the open one included.
func (q *request) tx() (*contracts.Executed, *NodeError) {
	hash, err := q.felt("transaction_hash")
	if err != nil {
		return nil, err
	}
	tx := q.view.Tx(hash)
	if tx == nil || q.fault.NoOpenBlock && q.view.IsOpen(tx.Block) {
		return nil, txNotFound
	}
	return tx, nil
}

func (q *request) getTransactionByHash() (any, *NodeError) {
	tx, err := q.tx()
	if err != nil {
		return nil, err
	}
	return writeTx(tx.Tx, true), nil
}

func (q *request) getTransactionByBlockIDAndIndex() (any, *NodeError) {
	b, err := q.block()
	if err != nil {
		return nil, err
	}
	var index int
	if err := q.param("index", &index); err != nil {
		return nil, err
	}
	if index < 0 || index >= len(b.Txs) {
		return nil, wrongIndex
	}
	return writeTx(b.Txs[index].Tx, true), nil
}

func (q *request) getTransactionReceipt() (any, *NodeError) {
	tx, err := q.tx()
	if err != nil {
		return nil, err
	}
	return q.receipt(tx, true), nil
}

// receipt writes a receipt, with its block if it is not inside of one.
func (q *request) receipt(tx *contracts.Executed, withBlock bool) map[string]any {
	events := []any{}
	for _, e := range tx.Events {
		events = append(events, writeEvent(e))
	}
	out := map[string]any{
		"type": tx.Type, "transaction_hash": wire.Hex(tx.Hash), "actual_fee": map[string]string{"amount": hexOf(tx.Fee), "unit": "FRI"},
		"messages_sent": []any{}, "events": events, "execution_status": "SUCCEEDED", "finality_status": q.finality(tx.Block),
		"execution_resources": q.resources(tx.Gas),
	}
	if tx.Reverted != "" {
		out["execution_status"], out["revert_reason"] = "REVERTED", tx.Reverted
	}
	if tx.Type != wire.Invoke {
		out["contract_address"] = wire.Hex(tx.Sender)
	}
	if b := tx.Block; withBlock && !q.view.IsOpen(b) {
		out["block_hash"], out["block_number"] = wire.Hex(b.Hash), b.Number
	} else if withBlock && q.version >= V9 {
		out["block_number"] = b.Number
	}
	return out
}

// stepGas is what a step of the virtual machine costs, which version 0.7 counts.
const stepGas = 100

// resources writes what a transaction has used.
func (q *request) resources(g wire.Gas) any {
	if q.version < V8 {
		return map[string]any{"steps": g.L2 / stepGas, "data_availability": map[string]uint64{"l1_gas": g.L1, "l1_data_gas": g.L1Data}}
	}
	return map[string]uint64{"l1_gas": g.L1, "l1_data_gas": g.L1Data, "l2_gas": g.L2}
}

func (q *request) getTransactionStatus() (any, *NodeError) {
	tx, err := q.tx()
	if err == nil {
		out := map[string]string{"finality_status": q.finality(tx.Block), "execution_status": "SUCCEEDED"}
		if tx.Reverted != "" {
			out["execution_status"] = "REVERTED"
			if q.version >= V8 {
				out["failure_reason"] = tx.Reverted
			}
		}
		return out, nil
	}
	hash, wrong := q.felt("transaction_hash")
	if wrong == nil && q.view.Waiting(hash) != nil {
		return map[string]string{"finality_status": "RECEIVED"}, nil
	}
	return nil, err
}
