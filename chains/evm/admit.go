package evm

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/ethereum/go-ethereum/common/hexutil"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/internal/evm/rpc"
	"github.com/swapper-go/swapper/internal/evm/wire"
)

// Admit takes one round trip. The first transaction is run as it would be if the
// next block took it, unless it reveals a secret or depends on earlier
// transactions: the approval or headers that it needs would be missing.
func (k *contracts) Admit(ctx context.Context, plan chains.Plan, signed []chains.Signed) error {
	txs := make([]*wire.Transaction, len(signed))
	for i, s := range signed {
		tx, err := wire.ParseTransaction(hexutil.Encode(s.Raw))
		if err != nil {
			return fault.Invalid(fieldOf(i), "%w", err)
		}
		txs[i] = tx
	}
	if len(txs) == 0 {
		return nil
	}
	first := txs[0]
	var mined, pending hexutil.Uint64
	var known *json.RawMessage
	var head *feeHead
	requests := []rpc.Request{
		{Method: "eth_getTransactionCount", Params: []any{first.From, "latest"}, Result: &mined},
		{Method: "eth_getTransactionCount", Params: []any{first.From, "pending"}, Result: &pending},
		{Method: "eth_getTransactionByHash", Params: []any{first.ID}, Result: &known},
		feeRequest(&head),
	}
	needed := len(requests)
	if !signed[0].Reveals {
		requests = append(requests, runRequest(first))
	}
	if err := k.chain.node.Batch(ctx, requests); err != nil {
		return err
	}
	for _, r := range requests[:needed] {
		if r.Err != nil {
			return fmt.Errorf("%s: %w", r.Method, r.Err)
		}
	}
	k.chain.noteFees(head)
	if known != nil {
		return nil
	}
	if err := demandBaseFee(head, txs); err != nil {
		return err
	}
	switch next := k.chain.nonces.Next(first.From.Hex(), uint64(pending), k.chain.env.Now()); {
	case first.Nonce < uint64(mined):
		return fault.Invalid(fieldOf(0), "has nonce %d, which is already used: the account's next nonce is %d", first.Nonce, uint64(mined))
	case first.Nonce > next:
		return fault.Invalid(fieldOf(0), "has nonce %d, but the account's transactions from nonce %d on are missing: submit all of the action's transactions in order", first.Nonce, next)
	}
	if first.Nonce != uint64(mined) || len(requests) == needed || !refusedRun(requests[needed].Err) {
		return nil
	}
	why := rpc.Refusal(requests[needed].Err)
	if k.leftOut(plan, first) {
		return fault.Invalid(fieldOf(0), "cannot be executed without the transaction before it, which is missing: submit all of the action's transactions in order: %w", why)
	}
	return fault.New(fault.InvalidState, "the contract would refuse the transaction now: %w", why)
}

// leftOut reports whether the first transaction that was handed in opens an escrow
// and is not the first that the plan may need: the approval before it is missing.
// Claims and refunds are not refused for that: another party may already have done
// the missing step.
func (k *contracts) leftOut(plan chains.Plan, first *wire.Transaction) bool {
	var calls []wire.Call
	var opens []bool
	for _, step := range plan.Steps {
		more, err := k.calls(context.Background(), step, first.From, false)
		if err != nil {
			return false
		}
		calls = append(calls, more...)
		for range more {
			opens = append(opens, step.Kind == chains.StepInit)
		}
	}
	at, err := k.Match(calls, 0, first)
	return err == nil && at > 0 && opens[at] && calls[at].Required()
}

func fieldOf(i int) string { return fieldIn("signedTxs", i) }

func fieldIn(list string, i int) string { return fmt.Sprintf("%s[%d]", list, i) }

// demandBaseFee refuses transactions that nodes accept but that cannot be mined
// at the current base fee (protocol: chain-evm.md §13.22).
func demandBaseFee(head *feeHead, txs []*wire.Transaction) error {
	if head == nil || head.BaseFee == nil {
		return nil
	}
	base := head.BaseFee.ToInt()
	for i, tx := range txs {
		if tx.FeeCap.Cmp(base) < 0 {
			return fault.Invalid(fieldOf(i), "offers at most %s wei per gas, below the latest block's base fee of %s, and would not be mined", tx.FeeCap, base)
		}
	}
	return nil
}

// runRequest executes a transaction without sending it.
func runRequest(tx *wire.Transaction) rpc.Request {
	return rpc.Request{Method: "eth_call", Params: []any{map[string]any{
		"from": tx.From, "to": tx.To, "gas": hexutil.Uint64(tx.Gas), "value": (*hexutil.Big)(tx.Value), "data": hexutil.Bytes(tx.Data),
	}, "latest"}, Result: new(hexutil.Bytes)}
}

// refusedRun reports whether a node says that a transaction, run now, fails; other
// errors are the node's trouble.
func refusedRun(err error) bool {
	return err != nil && (rpc.CodeOf(err) == 3 || rpc.Says(strings.ToLower(err.Error()), "revert", "insufficient funds", "out of gas"))
}
