package solana

import (
	"context"
	"fmt"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/internal/solana/rpc"
	"github.com/swapper-go/swapper/internal/solana/wire"
)

// Admit takes one round trip. The first transaction is tried on the newest state,
// unless it reveals a secret; those after it depend on it.
func (k *contract) Admit(ctx context.Context, plan chains.Plan, signed []chains.Signed) error {
	if len(signed) == 0 {
		return nil
	}
	c := k.chain
	look := newLook(signed)
	requests := look.requests()
	txs := make([]*wire.Parsed, len(signed))
	for i, s := range signed {
		tx, err := wire.ParseTx(s.Raw)
		if err != nil {
			return fault.Invalid(fieldOf(i), "%w", err)
		}
		txs[i] = tx
	}
	needed := len(requests)
	var trial rpc.Simulation
	if !signed[0].Reveals {
		requests = append(requests, rpc.SimulateRequest(txs[0].Raw, true, false, rpc.Confirmed, &trial))
	}
	if err := c.node.Batch(ctx, requests); err != nil {
		return err
	}
	for _, r := range requests[:needed] {
		if r.Err != nil {
			return fmt.Errorf("%s: %w", r.Method, r.Err)
		}
	}
	c.noteHashes(&look.present)
	for i, tx := range txs {
		if look.known(i) != nil {
			continue
		}
		if c.hashes.over(tx.Blockhash, heightOf(look.latest)) {
			return fault.Invalid(fieldOf(i), "has expired: its block hash is too old; sign the transactions that are handed out now")
		}
	}
	if look.known(0) != nil || len(requests) == needed || requests[needed].Err != nil || trial.Err == nil {
		return nil
	}
	e := wire.ParseTxError(trial.Err)
	why := k.Explain(e, txs[0].Instructions)
	switch {
	case e.Instruction < 0 && e.Reason == "BlockhashNotFound":
		return nil // of a block that the node does not have yet
	case e.Instruction < 0:
		return fault.Invalid(fieldOf(0), "cannot be executed: %s", why)
	case k.leftOut(plan, signed[0]):
		return fault.Invalid(fieldOf(0), "cannot be executed without the transaction before it, which is missing: submit all of the action's transactions in order: %s", why)
	}
	return fault.New(fault.InvalidState, "the program would refuse the transaction now: %s", why)
}

// leftOut reports whether the first transaction that was handed in opens an escrow, and
// one before it that the plan may need, which wraps SOL, is missing.
func (k *contract) leftOut(plan chains.Plan, first chains.Signed) bool {
	if plan.Steps[first.Step].Kind != chains.StepInit {
		return false
	}
	d, err := k.SwapDataOf(plan.Steps[first.Step].Escrow)
	if err != nil {
		return false
	}
	rate, err := wire.ParseFeeRate(plan.FeeRate)
	if err != nil || !d.PayIn || d.Token != wire.WSOL || rate.Wrap != nil {
		return false
	}
	tx, err := wire.ParseTx(first.Raw)
	if err != nil {
		return false
	}
	for _, ix := range tx.Instructions {
		if ix.Program == k.Swap {
			return true // it is the opening itself
		}
	}
	return false
}
