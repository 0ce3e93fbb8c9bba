package evm

import (
	"context"
	"math/big"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/internal/evm/wire"
)

var _ chains.PlanReader = (*contracts)(nil)

// ReadPlan takes no round trip.
func (k *contracts) ReadPlan(text chains.PlanText) (chains.Reading, error) {
	name, check := text.Name(), k.CheckUnsigned
	if text.Signed {
		check = k.CheckSigned
	}
	plan := chains.Plan{Signer: text.Signer}
	for i, one := range text.Txs {
		tx, err := wire.ParseTransaction(one)
		if err != nil {
			return chains.Reading{}, fault.Invalid(fieldIn(name, i), "%w", err)
		}
		if plan.Signer == "" && tx.Signed {
			plan.Signer = tx.From.Hex()
		}
		if tx.To == nil || *tx.To != k.EscrowManager.Address {
			continue
		}
		step, s, err := k.ReadStep(tx.Data)
		if err == nil {
			step.Escrow, err = k.neutral(s)
		}
		if err != nil {
			return chains.Reading{}, fault.Invalid(fieldIn(name, i), "%w", err)
		}
		plan.Steps = append(plan.Steps, step)
	}
	if len(plan.Steps) == 0 {
		return chains.Reading{}, fault.Invalid(name, "must call the escrow manager %s", k.EscrowManager.Address)
	}
	from, err := planSigner(plan)
	if err != nil {
		return chains.Reading{}, err
	}
	plan.Signer = from.Hex()
	var calls []wire.Call
	for _, step := range plan.Steps {
		more, err := k.calls(context.Background(), step, from, false)
		if err != nil {
			return chains.Reading{}, fault.Invalid(name, "%w", err)
		}
		calls = append(calls, more...)
	}
	checked, err := check(k.chain.net, from, calls, text.Txs)
	if err != nil {
		return chains.Reading{}, err
	}
	r := chains.Reading{Plan: plan, MaxFee: new(big.Int)}
	for _, tx := range checked {
		r.MaxFee.Add(r.MaxFee, tx.MaxFee())
		if text.Signed {
			r.IDs = append(r.IDs, tx.ID.Hex())
		} else {
			r.Txs = append(r.Txs, tx.String())
		}
	}
	return r, nil
}
