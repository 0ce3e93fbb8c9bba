package starknet

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/internal/bigs"
	"github.com/swapper-go/swapper/internal/jsonrpc"
	"github.com/swapper-go/swapper/internal/starknet/rpc"
	"github.com/swapper-go/swapper/internal/starknet/wire"
)

// Admit takes one round trip. Transactions are tried one after the other on the block
// that is being made, up to the first that reveals a secret; with them the account says
// whether the signatures are its own.
func (k *contract) Admit(ctx context.Context, plan chains.Plan, signed []chains.Signed) error {
	if len(signed) == 0 {
		return nil
	}
	c := k.chain
	txs := make([]*wire.Transaction, len(signed))
	for i, s := range signed {
		tx, err := wire.ParseTransaction(string(s.Raw))
		if err != nil {
			return fault.Invalid(fieldOf(i), "%w", err)
		}
		txs[i] = tx
	}
	first := txs[0]
	id, err := first.Hash()
	if err != nil {
		return fault.Invalid(fieldOf(0), "%w", err)
	}
	of := sender{at: first.Sender}
	var head rpc.Head
	var progress rpc.Progress
	var balance rpc.Felts
	requests := append([]rpc.Request{rpc.HeadRequest(&head)}, of.requests()...)
	atProgress := len(requests)
	requests = append(requests, rpc.ProgressRequest(id, &progress), rpc.CallRequest(wire.STRK, wire.Selector(wire.EntryBalanceOf), []wire.Felt{first.Sender}, rpc.Latest, &balance))
	tried := len(requests)
	var trials []rpc.Simulation
	shown := 0
	for shown < len(signed) && !signed[shown].Reveals {
		shown++
	}
	if shown > 0 {
		trial, err := rpc.SimulateRequest(txs[:shown], &trials)
		if err != nil {
			return fault.Invalid(fieldOf(0), "%w", err)
		}
		requests = append(requests, trial)
	}
	if err := c.nodes.Batch(ctx, requests); err != nil {
		return err
	}
	if err := requests[0].Err; err != nil {
		return fmt.Errorf("%s: %w", requests[0].Method, err)
	}
	if err := of.read(requests[1:]); err != nil {
		return err
	}
	switch err := requests[atProgress].Err; {
	case err == nil && progress != rpc.Rejected:
		return nil // the network has it already
	case err != nil && !rpc.IsNoTx(err):
		return fmt.Errorf("%s: %w", requests[atProgress].Method, err)
	}
	if err := demandPrices(head.Prices, txs); err != nil {
		return err
	}
	if requests[atProgress+1].Err == nil {
		if err := demandBalance(balance, txs); err != nil {
			return err
		}
	}
	switch next := c.sent.Next(wire.Hex64(first.Sender), of.pending, c.env.Now()); {
	case first.Nonce < of.mined:
		return fault.Invalid(fieldOf(0), "has nonce %d, which is already used: the account's next nonce is %d", first.Nonce, of.mined)
	case first.Nonce > next:
		return fault.Invalid(fieldOf(0), "has nonce %d, but the account's transactions from nonce %d on are missing: submit all of the action's transactions in order", first.Nonce, next)
	case of.absent && first.Nonce == 0 && first.Type != wire.DeployAccount:
		return fault.Invalid(fieldOf(0), "is of an account that is not deployed: submit its deployment first, as it was handed out")
	}
	if first.Nonce != of.pending || shown == 0 {
		return nil
	}
	return k.judge(plan, signed, requests[tried].Err, trials)
}

