package starknet

import (
	"bytes"
	"encoding/json"
	"net/http"
	"slices"
	"strings"

	"github.com/swapper-go/swapper/internal/devnet/loopback"
	"github.com/swapper-go/swapper/internal/devnet/starknet/contracts"
)

type (
	call  = loopback.Call
	reply = loopback.Reply
)

// answer answers one call or a batch of them.
func (s *NodeServer) answer(w http.ResponseWriter, r *http.Request, f NodeFault, version NodeVersion) {
	lose := func(methods []string) bool {
		return f.LoseAnswer && slices.ContainsFunc(methods, func(m string) bool { return strings.HasPrefix(m, "starknet_add") })
	}
	s.rpc.Answer(w, r, f.MaxBatch, lose, func(q call) reply { return s.do(q, f, version) })
}

// request is a call under way.
type request struct {
	*NodeServer
	fault   NodeFault
	version NodeVersion // of the specification
	params  map[string]json.RawMessage
	view    *contracts.View // nil for methods that send
}

// method is what a node can be asked for: the names of its parameters in their order,
// and what answers, under the chain's lock unless it sends.
type method struct {
	params []string
	run    func(*request) (any, *NodeError)
	sends  bool
}

var methods = map[string]method{
	"starknet_specVersion":          {nil, (*request).specVersion, false},
	"starknet_chainId":              {nil, (*request).chainID, false},
	"starknet_syncing":              {nil, (*request).syncing, false},
	"starknet_blockNumber":          {nil, (*request).blockNumber, false},
	"starknet_blockHashAndNumber":   {nil, (*request).blockHashAndNumber, false},
	"starknet_getBlockWithTxHashes": {[]string{"block_id"}, (*request).getBlockWithTxHashes, false},
	"starknet_getBlockWithTxs":      {[]string{"block_id"}, (*request).getBlockWithTxs, false},
	"starknet_getBlockWithReceipts": {[]string{"block_id"}, (*request).getBlockWithReceipts, false},
	"starknet_getStateUpdate":       {[]string{"block_id"}, (*request).getStateUpdate, false},

	"starknet_getBlockTransactionCount":        {[]string{"block_id"}, (*request).getBlockTransactionCount, false},
	"starknet_getTransactionByBlockIdAndIndex": {[]string{"block_id", "index"}, (*request).getTransactionByBlockIDAndIndex, false},
	"starknet_getTransactionByHash":            {[]string{"transaction_hash"}, (*request).getTransactionByHash, false},
	"starknet_getTransactionReceipt":           {[]string{"transaction_hash"}, (*request).getTransactionReceipt, false},
	"starknet_getTransactionStatus":            {[]string{"transaction_hash"}, (*request).getTransactionStatus, false},
	"starknet_traceTransaction":                {[]string{"transaction_hash"}, (*request).traceTransaction, false},
	"starknet_traceBlockTransactions":          {[]string{"block_id"}, (*request).traceBlockTransactions, false},

	"starknet_getStorageAt":   {[]string{"contract_address", "key", "block_id"}, (*request).getStorageAt, false},
	"starknet_getNonce":       {[]string{"block_id", "contract_address"}, (*request).getNonce, false},
	"starknet_getClassHashAt": {[]string{"block_id", "contract_address"}, (*request).getClassHashAt, false},
	"starknet_getClassAt":     {[]string{"block_id", "contract_address"}, (*request).getClassAt, false},
	"starknet_getClass":       {[]string{"block_id", "class_hash"}, (*request).getClass, false},
	"starknet_call":           {[]string{"request", "block_id"}, (*request).call, false},
	"starknet_getEvents":      {[]string{"filter"}, (*request).getEvents, false},

	"starknet_getMessagesStatus":  {[]string{"transaction_hash"}, (*request).getMessagesStatus, false},
	"starknet_estimateMessageFee": {[]string{"message", "block_id"}, (*request).estimateMessageFee, false},
	"starknet_getStorageProof":    {[]string{"block_id", "class_hashes", "contract_addresses", "contracts_storage_keys"}, (*request).getStorageProof, false},

	"starknet_estimateFee":                 {[]string{"request", "simulation_flags", "block_id"}, (*request).estimateFee, false},
	"starknet_simulateTransactions":        {[]string{"block_id", "transactions", "simulation_flags"}, (*request).simulateTransactions, false},
	"starknet_addInvokeTransaction":        {[]string{"invoke_transaction"}, (*request).addInvokeTransaction, true},
	"starknet_addDeployAccountTransaction": {[]string{"deploy_account_transaction"}, (*request).addDeployAccountTransaction, true},
}

// do carries one call out.
func (s *NodeServer) do(q call, f NodeFault, version NodeVersion) reply {
	m, known := methods[q.Method]
	r := &request{NodeServer: s, fault: f, version: version}
	switch {
	case q.Version != "2.0" || q.Method == "":
		return loopback.Failed(q.ID, &NodeError{Code: -32600, Message: "Invalid Request"})
	case !known, slices.Contains(f.Refuse, q.Method):
		return loopback.Failed(q.ID, &NodeError{Code: -32601, Message: "Method not found", Data: q.Method})
	case slices.Contains(f.Fail, q.Method):
		return loopback.Failed(q.ID, internalError)
	}
	var failure *NodeError
	if r.params, failure = named(q.Params, m.params); failure != nil {
		return loopback.Failed(q.ID, failure)
	}
	result, failure := r.carryOut(m)
	if failure != nil {
		return loopback.Failed(q.ID, failure)
	}
	if f.Rewrite != nil {
		result = f.Rewrite(q.Method, r.params, result)
	}
	return loopback.Succeeded(q.ID, result)
}

// carryOut runs a method. What it returns may share memory with the chain, so it is
// written while nothing changes.
func (q *request) carryOut(m method) (result json.RawMessage, failure *NodeError) {
	run := func() {
		var value any
		if value, failure = m.run(q); failure != nil {
			return
		}
		var err error
		if result, err = json.Marshal(value); err != nil {
			failure = internalError
		}
	}
	if m.sends {
		run()
		return result, failure
	}
	q.chain().Read(q.fault.Behind, func(v *contracts.View) {
		q.view = v
		run()
	})
	return result, failure
}

// named returns parameters by name, however they were passed.
func named(raw json.RawMessage, names []string) (map[string]json.RawMessage, *NodeError) {
	raw = bytes.TrimSpace(raw)
	all := map[string]json.RawMessage{}
	switch {
	case len(raw) == 0 || string(raw) == "null":
		return all, nil
	case raw[0] == '{':
		if err := json.Unmarshal(raw, &all); err != nil {
			return nil, wrongParams(err.Error())
		}
		for name, v := range all {
			if string(v) == "null" {
				delete(all, name)
			}
		}
		return all, nil
	}
	var list []json.RawMessage
	if err := json.Unmarshal(raw, &list); err != nil {
		return nil, wrongParams(err.Error())
	}
	for i, v := range list {
		if i < len(names) && string(v) != "null" {
			all[names[i]] = v
		}
	}
	return all, nil
}
