package evm

import (
	"context"
	"fmt"
	"math/big"
	"slices"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/internal/evm/rpc"
	"github.com/swapper-go/swapper/internal/evm/wire"
)

// Build takes one round trip for steps that need no Bitcoin proof. A proof takes
// four more to find its header in the relay, one more when that is known from
// before, and four more if the relay is behind: one to see it, and three in which
// the relay's tip and the newest header that it shares with Bitcoin are found side
// by side. A vault claim takes one more for the vault, two the first time; the
// withdrawals before the wanted one are proven in parallel. The Bitcoin backend is
// asked meanwhile.
func (k *contracts) Build(ctx context.Context, plan chains.Plan) (chains.Unsigned, error) {
	signer, err := planSigner(plan)
	if err != nil {
		return chains.Unsigned{}, err
	}
	var calls []wire.Call
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
		tx, err := wire.ParseTransaction(signed[0])
		if err != nil || !tx.Signed {
			return nil, fault.Invalid("signedTxs[0]", "is not a signed transaction")
		}
		plan.Signer = tx.From.Hex()
	}
	signer, err := planSigner(plan)
	if err != nil {
		return nil, err
	}
	var calls []wire.Call
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
	if err := replacedBy(plan, signer.Hex()).check(plan, checked); err != nil {
		return nil, err
	}
	if err := k.CheckProofs(plan, calls, steps, checked); err != nil {
		return nil, err
	}
	all := make([]chains.Signed, len(checked))
	for i, tx := range checked {
		all[i] = chains.Signed{ID: tx.ID.Hex(), Raw: tx.Raw(), From: tx.From.Hex(), Nonce: tx.Nonce, Step: steps[tx.Call], Reveals: calls[tx.Call].Reveals, MaxFee: tx.MaxFee()}
	}
	return all, nil
}

func planSigner(plan chains.Plan) (common.Address, error) { return account("signer", plan.Signer) }