// judge reads what came of trying transactions.
func (k *contract) judge(plan chains.Plan, signed []chains.Signed, refused error, trials []rpc.Simulation) error {
	if rpc.IsRefusal(refused) {
		why, i := rpc.RevertReason(refused), min(failedAt(refused), len(signed)-1)
		if wire.RefusesSignature(why) {
			return fault.Invalid(fieldOf(i), "is not signed by its account, but with another key: %w", rpc.Reason(why))
		}
		return fault.Invalid(fieldOf(i), "cannot be executed: %w", rpc.Reason(why))
	}
	if refused != nil {
		return nil // the node's trouble, or it does not try transactions
	}
	for i, t := range trials {
		if !t.Reverted {
			continue
		}
		if jsonrpc.Says(t.Reason, "Insufficient max L", "Out of gas") {
			return fault.Invalid(fieldOf(i), "allows too little gas, and would be executed without effect: sign it with higher bounds: %w", rpc.Reason(t.Reason))
		}
		if k.leftOut(plan, signed[i]) {
			return fault.Invalid(fieldOf(i), "cannot be executed without the approval before the call, which is missing: sign the transaction as it was handed out: %w", rpc.Reason(t.Reason))
		}
		return fault.New(fault.InvalidState, "the contract would refuse the transaction now: %w", rpc.Reason(t.Reason))
	}
	return nil
}

// leftOut reports whether a transaction opens an escrow without an approval that goes
// with it.
func (k *contract) leftOut(plan chains.Plan, s chains.Signed) bool {
	step := plan.Steps[s.Step]
	tx, err := wire.ParseTransaction(string(s.Raw))
	if err != nil || step.Kind != chains.StepInit || tx.Type != wire.Invoke {
		return false
	}
	want, err := k.calls(context.Background(), step, tx.Sender, false)
	if err != nil {
		return false
	}
	made, err := wire.ParseExecuteCalldata(tx.Calldata)
	return err == nil && len(made) < len(want[0])
}

// demandPrices refuses transactions that nodes may take but that are not executed at the
// present prices.
func demandPrices(p rpc.Prices, txs []*wire.Transaction) error {
	for i, tx := range txs {
		for _, of := range []struct {
			name        string
			offer, asks *big.Int
			amount      uint64
		}{{"L1 gas", tx.Bounds.L1.MaxPrice, p.L1, tx.Bounds.L1.MaxAmount}, {"L2 gas", tx.Bounds.L2.MaxPrice, p.L2, 1}, {"L1 data gas", tx.Bounds.L1Data.MaxPrice, p.L1Data, 1}} {
			if of.amount > 0 && bigs.OrZero(of.offer).Cmp(bigs.OrZero(of.asks)) < 0 {
				return fault.Invalid(fieldOf(i), "offers at most %s fri for a unit of %s, below the latest block's price of %s, and would not be executed", bigs.OrZero(of.offer), of.name, of.asks)
			}
		}
	}
	return nil
}

// demandBalance refuses transactions whose bounds exceed what the account has: nodes do
// not take them, whatever they would cost in the end.
func demandBalance(answer []wire.Felt, txs []*wire.Transaction) error {
	has, err := wire.ReadU256(answer)
	if err != nil {
		return fault.New(fault.Upstream, "balance of the account: %w", err)
	}
	if need := mostOf(txs[0]); need.Cmp(has) > 0 {
		return fault.Invalid(fieldOf(0), "may cost up to %s fri, but the account has %s", need, has)
	}
	return nil
}

// failedAt is which of several transactions a node refuses, as far as it tells.
func failedAt(err error) int {
	e, ok := errors.AsType[*jsonrpc.Error](err)
	if !ok {
		return 0
	}
	var of struct {
		Index int `json:"transaction_index"`
	}
	if json.Unmarshal(e.Data, &of) != nil || of.Index < 0 {
		return 0
	}
	return of.Index
}

// mostOf is what a transaction may cost, its tip included.
func mostOf(tx *wire.Transaction) *big.Int {
	tip := new(big.Int).SetUint64(tx.Tip)
	return tip.Mul(tip, new(big.Int).SetUint64(tx.Bounds.L2.MaxAmount)).Add(tip, tx.Bounds.MaxFee())
}
