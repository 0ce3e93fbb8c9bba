package starknet

import (
	"context"
	"math/big"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/internal/bigs"
	"github.com/swapper-go/swapper/internal/starknet/wire"
)

// FeeRate takes one round trip, none if the rate was read in the last five seconds.
func (c *chain) FeeRate(ctx context.Context) (string, error) {
	rate, err := c.ledger.FeeRate(ctx)
	if err != nil {
		return "", err
	}
	return rate.String(), nil
}

// towerRate returns the fee rate that a watchtower's pay is computed from. It is the
// median of all nodes, so that one lying node cannot inflate the pay. Of an even number
// of answers the lower median counts, so of two the lower.
func (c *chain) towerRate(ctx context.Context) (wire.FeeRate, error) {
	if !c.nodes.Several() {
		return c.ledger.FeeRate(ctx)
	}
	var rates []wire.FeeRate
	if err := c.ledger.FeeRates(ctx, func(r wire.FeeRate) { rates = append(rates, r) }); err != nil || len(rates) == 0 {
		return c.ledger.FeeRate(ctx) // asked once more, one after the other and repeatedly
	}
	return medianRate(rates), nil
}

// medianRate takes the lower median of each part.
func medianRate(rates []wire.FeeRate) wire.FeeRate {
	return wire.FeeRate{L1: bigs.LowerMedian(rates, func(r wire.FeeRate) *big.Int { return r.L1 }), L2: bigs.LowerMedian(rates, func(r wire.FeeRate) *big.Int { return r.L2 }),
		L1Data: bigs.LowerMedian(rates, func(r wire.FeeRate) *big.Int { return r.L1Data })}
}

// Estimate takes no round trip with a fee rate, one without; what opening an escrow
// costs takes one more, to see whether the payer's account is deployed. What watchtowers
// are paid is estimated with what all nodes say of fees.
func (k *contract) Estimate(ctx context.Context, cost chains.Cost, feeRate string) (*big.Int, error) {
	var rate wire.FeeRate
	var err error
	if feeRate != "" {
		rate, err = wire.ParseFeeRate(feeRate)
		err = fault.At("feeRate", err)
	} else if cost.Kind == chains.StepInit { // paid by the user, who sees what
		rate, err = k.chain.ledger.FeeRate(ctx)
	} else {
		rate, err = k.chain.towerRate(ctx)
	}
	if err != nil {
		return nil, err
	}
	if cost.Token != "" {
		if _, err := account("token", cost.Token); err != nil {
			return nil, err
		}
	}
	switch cost.Kind {
	case chains.StepInit:
		deployed := true
		if cost.Payer != "" {
			payer, err := account("wallet", cost.Payer)
			if err != nil {
				return nil, err
			}
			at, err := k.chain.ledger.Account(ctx, payer)
			if err != nil {
				return nil, err
			}
			deployed = at.Deployed
		}
		return rate.ReserveCost(deployed), nil
	case chains.StepClaimSecret:
		return rate.ClaimCost(chains.HTLC, true), nil
	case chains.StepClaimBitcoin:
		return rate.ClaimCost(chains.Onchain, true), nil
	case chains.StepVaultClaim:
		return rate.VaultClaimCost(false), nil
	case chains.StepRelayHeader:
		return rate.HeaderCost(), nil
	}
	return nil, fault.New(fault.Unsupported, "unknown expense %d", cost.Kind)
}
