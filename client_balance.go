package swapper

import (
	"context"

	"github.com/swapper-go/swapper/balance"
	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/tokens"
)

// GetSpendableBalance implements [Service].
func (c *Client) GetSpendableBalance(ctx context.Context, in GetSpendableBalanceInput) (_ *GetSpendableBalanceOutput, err error) {
	ctx, end, err := c.life.begin(ctx)
	if err != nil {
		return nil, err
	}
	defer end(&err)
	if err := in.Validate(); err != nil {
		return nil, err
	}
	token, err := c.registry.Resolve(in.Token)
	if err != nil {
		return nil, fault.At("token", err)
	}
	estimator := balance.Estimator{Bitcoin: c.config.Bitcoin, Chain: c.chain}
	got, err := estimator.Estimate(ctx, balance.Query{
		Token: token, Wallet: in.Wallet, TargetChain: in.TargetChain, GasDrop: in.GasDrop,
		FeeRate: in.FeeRate, MinFeeRate: in.MinBitcoinFeeRate, FeeMultiplier: in.FeeMultiplier,
	})
	if err != nil {
		return nil, err
	}
	out := &GetSpendableBalanceOutput{Balance: AmountOf(got.Amount)}
	if token.Chain == tokens.Bitcoin {
		out.FeeRate = &got.FeeRateSatVB
	}
	return out, nil
}

// chain returns a configured smart chain.
func (c *Client) chain(id string) (chains.Chain, bool) {
	ch, ok := c.byID[id]
	return ch, ok
}