// calls returns the contract calls of a step. With proofs set they are complete;
// without, calls that carry a Bitcoin proof hold only the data before the proof,
// and no request is sent.
func (k *contracts) calls(ctx context.Context, step chains.Step, signer common.Address, proofs bool) ([]wire.Call, error) {
	if step.Kind == chains.StepVaultClaim {
		if step.Vault == nil {
			return nil, fault.Invalid("vault", "is required")
		}
		if !proofs {
			ref, err := vaultRef(chains.VaultID{Owner: step.Vault.Owner, ID: step.Vault.ID})
			if err != nil {
				return nil, err
			}
			return k.VaultClaimPattern(ref), nil
		}
		return k.vaultClaims(ctx, *step.Vault, signer)
	}
	s, err := k.memory.swapDataOf(step.Escrow)
	if err != nil {
		return nil, err
	}
	if err := k.CheckSwapData(s); err != nil {
		return nil, err
	}
	one := func(c wire.Call, err error) ([]wire.Call, error) { return []wire.Call{c}, err }
	switch step.Kind {
	case chains.StepInit:
		return k.initCalls(step.Escrow, s, signer, step.Auth)
	case chains.StepClaimSecret:
		return one(k.ClaimBySecret(s, step.Preimage))
	case chains.StepClaimBitcoin:
		if !proofs {
			return k.BitcoinClaimPattern(s)
		}
		if step.Payment == nil {
			return nil, fault.Invalid("payment", "is required")
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
// left out. Two polls of a swap give the same nonces while what they ask for is
// not mined: see [chain.firstNonce].
func (k *contracts) serialize(ctx context.Context, plan chains.Plan, signer common.Address, calls []wire.Call) ([]string, error) {
	var pending, mined hexutil.Uint64
	var head *feeHead
	requests := []rpc.Request{
		{Method: "eth_getTransactionCount", Params: []any{signer, "pending"}, Result: &pending},
		{Method: "eth_getTransactionCount", Params: []any{signer, "latest"}, Result: &mined},
		feeRequest(&head),
	}
	granted := map[wire.Allowance]*hexutil.Bytes{}
	for _, c := range calls {
		if c.Role != wire.RoleApproval || c.Allowance == nil {
			continue
		}
		data, err := wire.AllowanceCall(signer, c.Allowance.Spender)
		if err != nil {
			return nil, err
		}
		answer := new(hexutil.Bytes)
		granted[allowanceKey(*c.Allowance)] = answer
		requests = append(requests, rpc.CallRequest(c.Allowance.Token, data, "latest", answer))
	}
	states := planStates{manager: k.EscrowManager.Address, read: k.memory.swapDataOf}
	if err := states.ask(plan, &requests); err != nil {
		return nil, err
	}
	needed := len(requests)
	estimates, known := k.chain.estimates(calls, signer)
	for _, e := range estimates {
		requests = append(requests, e.request)
	}
	if err := k.chain.node.Batch(ctx, requests); err != nil {
		return nil, err
	}
	for _, r := range requests[:needed] {
		if r.Err != nil {
			return nil, fmt.Errorf("%s: %w", r.Method, r.Err)
		}
	}
	k.chain.noteFees(head)
	if err := states.check(k.chain.env.Now(), head); err != nil {
		return nil, err
	}
	calls = slices.Clone(calls)
	for i := range calls {
		calls[i].Gas += largeDataGas(calls[i].Data)
	}
	for n, e := range estimates {
		known[e.call] = k.chain.noteGas(signer, calls[e.call], uint64(*e.gas), requests[needed+n].Err)
	}
	for i, gas := range known {
		// A tenth more than the estimate: the state may be dearer when it is mined.
		calls[i].Gas = max(calls[i].Gas, gas*11/10)
	}
	calls = wire.WithoutApproved(calls, func(a wire.Allowance) *big.Int {
		if answer := granted[allowanceKey(a)]; answer != nil {
			if amount, err := wire.DecodeAmount(*answer); err == nil {
				return amount
			}
		}
		return nil
	})
	rate, err := k.planRate(plan, head)
	if err != nil {
		return nil, err
	}
	first := k.chain.firstNonce(signer.Hex(), plan.SwapID, calls, uint64(pending), uint64(mined))
	if old := replacedBy(plan, signer.Hex()); len(old) > 0 {
		first, rate = k.chain.instead(old, plan, signer.Hex(), uint64(mined), rate)
	} else if sent, ok := k.chain.nonces.Offer(signer.Hex(), first); ok { // signed again without a stated reason
		rate = replaced{sent}.above(rate)
	}
	return k.chain.net.Serialize(calls, first, rate)
}

// largeDataGas is what a limit needs on top for call data beyond what the
// constants of the protocol allow for: a Bitcoin transaction of many inputs and
// outputs costs as data (40 for a byte, EIP-7623) and to be taken apart (protocol:
// chain-evm.md §6.1, §13.20). What is not used is not paid.
func largeDataGas(data []byte) uint64 {
	const usual, perByte = 1024, 80
	if len(data) <= usual {
		return 0
	}
	return uint64(len(data)-usual) * perByte
}

// planRate is the plan's own fee rate, or the current one. Each part of a stored
// rate is raised to the current one, or the transaction might not be mined any
// more: on these chains no signature covers it.
func (k *contracts) planRate(plan chains.Plan, head *feeHead) (wire.FeeRate, error) {
	current, err := k.chain.rate(head)
	if err != nil || plan.FeeRate == "" {
		return current, err
	}
	stored, err := wire.ParseFeeRate(plan.FeeRate)
	if err != nil {
		return wire.FeeRate{}, err
	}
	return wire.FeeRate{Base: higher(stored.Base, current.Base), Priority: higher(stored.Priority, current.Priority), L1: higher(stored.L1, current.L1)}, nil
}

// allowanceKey compares allowances without their amount.
func allowanceKey(a wire.Allowance) wire.Allowance {
	a.Amount = nil
	return a
}
