package starknet

import (
	"github.com/swapper-go/swapper/internal/devnet/starknet/contracts"
	"github.com/swapper-go/swapper/internal/starknet/wire"
)

func (q *request) traceTransaction() (any, *NodeError) {
	tx, err := q.tx()
	if err != nil {
		hash, wrong := q.felt("transaction_hash")
		if wrong == nil && q.view.Waiting(hash) != nil {
			return nil, noTrace
		}
		return nil, err
	}
	if q.fault.NoTraces {
		return nil, noTrace
	}
	return q.trace(tx.Tx, tx.Result), nil
}

var noTrace = &NodeError{Code: 10, Message: "No trace available for transaction", Data: map[string]string{"status": "RECEIVED"}}

func (q *request) traceBlockTransactions() (any, *NodeError) {
	b, err := q.block()
	if err != nil {
		return nil, err
	}
	all := []any{}
	for _, tx := range b.Txs {
		all = append(all, map[string]any{"transaction_hash": wire.Hex(tx.Hash), "trace_root": q.trace(tx.Tx, tx.Result)})
	}
	return all, nil
}

// trace writes what a transaction did, call by call.
func (q *request) trace(tx *contracts.Tx, r *contracts.Result) any {
	kind := tx.Type
	if !isV3(tx) { // traces know no older type
		kind = wire.DeployAccount
	}
	out := map[string]any{"type": kind, "state_diff": q.diff(r.Diff), "execution_resources": q.resources(r.Gas)}
	for name, i := range map[string]*contracts.Invocation{"validate_invocation": r.Validate, "constructor_invocation": r.Construct, "fee_transfer_invocation": r.FeeTransfer} {
		if i != nil {
			out[name] = q.invocation(i)
		}
	}
	switch {
	case r.Execute == nil:
	case r.Reverted != "":
		out["execute_invocation"] = map[string]string{"revert_reason": r.Reverted}
	default:
		out["execute_invocation"] = q.invocation(r.Execute)
	}
	return out
}

func (q *request) invocation(i *contracts.Invocation) map[string]any {
	calls, events := []any{}, []any{}
	for _, c := range i.Calls {
		calls = append(calls, q.invocation(c))
	}
	for _, e := range i.Events {
		events = append(events, map[string]any{"order": e.Order, "keys": hexes(e.Keys), "data": hexes(e.Data)})
	}
	result := i.Result
	if i.Failed != nil {
		result = i.Failed.Data
	}
	out := map[string]any{
		"contract_address": wire.Hex(i.Contract), "entry_point_selector": wire.Hex(i.Selector), "calldata": hexes(i.Calldata),
		"caller_address": wire.Hex(i.Caller), "class_hash": wire.Hex(i.Class), "entry_point_type": i.Entry, "call_type": i.Kind,
		"result": hexes(result), "calls": calls, "events": events, "messages": []any{},
	}
	if q.version < V8 {
		out["execution_resources"] = map[string]any{"steps": i.Gas / stepGas}
	} else {
		out["execution_resources"], out["is_reverted"] = map[string]uint64{"l1_gas": 0, "l2_gas": i.Gas}, i.Failed != nil
	}
	return out
}
