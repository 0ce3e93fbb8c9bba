package starknet

import (
	"context"
	"fmt"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/internal/settle"
	"github.com/swapper-go/swapper/internal/starknet/rpc"
	"github.com/swapper-go/swapper/internal/starknet/wire"
)

// Build takes one round trip for steps that need no Bitcoin proof. A proof takes two
// more to find its header in the relay, one more when that is known from before, and
// those of [contract.syncPlan] if the relay is behind, with one to try what comes of
// it, see [contract.fitBounds]. A vault claim takes one more for
// the vault; the withdrawals before the wanted one are proven in parallel. The Bitcoin
// backend is asked meanwhile.
func (k *contract) Build(ctx context.Context, plan chains.Plan) (chains.Unsigned, error) {
	signer, err := account("signer", plan.Signer)
	if err != nil {
		return chains.Unsigned{}, err
	}
	var txs [][]wire.Call
	for _, step := range plan.Steps {
		more, err := k.calls(ctx, step, signer, true)
		if err != nil {
			return chains.Unsigned{}, at(step, err)
		}
		txs = append(txs, more...)
	}
	texts, err := k.serialize(ctx, plan, signer, txs)
	if err != nil {
		return chains.Unsigned{}, err
	}
	return chains.Unsigned{Txs: texts, Signer: wire.Hex64(signer)}, nil
}

// serialize gives transactions nonces and fees. An account that is not deployed is
// deployed by the first of them: two polls of a swap give the same nonces while what
// they ask for is not executed, see [settle.NonceBook.First].
func (k *contract) serialize(ctx context.Context, plan chains.Plan, signer wire.Felt, calls [][]wire.Call) ([]string, error) {
	c := k.chain
	of := sender{at: signer}
	states := planStates{}
	var head rpc.Head
	requests := append([]rpc.Request{rpc.PricesRequest(&head)}, of.requests()...)
	if err := states.ask(k, plan, &requests); err != nil {
		return nil, err
	}
	if err := c.nodes.Batch(ctx, requests); err != nil {
		return nil, err
	}
	if err := requests[0].Err; err != nil {
		return nil, fmt.Errorf("%s: %w", requests[0].Method, err)
	}
	if err := of.read(requests[1:]); err != nil {
		return nil, err
	}
	if err := states.check(requests, c.env.Now(), head.Time); err != nil {
		return nil, err
	}
	current, err := head.Prices.Rate()
	if err != nil {
		return nil, err
	}
	rate, err := planRate(plan, current)
	if err != nil {
		return nil, err
	}
	var deeds []settle.Deed
	if of.absent {
		deeds = append(deeds, deedOf(nil))
	}
	for _, tx := range calls {
		deeds = append(deeds, deedOf(tx))
	}
	first, tip := uint64(0), uint64(0)
	if old := replacedBy(plan, signer); len(old) > 0 {
		first, old = c.instead(old, plan, signer, of)
		rate, current, tip = old.above(rate), old.above(current), old.tip()
	} else {
		// What is in the block that is being made cannot be replaced any more.
		first = c.sent.First(wire.Hex64(signer), plan.SwapID, deeds, of.pending, of.pending, c.env.Now())
		if sent, ok := c.sent.Offer(wire.Hex64(signer), first); ok { // signed again without a stated reason
			old := replaced{sent}
			rate, current, tip = old.above(rate), old.above(current), old.tip()
		}
	}
	if of.absent && first != 0 { // the deployment is under way
		deeds = deeds[1:]
	}
	c.sent.Give(wire.Hex64(signer), plan.SwapID, deeds, first)
	var txs []*wire.Transaction
	if of.absent && first == 0 {
		txs = append(txs, c.net.NewDeploy(signer, current))
	}
	for _, tx := range calls {
		txs = append(txs, c.net.NewInvoke(signer, first+uint64(len(txs)), rate, tx))
	}
	if err := k.fitBounds(ctx, plan, txs); err != nil {
		return nil, err
	}
	texts := make([]string, len(txs))
	for i, tx := range txs {
		tx.Tip = tip
		texts[i] = tx.String()
	}
	return texts, nil
}

// sender is what a node knows of an account that is to send something.
type sender struct {
	at             wire.Felt
	mined, pending uint64 // next nonces: by accepted blocks, and with the block that is being made
	absent         bool   // there is no account yet

	nonce        rpc.Nonce
	preConfirmed rpc.PreConfirmedNonce
	class        rpc.ClassHash
}

// senderRequests is how many requests [sender] takes.
const senderRequests = 3

func (s *sender) requests() []rpc.Request {
	return []rpc.Request{rpc.NonceRequest(s.at, rpc.Latest, &s.nonce), rpc.PreConfirmedNonceRequest(s.at, &s.preConfirmed),
		rpc.ClassHashRequest(s.at, rpc.Latest, &s.class)}
}

// read takes what its requests were answered with. That there is no account is told by
// the class: a nonce of 0 also has one that a factory has deployed (protocol:
// chain-starknet.md §20.10).
func (s *sender) read(requests []rpc.Request) error {
	for _, r := range requests[:senderRequests] {
		if r.Err != nil && !rpc.IsNoContract(r.Err) {
			return fmt.Errorf("%s: %w", r.Method, r.Err)
		}
	}
	s.mined, s.pending = uint64(s.nonce), max(uint64(s.nonce), uint64(s.preConfirmed))
	s.absent = s.pending == 0 && requests[2].Err != nil
	return nil
}

// planRate is the plan's own fee rate, or the current one. Each part of a stored rate is
// raised to the current one, or the transaction might not be executed any more: no
// signature of an LP covers it.
func planRate(plan chains.Plan, current wire.FeeRate) (wire.FeeRate, error) {
	if plan.FeeRate == "" {
		return current, nil
	}
	stored, err := wire.ParseFeeRate(plan.FeeRate)
	if err != nil {
		return wire.FeeRate{}, err
	}
	return wire.FeeRate{L1: higher(stored.L1, current.L1), L2: higher(stored.L2, current.L2), L1Data: higher(stored.L1Data, current.L1Data)}, nil
}
