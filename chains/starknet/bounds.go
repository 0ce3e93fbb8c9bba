package starknet

import (
	"context"
	"slices"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/internal/starknet/rpc"
	"github.com/swapper-go/swapper/internal/starknet/wire"
)

// fitBounds raises the bounds of gas of transactions that bring headers to the relay, and
// of what follows them, to what they take when a node tries them, with a margin. The
// protocol's constant for a header leaves eight percent on public networks, and a
// transaction that runs out of gas does so whenever it is sent. It takes one round trip
// if the relay is behind, else none. A node that does not say what they take leaves the
// constants: [contract.Admit] tries what was signed.
func (k *contract) fitBounds(ctx context.Context, plan chains.Plan, txs []*wire.Transaction) error {
	relays := slices.ContainsFunc(txs, func(tx *wire.Transaction) bool {
		return slices.ContainsFunc(tx.Calls, func(c wire.Call) bool { return c.Role == wire.RoleRelay })
	})
	if !relays || slices.ContainsFunc(txs, func(tx *wire.Transaction) bool { return tx.Type != wire.Invoke }) ||
		slices.ContainsFunc(plan.Steps, func(s chains.Step) bool { return s.Kind == chains.StepClaimSecret }) { // which no node may see yet
		return nil
	}
	var used []rpc.Estimate
	trial, err := rpc.TrialRequest(txs, &used)
	if err != nil {
		return err
	}
	requests := []rpc.Request{trial}
	if err := k.chain.nodes.Ask(ctx, requests); err != nil || requests[0].Err != nil {
		return ctx.Err()
	}
	for i, tx := range txs {
		tx.Bounds = tx.Bounds.Fit(used[i].Gas)
	}
	return nil
}
