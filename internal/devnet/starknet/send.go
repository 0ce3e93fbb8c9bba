package starknet

import (
	"encoding/json"
	"errors"

	"github.com/swapper-go/swapper/internal/devnet/starknet/contracts"
	"github.com/swapper-go/swapper/internal/starknet/wire"
)

// The versions of a transaction: to be sent, and to ask for its fee.
const (
	sentVersion  = "0x3"
	queryVersion = "0x100000000000000000000000000000003"
)

type boundText struct {
	Amount *hexNumber `json:"max_amount"`
	Price  *hexNumber `json:"max_price_per_unit"`
}

// broadcast is a transaction as clients write it.
type broadcast struct {
	Type      wire.TxType  `json:"type"`
	Version   string       `json:"version"`
	Sender    *hexFelt     `json:"sender_address"`
	Calldata  *[]hexFelt   `json:"calldata"`
	Signature *[]hexFelt   `json:"signature"`
	Nonce     *hexNumber   `json:"nonce"`
	Tip       *hexNumber   `json:"tip"`
	Paymaster []hexFelt    `json:"paymaster_data"`
	Account   []hexFelt    `json:"account_deployment_data"`
	NonceMode *wire.DAMode `json:"nonce_data_availability_mode"`
	FeeMode   *wire.DAMode `json:"fee_data_availability_mode"`
	Bounds    struct {
		L1     boundText `json:"l1_gas"`
		L2     boundText `json:"l2_gas"`
		L1Data boundText `json:"l1_data_gas"`
	} `json:"resource_bounds"`
	Class       *hexFelt   `json:"class_hash"`
	Salt        *hexFelt   `json:"contract_address_salt"`
	Constructor *[]hexFelt `json:"constructor_calldata"`
}

func (b boundText) bound() (wire.Bound, bool) {
	const priceBits = 128
	if b.Amount == nil || b.Price == nil || !b.Amount.IsUint64() || b.Price.BitLen() > priceBits {
		return wire.Bound{}, false
	}
	return wire.Bound{MaxAmount: b.Amount.Uint64(), MaxPrice: b.Price.Int}, true
}

// tx makes a transaction of it.
func (b *broadcast) tx(chainID contracts.Felt) (*contracts.Tx, *NodeError) {
	switch {
	case b.Type != wire.Invoke && b.Type != wire.DeployAccount:
		return nil, wrongParams("type: must be INVOKE or DEPLOY_ACCOUNT")
	case b.Version != sentVersion && b.Version != queryVersion:
		return nil, unsupportedVersion
	}
	bounds, ok := wire.Bounds{}, true
	for _, p := range []struct {
		from boundText
		to   *wire.Bound
	}{{b.Bounds.L1, &bounds.L1}, {b.Bounds.L2, &bounds.L2}, {b.Bounds.L1Data, &bounds.L1Data}} {
		var fits bool
		*p.to, fits = p.from.bound()
		ok = ok && fits
	}
	switch {
	case !ok:
		return nil, wrongParams("resource_bounds: l1_gas, l2_gas and l1_data_gas each need max_amount, of 64 bits, and max_price_per_unit, of 128 bits")
	case b.Nonce == nil || !b.Nonce.IsUint64():
		return nil, wrongParams("nonce: must be a number of 64 bits")
	case b.Tip == nil || !b.Tip.IsUint64():
		return nil, wrongParams("tip: must be a number of 64 bits")
	case b.Signature == nil:
		return nil, wrongParams("missing field `signature`")
	case b.NonceMode == nil || b.FeeMode == nil:
		return nil, wrongParams("missing field `nonce_data_availability_mode` or `fee_data_availability_mode`")
	}
	t := &wire.Transaction{Type: b.Type, Signed: true, Signature: feltsOf(*b.Signature), Details: wire.Details{ChainID: chainID, Nonce: b.Nonce.Uint64(), Bounds: bounds,
		Tip: b.Tip.Uint64(), PaymasterData: feltsOf(b.Paymaster), AccountDeploymentData: feltsOf(b.Account), NonceMode: *b.NonceMode, FeeMode: *b.FeeMode}}
	if b.Type == wire.DeployAccount {
		if b.Class == nil || b.Salt == nil || b.Constructor == nil {
			return nil, wrongParams("class_hash, contract_address_salt and constructor_calldata are required")
		}
		t.Deploy = wire.Deploy{ClassHash: b.Class.Felt, Salt: b.Salt.Felt, ConstructorCalldata: feltsOf(*b.Constructor)}
	} else {
		if b.Sender == nil || b.Calldata == nil || len(*b.Calldata) == 0 {
			return nil, wrongParams("sender_address and calldata are required")
		}
		t.Sender, t.Calldata = b.Sender.Felt, feltsOf(*b.Calldata)
	}
	tx, err := contracts.NewTx(t, b.Version == queryVersion)
	if err != nil {
		return nil, wrongParams(err.Error())
	}
	return tx, nil
}

