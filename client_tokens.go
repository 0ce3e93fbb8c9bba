package swapper

import (
	"context"
	"math"
	"sync"
	"time"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/internal/btc/single"
	"github.com/swapper-go/swapper/internal/lightning"
	"github.com/swapper-go/swapper/internal/lp"
	"github.com/swapper-go/swapper/internal/lp/discovery"
	"github.com/swapper-go/swapper/internal/swap"
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

// GetSwapLimits implements [Service]. Bounds of the bitcoin side are those
// announced by the liquidity providers; bounds of the other side are learned
// from their responses to quote requests. If none are known yet, the providers
// are asked for a quote that they will refuse. Where a provider does not name
// its bounds of the other side (a payout over Lightning cannot be quoted
// without an invoice), they are derived from the bitcoin side, the announced
// fees and the market price, rounded inwards (protocol:
// swap-flows-spv-and-core.md C7). Of swaps from bitcoin that a watchtower settles,
// neither minimum is below the amount of which its pay, at the chain's fees of the
// moment and for the headers that the chain's relay is behind Bitcoin, is within
// [Policy].MaxWatchtowerPPM; where that exceeds the maximum, the
// fees are too high for any amount. If no provider offers the pair, the error has
// the code [fault.Upstream].
func (c *Client) GetSwapLimits(ctx context.Context, in GetSwapLimitsInput) (_ *GetSwapLimitsOutput, err error) {
	ctx, end, err := c.life.begin(ctx)
	if err != nil {
		return nil, err
	}
	defer end(&err)
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
	b := c.offers.Limits(service, smart.Chain, smart.Address)
	if b.Input.Min == nil && b.Output.Min == nil {
		return nil, c.offers.NoOffer()
	}
	if exactIn, worthwhile := b.Probe(service); worthwhile && c.probes.due(src.ID()+" "+dst.ID(), c.config.Now()) {
		ctx, cancel := context.WithTimeout(ctx, probeTimeout)
		defer cancel()
		if err := c.quoter.Probe(ctx, src, dst, exactIn); err != nil {
			c.config.Logger.Debug("swap limits not determined", "src", src.ID(), "dst", dst.ID(), "err", err)
		}
	}
	if b, err = c.limitsAt(ctx, typ, smart); err != nil {
		return nil, err
	}
	b = b.Shown()
	return &GetSwapLimitsOutput{Input: limitsOf(b.Input, src), Output: limitsOf(b.Output, dst)}, nil
}

// limitsAt are the bounds of both sides at the market's price and the chains' fees.
func (c *Client) limitsAt(ctx context.Context, typ swap.Type, t tokens.Token) (discovery.Bounds, error) {
	service := lp.Service(typ)
	known := c.offers.Limits(service, t.Chain, t.Address)
	if t.Decimals < 0 { // it has no price
		return known, nil
	}
	market, err := c.config.Prices.Price(ctx, t)
	if err != nil {
		if known.Input.Min != nil && known.Output.Min != nil {
			return known, nil // what the providers have said needs no price
		}
		return known, err
	}
	w := discovery.Worth{Price: market, Decimals: t.Decimals}
	switch {
	case service == lp.ToBTCLN && known.Output.Min != nil:
		w.NetworkSats = lightning.MaxRoutingFee(known.Output.Min.Int64(), lightning.RoutingFeeBaseSats, lightning.RoutingFeePPM)
	case service == lp.ToBTC:
		if rates, err := single.FeeRates(ctx, c.config.Bitcoin); err == nil { // else the least amount is a little too low
			w.NetworkSats = int64(math.Ceil(max(rates.Fastest, rates.Minimum) * payoutVSize))
		}
	}
	if w.Watchtower, err = c.quoter.WatchtowerPay(ctx, typ, t); err != nil { // the same
		c.config.Logger.Debug("watchtower's pay not determined", "chain", t.Chain, "err", err)
	}
	return c.offers.LimitsAt(service, t.Chain, t.Address, w)
}

// payoutVSize is the size, in vB, of a usual payout on Bitcoin, with the quarter
// that providers add to the fee rate (protocol: lp-protocol.md §8.1).
const payoutVSize = 200

const (
	probeTimeout = 10 * time.Second
	probeEvery   = time.Minute
)

// probes remembers when the pairs were probed: a provider that names no bounds
// must not be asked for a quote with every request for limits. The pairs of the
// registry are few. Safe for concurrent use.
type probes struct {
	mu   sync.Mutex
	last map[string]time.Time
}

// due reports whether it is time, and takes note of it.
func (p *probes) due(pair string, now time.Time) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if last, ok := p.last[pair]; ok && now.Sub(last) < probeEvery {
		return false
	}
	if p.last == nil {
		p.last = map[string]time.Time{}
	}
	p.last[pair] = now
	return true
}

func limitsOf(r discovery.Range, t tokens.Token) GetSwapLimitsSide {
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
