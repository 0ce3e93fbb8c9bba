package evm

import (
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/internal/evm/rpc"
	"github.com/swapper-go/swapper/internal/evm/wire"
	"github.com/swapper-go/swapper/internal/settle"
)

// planStates are the escrows of a plan as the node sees them, asked for together
// with nonce and fees. An escrow hash is opened once, and a claim must not show
// its secret where there is nothing to be had for it, or too late (protocol:
// chain-evm.md §7.4, §13.8, §13.10).
type planStates struct {
	manager common.Address
	read    func(chains.Escrow) (wire.SwapData, error)
	steps   []stepState
}

type stepState struct {
	kind   chains.StepKind
	escrow wire.SwapData
	opens  bool // the plan itself opens it before
	public bool // the secret is known to others already
	answer hexutil.Bytes
}

func (p *planStates) ask(plan chains.Plan, requests *[]rpc.Request) error {
	opened := map[common.Hash]bool{}
	p.steps = make([]stepState, 0, len(plan.Steps))
	for _, step := range plan.Steps {
		if step.Kind == chains.StepVaultClaim {
			continue
		}
		s, err := p.read(step.Escrow)
		if err != nil {
			return err
		}
		hash, err := s.EscrowHash()
		if err != nil {
			return err
		}
		data, err := wire.StateCall([]common.Hash{hash})
		if err != nil {
			return err
		}
		p.steps = append(p.steps, stepState{kind: step.Kind, escrow: s, opens: opened[hash], public: step.Public})
		opened[hash] = opened[hash] || step.Kind == chains.StepInit
		*requests = append(*requests, rpc.CallRequest(p.manager, data, "latest", &p.steps[len(p.steps)-1].answer))
	}
	return nil
}

// check refuses steps that the contract is bound to refuse, and claims by secret
// that come too late by the later of the clock and the newest block's time, unless
// the secret is public already.
func (p *planStates) check(now time.Time, head *feeHead) error {
	for _, step := range p.steps {
		records, err := wire.DecodeStates(step.answer, 1)
		if err != nil {
			return err
		}
		state := chains.EscrowState(records[0].State)
		if err := settle.CheckStep(step.kind, state, step.opens); err != nil {
			return err
		}
		if step.kind == chains.StepClaimSecret && !step.public && head != nil && !step.escrow.ClaimInTime(now, int64(head.Timestamp)) {
			return fault.New(fault.InvalidState, "it is too late to claim safely with the preimage")
		}
	}
	return nil
}
