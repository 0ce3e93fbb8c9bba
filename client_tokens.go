package swapper

import (
	"context"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/internal/lp/discovery"
	"github.com/swapper-go/swapper/tokens"
)

// GetSupportedTokens implements [Service]: the tokens offered by the reachable
// liquidity providers, which are loaded first if none is known. If nothing is
// offered, the error has the code [fault.Upstream].
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
	list := c.offers.Supported(sideOfToken(in.Side))
	if len(list) == 0 {
		return nil, c.offers.NoOffer()
	}
	return tokensOf(list), nil
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
	list := c.offers.Counter(t, sideOfToken(in.Side))
	if len(list) == 0 { // nothing is offered for this token, unless nothing is offered at all
		if err := c.offers.Offering(); err != nil {
			return nil, err
		}
	}
	return tokensOf(list), nil
}

// loaded makes sure that the liquidity providers were asked once.
func (c *Client) loaded(ctx context.Context) error {
	if len(c.offers.LPs()) > 0 {
		return nil
	}
	return c.offers.Reload(ctx)
}

func sideOfToken(s Side) discovery.Side {
	if s == SideInput {
		return discovery.Input
	}
	return discovery.Output
}

func tokensOf(list []tokens.Token) []Token {
	out := make([]Token, len(list))
	for i, t := range list {
		out[i] = TokenOf(t)
	}
	return out
}

// info returns what is constant about a configured smart chain.
func (c *Client) info(id string) (chains.Info, bool) {
	ch, ok := c.byID[id]
	if !ok {
		return chains.Info{}, false
	}
	return ch.Info(), true
}
