package swapper

import (
	"context"
	"sync"
	"time"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/swap"
	"github.com/swapper-go/swapper/swap/lp"
	"github.com/swapper-go/swapper/tokens"
)

// GetSwapLimits implements [Service]: the bounds that the liquidity providers
// have announced for the bitcoin side and, of the other side, what their answers
// to quote requests have taught. If there were none, the providers are asked for
// a quote that they will refuse. What nobody has said is a minimum of 1 base unit
// and no maximum; for payouts over Lightning, which cannot be asked for without
// an invoice, that is usual (protocol: swap-flows-spv-and-core.md C7).
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
	offered := b.Input.Min != nil || b.Output.Min != nil
	if exactIn, worthwhile := b.Probe(service); offered && worthwhile && c.probes.due(src.ID()+" "+dst.ID(), time.Now()) {
		ctx, cancel := context.WithTimeout(ctx, probeTimeout)
		defer cancel()
		if err := c.market.Probe(ctx, src, dst, exactIn); err != nil {
			c.config.Logger.Debug("limits not asked for", "src", src.ID(), "dst", dst.ID(), "err", err)
		}
		b = c.offers.Limits(service, smart.Chain, smart.Address)
	}
	b = b.Shown()
	return &GetSwapLimitsOutput{Input: limitsOf(b.Input, src), Output: limitsOf(b.Output, dst)}, nil
}

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
