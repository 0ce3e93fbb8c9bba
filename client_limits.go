package swapper

import (
	"context"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/swap"
	"github.com/swapper-go/swapper/swap/lp"
	"github.com/swapper-go/swapper/tokens"
)

// GetSwapLimits implements [Service]: the bounds that the liquidity providers
// have announced for the bitcoin side and, of the other side, what their answers
// to quote requests have taught. What nobody has said is a minimum of 1 base
// unit and no maximum (protocol: swap-flows-spv-and-core.md C7).
func (c *Client) GetSwapLimits(ctx context.Context, in GetSwapLimitsInput) (*GetSwapLimitsOutput, error) {
	if err := in.Validate(); err != nil {
		return nil, err
	}
	src, err := c.registry.Resolve(in.SrcToken)
	if err != nil {
		return nil, fault.At("srcToken", err)
	}
	dst, err := c.registry.Resolve(in.DstToken)
	if err != nil {
		return nil, fault.At("dstToken", err)
	}
	typ, err := swap.Route(src, dst, c.info)
	if err != nil {
		return nil, err
	}
	if err := c.loaded(ctx); err != nil {
		return nil, err
	}
	service, smart := lp.Service(typ), dst
	if service.ToBitcoin() {
		smart = src
	}
	b := c.offers.Limits(service, smart.Chain, smart.Address).Shown()
	return &GetSwapLimitsOutput{Input: limitsOf(b.Input, src), Output: limitsOf(b.Output, dst)}, nil
}

func limitsOf(r lp.Range, t tokens.Token) GetSwapLimitsSide {
	side := GetSwapLimitsSide{Min: AmountOf(tokens.NewAmount(r.Min, t))}
	if r.Max != nil {
		max := AmountOf(tokens.NewAmount(r.Max, t))
		side.Max = &max
	}
	return side
}

// info returns what is constant about a configured smart chain.
func (c *Client) info(id string) (chains.Info, bool) {
	ch, ok := c.byID[id]
	if !ok {
		return chains.Info{}, false
	}
	return ch.Info(), true
}
