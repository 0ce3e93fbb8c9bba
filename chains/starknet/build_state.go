package starknet

import (
	"fmt"
	"time"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/internal/settle"
	"github.com/swapper-go/swapper/internal/starknet/rpc"
	"github.com/swapper-go/swapper/internal/starknet/wire"
)

// planStates are the escrows of a plan as the node sees them, asked for together with
// nonce and fees. An escrow hash is opened once, and a claim must not show its secret
// where there is nothing to be had for it, or too late (protocol: chain-starknet.md §5,
// §20.17).
type planStates struct {
	steps  []stepState
	at     int // index of the request
	answer rpc.Felts
}

type stepState struct {
	kind   chains.StepKind
	escrow wire.SwapData
	opens  bool // the plan itself opens it before
	public bool // the secret is known to others already
}

func (p *planStates) ask(k *contract, plan chains.Plan, requests *[]rpc.Request) error {
	opened := map[wire.Felt]bool{}
	var hashes []wire.Felt
	for _, step := range plan.Steps {
		if step.Kind == chains.StepVaultClaim {
			continue
		}
		s, err := wire.SwapDataOf(step.Escrow)
		if err != nil {
			return err
		}
		hash, err := s.EscrowHash()
		if err != nil {
			return err
		}
		hashes = append(hashes, hash)
		p.steps = append(p.steps, stepState{kind: step.Kind, escrow: s, opens: opened[hash], public: step.Public})
		opened[hash] = opened[hash] || step.Kind == chains.StepInit
	}
	if len(hashes) > 0 {
		p.at = len(*requests)
		*requests = append(*requests, rpc.CallRequest(k.EscrowManager.Address, wire.Selector(wire.EntryHashStates), wire.EscrowStatesCall(hashes), rpc.Latest, &p.answer))
	}
	return nil
}

// check refuses steps that the contract is bound to refuse, and claims by secret that
// come too late by the later of the clock and the newest block's time, unless the secret
// is public already; and refunds that come too early by the latter.
func (p *planStates) check(requests []rpc.Request, now time.Time, blockTime int64) error {
	if len(p.steps) == 0 {
		return nil
	}
	if err := requests[p.at].Err; err != nil {
		return fmt.Errorf("states of the escrows: %w", err)
	}
	records, err := wire.ReadEscrowStates(p.answer, len(p.steps))
	if err != nil {
		return fault.New(fault.Upstream, "%w", err)
	}
	for i, step := range p.steps {
		state := records[i].State
		if err := settle.CheckStep(step.kind, state, step.opens); err != nil {
			return err
		}
		if step.kind == chains.StepClaimSecret && !step.public && !step.escrow.ClaimInTime(now, blockTime) {
			return fault.New(fault.InvalidState, "it is too late to claim safely with the preimage")
		}
		if step.kind == chains.StepRefund && blockTime <= step.escrow.Expiry() {
			return fault.New(fault.InvalidState, "the escrow has not expired yet by the chain's clock")
		}
	}
	return nil
}
