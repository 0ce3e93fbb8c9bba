package evm

import (
	"context"
	"fmt"
	"math/big"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/fault"
)

// Build takes one round trip for steps that need no Bitcoin proof. A proof takes
// those of the relay look-up (see [Deployment.ReadHeader]) and of the Bitcoin
// backend besides.
func (k *contracts) Build(ctx context.Context, plan chains.Plan) (chains.Unsigned, error) {
	signer, err := planSigner(plan)
	if err != nil {
		return chains.Unsigned{}, err
	}
	var calls []Call
	for _, step := range plan.Steps {
		more, err := k.calls(ctx, step, signer, true)
		if err != nil {
			return chains.Unsigned{}, fmt.Errorf("%s: %w", step.Kind, err)
		}
		calls = append(calls, more...)
	}
	txs, err := k.serialize(ctx, plan, signer, calls)
	if err != nil {
		return chains.Unsigned{}, err
	}
	return chains.Unsigned{Txs: txs, Signer: signer.Hex()}, nil
}

// Check takes no round trip.
func (k *contracts) Check(plan chains.Plan, signed []string) ([]chains.Signed, error) {
	if plan.Signer == "" && len(signed) > 0 {
		tx, err := ParseTransaction(signed[0])
		if err != nil || !tx.Signed {
			return nil, fault.Invalid("signedTxs[0]", "is not a signed transaction")
		}
		plan.Signer = tx.From.Hex()
	}
	signer, err := planSigner(plan)
	if err != nil {
		return nil, err
	}
	var calls []Call
	var steps []int
	for i, step := range plan.Steps {
		more, err := k.calls(context.Background(), step, signer, false)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", step.Kind, err)
		}
		calls = append(calls, more...)
		for range more {
			steps = append(steps, i)
		}
	}
	checked, err := k.CheckSigned(k.chain.net, signer, calls, signed)
	if err != nil {
		return nil, err
	}
	all := make([]chains.Signed, len(checked))
	for i, tx := range checked {
		all[i] = chains.Signed{ID: tx.ID.Hex(), Raw: tx.Raw(), From: tx.From.Hex(), Nonce: tx.Nonce, Step: steps[tx.Call], Reveals: calls[tx.Call].Reveals}
	}
	return all, nil
}

func planSigner(plan chains.Plan) (common.Address, error) {
	a, err := Address(plan.Signer, false)
	if err != nil {
		return common.Address{}, fault.At("signer", err)
	}
	return common.HexToAddress(a), nil
}

// calls returns what a step has to call. With proofs set they are complete;
// without, calls that carry a Bitcoin proof hold only the part of their data that
// says what they do, and nobody is asked anything.
func (k *contracts) calls(ctx context.Context, step chains.Step, signer common.Address, proofs bool) ([]Call, error) {
	if step.Kind == chains.StepVaultClaim {
		if !proofs {
			return k.vaultClaimPattern(*step.Vault)
		}
		return k.vaultClaims(ctx, *step.Vault, signer)
	}
	s, err := SwapDataOf(step.Escrow)
	if err != nil {
		return nil, err
	}
	if err := k.CheckSwapData(s); err != nil {
		return nil, err
	}
	one := func(c Call, err error) ([]Call, error) { return []Call{c}, err }
	switch step.Kind {
	case chains.StepInit:
		return k.Init(s, signer, step.Auth)
	case chains.StepClaimSecret:
		return one(k.ClaimBySecret(s, step.Preimage))
	case chains.StepClaimBitcoin:
		if !proofs {
			return k.bitcoinClaimPattern(s)
		}
		return k.bitcoinClaim(ctx, s, *step.Payment)
	case chains.StepRefund:
		return one(k.Refund(s, k.chain.env.Now()))
	case chains.StepRefundAuth:
		return one(k.RefundAuthorized(s, step.Auth))
	}
	return nil, fault.New(fault.Unsupported, "unknown step %d", step.Kind)
}

// serialize gives calls nonces and fees. Approvals that were granted before are
// left out. The pending nonce is the first: two polls with nothing sent in
// between give the same transactions.
func (k *contracts) serialize(ctx context.Context, plan chains.Plan, signer common.Address, calls []Call) ([]string, error) {
	var nonce hexutil.Uint64
	var head *feeHead
	requests := []Request{
		{Method: "eth_getTransactionCount", Params: []any{signer, "pending"}, Result: &nonce},
		feeRequest(&head),
	}
	granted := map[Allowance]*hexutil.Bytes{}
	for _, c := range calls {
		if c.Role != RoleApproval || c.Allowance == nil {
			continue
		}
		data, err := AllowanceCall(signer, c.Allowance.Spender)
		if err != nil {
			return nil, err
		}
		answer := new(hexutil.Bytes)
		granted[allowanceKey(*c.Allowance)] = answer
		requests = append(requests, callRequest(c.Allowance.Token, data, "latest", answer))
	}
	// A transaction that depends on none before it can be estimated; the
	// constants of the protocol are the floor.
	estimates := make([]*hexutil.Uint64, len(calls))
	first := len(requests)
	if len(calls) == 1 {
		estimates[0] = new(hexutil.Uint64)
		requests = append(requests, Request{Method: "eth_estimateGas", Params: []any{map[string]any{
			"from": signer, "to": calls[0].To, "data": hexutil.Bytes(calls[0].Data), "value": (*hexutil.Big)(calls[0].value()),
		}}, Result: estimates[0]})
	}
	if err := k.chain.node.Batch(ctx, requests); err != nil {
		return nil, err
	}
	for i, r := range requests {
		if r.Err != nil && i < first {
			return nil, fmt.Errorf("%s: %w", r.Method, r.Err)
		}
	}
	if len(requests) > first && requests[first].Err == nil {
		// A tenth more than the estimate: the state may be dearer when it is mined.
		calls[0].Gas = max(calls[0].Gas, uint64(*estimates[0])*11/10)
	}
	calls = WithoutApproved(calls, func(a Allowance) *big.Int {
		if answer := granted[allowanceKey(a)]; answer != nil {
			if amount, err := DecodeAmount(*answer); err == nil {
				return amount
			}
		}
		return nil
	})
	rate, err := k.planRate(plan, head)
	if err != nil {
		return nil, err
	}
	return k.chain.net.Serialize(calls, uint64(nonce), rate)
}

// planRate is the plan's own fee rate, or the current one. A stored rate that
// would not be mined any more is raised: on these chains no signature covers it.
func (k *contracts) planRate(plan chains.Plan, head *feeHead) (FeeRate, error) {
	current, err := k.chain.rate(head)
	if err != nil || plan.FeeRate == "" {
		return current, err
	}
	stored, err := ParseFeeRate(plan.FeeRate)
	if err != nil {
		return FeeRate{}, err
	}
	if orZero(stored.Base).Cmp(orZero(current.Base)) < 0 {
		return current, nil
	}
	return stored, nil
}

// allowanceKey compares allowances without their amount.
func allowanceKey(a Allowance) Allowance {
	a.Amount = nil
	return a
}