// send takes the transaction of a parameter, which must be of a type.
func (q *request) send(param string, kind wire.TxType) (*contracts.Tx, *NodeError) {
	var b broadcast
	if err := q.param(param, &b); err != nil {
		return nil, err
	}
	if b.Type != kind {
		return nil, wrongParams(param + ".type: must be " + string(kind))
	}
	tx, err := b.tx(q.chain().ID())
	if err != nil {
		return nil, err
	}
	if q.fault.LoseTransaction {
		return tx, nil
	}
	if refused := (*contracts.Refusal)(nil); errors.As(q.chain().Send(tx), &refused) {
		return nil, q.refused(refused)
	}
	return tx, nil
}

func (q *request) addInvokeTransaction() (any, *NodeError) {
	tx, err := q.send("invoke_transaction", wire.Invoke)
	if err != nil {
		return nil, err
	}
	return map[string]string{"transaction_hash": wire.Hex(tx.Hash)}, nil
}

func (q *request) addDeployAccountTransaction() (any, *NodeError) {
	tx, err := q.send("deploy_account_transaction", wire.DeployAccount)
	if err != nil {
		return nil, err
	}
	return map[string]string{"transaction_hash": wire.Hex(tx.Hash), "contract_address": wire.Hex(tx.Sender)}, nil
}

// simulated reads transactions and flags and runs them.
func (q *request) simulated(param string, always contracts.Flags) ([]*contracts.Tx, []*contracts.Result, *NodeError) {
	b, failure := q.block()
	if failure != nil {
		return nil, nil, failure
	}
	var all []broadcast
	if failure = q.param(param, &all); failure != nil {
		return nil, nil, failure
	}
	flags := always
	if raw, ok := q.params["simulation_flags"]; ok {
		var names []string
		if err := json.Unmarshal(raw, &names); err != nil {
			return nil, nil, wrongParams("simulation_flags: " + err.Error())
		}
		for _, name := range names {
			switch name {
			case "SKIP_VALIDATE":
				flags.SkipValidate = true
			case "SKIP_FEE_CHARGE":
				flags.SkipFee = true
			default:
				return nil, nil, wrongParams("simulation_flags: unknown flag " + name)
			}
		}
	}
	var txs []*contracts.Tx
	for i := range all {
		tx, failure := all[i].tx(q.view.ChainID())
		if failure != nil {
			return nil, nil, failure
		}
		txs = append(txs, tx)
	}
	results, refused := q.view.Simulate(txs, flags, b)
	if refused != nil {
		return nil, nil, executionError(len(results), refused.Text)
	}
	return txs, results, nil
}

func executionError(index int, why any) *NodeError {
	return &NodeError{Code: 41, Message: "Transaction execution error", Data: map[string]any{"transaction_index": index, "execution_error": why}}
}

func (q *request) estimateFee() (any, *NodeError) {
	_, results, failure := q.simulated("request", contracts.Flags{SkipFee: true})
	if failure != nil {
		return nil, failure
	}
	all := []any{}
	for i, r := range results {
		if r.Reverted != "" {
			var why any = r.Reverted
			if r.Execute != nil && r.Execute.Failed != nil {
				why = q.execution(r.Execute)
			}
			return nil, executionError(i, why)
		}
		all = append(all, q.estimate(r))
	}
	return all, nil
}

// estimate writes what a transaction would cost.
func (q *request) estimate(r *contracts.Result) any {
	p := r.Prices.Fri
	if q.version < V8 {
		return map[string]string{"gas_consumed": hexOfUint(r.Gas.L1), "gas_price": hexOf(p.L1), "data_gas_consumed": hexOfUint(r.Gas.L1Data),
			"data_gas_price": hexOf(p.L1Data), "overall_fee": hexOf(r.Fee), "unit": "FRI"}
	}
	return map[string]string{"l1_gas_consumed": hexOfUint(r.Gas.L1), "l1_gas_price": hexOf(p.L1), "l2_gas_consumed": hexOfUint(r.Gas.L2), "l2_gas_price": hexOf(p.L2),
		"l1_data_gas_consumed": hexOfUint(r.Gas.L1Data), "l1_data_gas_price": hexOf(p.L1Data), "overall_fee": hexOf(r.Fee), "unit": "FRI"}
}

func (q *request) simulateTransactions() (any, *NodeError) {
	txs, results, failure := q.simulated("transactions", contracts.Flags{})
	if failure != nil {
		return nil, failure
	}
	all := []any{}
	for i, r := range results {
		all = append(all, map[string]any{"transaction_trace": q.trace(txs[i], r), "fee_estimation": q.estimate(r)})
	}
	return all, nil
}
