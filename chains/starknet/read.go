package starknet

import (
	"context"
	"math/big"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/internal/starknet/wire"
)

var _ chains.PlanReader = (*contract)(nil)

// ReadPlan takes no round trip.
func (k *contract) ReadPlan(text chains.PlanText) (chains.Reading, error) {
	name, check := text.Name(), k.CheckUnsigned
	if text.Signed {
		check = k.CheckSigned
	}
	r := chains.Reading{Plan: chains.Plan{Signer: text.Signer}, MaxFee: new(big.Int)}
	for i, one := range text.Txs {
		tx, err := wire.ParseTransaction(one)
		if err != nil {
			return chains.Reading{}, fault.Invalid(fieldIn(name, i), "%w", err)
		}
		if r.Plan.Signer == "" {
			r.Plan.Signer = wire.Hex64(tx.Sender)
		}
		made := tx.Calls
		if text.Signed && tx.Type == wire.Invoke {
			if made, err = wire.ParseExecuteCalldata(tx.Calldata); err != nil {
				return chains.Reading{}, fault.Invalid(fieldIn(name, i), "%w", err)
			}
		}
		for _, call := range made {
			if call.To != k.EscrowManager.Address {
				continue
			}
			step, s, err := k.ReadStep(call)
			if err == nil {
				step.Escrow, err = k.Deployment.Escrow(s)
			}
			if err != nil {
				return chains.Reading{}, fault.Invalid(fieldIn(name, i), "%w", err)
			}
			r.Plan.Steps = append(r.Plan.Steps, step)
		}
		if !text.Signed {
			tx.Deploy = wire.Deploy{} // the wallet knows the class of its account
			r.Txs = append(r.Txs, tx.String())
		}
		r.MaxFee.Add(r.MaxFee, tx.MaxFee())
	}
	if len(r.Plan.Steps) == 0 {
		return chains.Reading{}, fault.Invalid(name, "must call the escrow manager %s", wire.Hex64(k.EscrowManager.Address))
	}
	from, err := account("signer", r.Plan.Signer)
	if err != nil {
		return chains.Reading{}, err
	}
	r.Plan.Signer = wire.Hex64(from)
	var calls []wire.Call
	for _, step := range r.Plan.Steps {
		of, err := k.calls(context.Background(), step, from, false)
		if err != nil {
			return chains.Reading{}, fault.Invalid(name, "%w", at(step, err))
		}
		for _, c := range of {
			calls = append(calls, c...)
		}
	}
	checked, err := check(k.chain.net, from, calls, text.Txs)
	if err != nil {
		return chains.Reading{}, err
	}
	for _, tx := range checked {
		if text.Signed {
			r.IDs = append(r.IDs, tx.ID)
		}
	}
	return r, nil
}
