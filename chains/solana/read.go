package solana

import (
	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/fault"
)

var _ chains.PlanReader = (*contract)(nil)

// ReadPlan takes no round trip. A refund before the escrow's expiry is refused by our clock.
func (k *contract) ReadPlan(text chains.PlanText) (chains.Reading, error) {
	r, err := k.Programs.ReadPlan(text)
	if err != nil {
		return chains.Reading{}, err
	}
	for _, step := range r.Plan.Steps {
		if step.Kind == chains.StepRefund && step.Escrow.Expiry >= k.chain.env.Now().Unix() {
			return chains.Reading{}, fault.New(fault.InvalidState, "the escrow has not expired yet")
		}
	}
	return r, nil
}
