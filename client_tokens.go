package swapper

import (
	"context"

	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/swap/lp"
	"github.com/swapper-go/swapper/tokens"
)

// GetSupportedTokens implements [Service]: what the liquidity providers offer
// that have answered. They are loaded first if none is known.
func (c *Client) GetSupportedTokens(ctx context.Context, in GetSupportedTokensInput) (_ []Token, err error) {
	ctx, end, err := c.life.begin(ctx)
	if err != nil {
		return nil, err
	}
	defer end(&err)
	if err := in.Validate(); err != nil {
		return nil, err
	}
	if err := c.loaded(ctx); err != nil {
		return nil, err
	}
	return tokensOf(c.offers.Supported(sideOfToken(in.Side))), nil
}

// GetSwapCounterTokens implements [Service].
func (c *Client) GetSwapCounterTokens(ctx context.Context, in GetSwapCounterTokensInput) (_ []Token, err error) {
	ctx, end, err := c.life.begin(ctx)
	if err != nil {
		return nil, err
	}
	defer end(&err)
	if err := in.Validate(); err != nil {
		return nil, err
	}
	t, err := c.registry.Resolve(in.Token)
	if err != nil {
		return nil, fault.At("token", err)
	}
	if err := c.loaded(ctx); err != nil {
		return nil, err
	}
	return tokensOf(c.offers.Counter(t, sideOfToken(in.Side))), nil
}

// loaded makes sure that the liquidity providers were asked once.
func (c *Client) loaded(ctx context.Context) error {
	if len(c.offers.LPs()) > 0 {
		return nil
	}
	return c.offers.Reload(ctx)
}

func sideOfToken(s Side) lp.Side {
	if s == SideInput {
		return lp.Input
	}
	return lp.Output
}

func tokensOf(list []tokens.Token) []Token {
	out := make([]Token, len(list))
	for i, t := range list {
		out[i] = TokenOf(t)
	}
	return out
}
