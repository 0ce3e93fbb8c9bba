package swapper

import (
	"context"
	"math"
	"math/big"
	"sync"
	"time"

	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/internal/async"
	"github.com/swapper-go/swapper/internal/btc/single"
	"github.com/swapper-go/swapper/internal/lightning"
	"github.com/swapper-go/swapper/internal/lp"
	"github.com/swapper-go/swapper/internal/lp/discovery"
	"github.com/swapper-go/swapper/internal/swap"
	"github.com/swapper-go/swapper/tokens"
)

// GetSwapLimits implements [Service]. Bounds of the bitcoin side are those
// announced by the liquidity providers; bounds of the other side are learned
// from their responses to quote requests. If none are known yet, the providers
// are asked for a quote that they will refuse. Where a provider does not name
// its bounds of the other side (a payout over Lightning cannot be quoted
// without an invoice), they are derived from the bitcoin side, the announced
// fees and the market price, rounded inwards (protocol:
// swap-flows-spv-and-core.md C7). Of swaps from bitcoin that a watchtower settles,
// neither minimum is below the amount of which its pay, at the chain's fees and for
// the headers that the chain's relay is behind Bitcoin, is within
// [Policy].MaxWatchtowerPPM; where that exceeds the maximum, the
// fees are too high for any amount. If no provider offers the pair, the error has
// the code [fault.Upstream].
//
// The market price and the chains' fees in it are at most 30 seconds old, and usually
// at most as old as the call before: a call that finds them known does not wait, and has
// them asked anew for the next one. The limits are advice for the choice of an amount.
// CreateSwap asks for all of it again, and may refuse an amount near a bound that has moved.
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
	p := pair{c: c, typ: typ, src: src, dst: dst, smart: dst}
	if p.service = lp.Service(typ); p.service.ToBitcoin() {
		p.smart = src
	}
	if b := p.known(); b.Input.Min == nil && b.Output.Min == nil {
		return nil, c.offers.NoOffer()
	}
	b, err := p.limits(ctx)
	if err != nil {
		return nil, err
	}
	b = b.Shown()
	return &GetSwapLimitsOutput{Input: limitsOf(b.Input, src), Output: limitsOf(b.Output, dst)}, nil
}

// pair is what limits are asked for.
type pair struct {
	c        *Client
	typ      swap.Type
	service  lp.Service
	src, dst tokens.Token
	smart    tokens.Token // that of the two which is not bitcoin
}

// known are the bounds that the providers have named.
func (p pair) known() discovery.Bounds {
	return p.c.offers.Limits(p.service, p.smart.Chain, p.smart.Address)
}

// limits are the bounds of both sides at the market's price and the chains' fees.
func (p pair) limits(ctx context.Context) (discovery.Bounds, error) {
	w, err := p.worth(ctx)
	known := p.known()
	switch {
	case p.smart.Decimals < 0: // it has no price
		return known, nil
	case err != nil && known.Input.Min != nil && known.Output.Min != nil:
		return known, nil // what the providers have said needs no price
	case err != nil:
		return known, err
	}
	if p.service == lp.ToBTCLN && known.Output.Min != nil {
		w.NetworkSats = lightning.MaxRoutingFee(known.Output.Min.Int64(), lightning.RoutingFeeBaseSats, lightning.RoutingFeePPM)
	}
	return p.c.offers.LimitsAt(p.service, p.smart.Chain, p.smart.Address, w)
}

// Of what limits are computed with, as much as worthAge old serves a call. From
// worthFresh on the call has it asked anew behind it.
const (
	worthFresh   = 2 * time.Second
	worthAge     = 30 * time.Second
	worthTimeout = 20 * time.Second
)

// worth is what the bounds of the bitcoin side are converted with, from memory if that is
// young enough.
func (p pair) worth(ctx context.Context) (discovery.Worth, error) {
	key, now := p.src.ID()+" "+p.dst.ID(), p.c.config.Now()
	w, age, asks := p.c.worths.get(key, now)
	ask := func(ctx context.Context) (discovery.Worth, error) {
		return async.Do(ctx, &p.c.worths.flight, key, func(ctx context.Context) (discovery.Worth, error) { return p.ask(ctx, key) })
	}
	if age < 0 || age >= worthAge {
		return ask(ctx)
	}
	if asks {
		ctx, end, err := p.c.life.begin(async.Routine(context.WithoutCancel(ctx)))
		if err != nil {
			return w, err
		}
		go func() {
			defer end(new(error))
			if _, err := ask(ctx); err != nil {
				p.c.config.Logger.Debug("what swap limits are computed with not renewed", "pair", key, "err", err)
			}
			p.c.worths.asked(key)
		}()
	}
	return w, nil
}

// ask asks the providers for bounds that they have not named, if it is time to,
// and beside that for the price and the fees. It keeps them unless one is missing.
func (p pair) ask(ctx context.Context, key string) (discovery.Worth, error) {
	ctx, cancel := context.WithTimeout(ctx, worthTimeout)
	defer cancel()
	now := p.c.config.Now() // before the answers: they are not younger than the questions
	priced := async.Start(ctx, func(ctx context.Context) (w discovery.Worth, err error) {
		if p.smart.Decimals < 0 {
			return w, nil
		}
		w, whole, err := p.priced(ctx)
		if err == nil && whole {
			p.c.worths.set(key, w, now)
		}
		return w, err
	})
	if exactIn, worthwhile := p.known().Probe(p.service); worthwhile && p.c.worths.probe(key, now) {
		ctx, cancel := context.WithTimeout(ctx, probeTimeout)
		defer cancel()
		if err := p.c.quoter.Probe(ctx, p.src, p.dst, exactIn); err != nil {
			p.c.config.Logger.Debug("swap limits not determined", "pair", key, "err", err)
		}
	}
	return priced.Wait(ctx)
}

// priced asks for the market's price and the chains' fees; whole reports whether it knows all of them.
func (p pair) priced(ctx context.Context) (w discovery.Worth, whole bool, err error) {
	market := async.Start(ctx, func(ctx context.Context) (*big.Int, error) { return p.c.config.Prices.Price(ctx, p.smart) })
	payout := async.Start(ctx, func(ctx context.Context) (int64, error) {
		if p.service != lp.ToBTC {
			return 0, nil
		}
		rates, err := single.FeeRates(ctx, p.c.config.Bitcoin)
		return int64(math.Ceil(max(rates.Fastest, rates.Minimum) * payoutVSize)), err
	})
	whole = true
	if w.Watchtower, err = p.c.quoter.WatchtowerPay(ctx, p.typ, p.smart); err != nil { // the least amount is a little too low
		p.c.config.Logger.Debug("watchtower's pay not determined", "chain", p.smart.Chain, "err", err)
		whole = false
	}
	if w.NetworkSats, err = payout.Wait(ctx); err != nil { // the same
		whole = false
	}
	w.Decimals = p.smart.Decimals
	w.Price, err = market.Wait(ctx)
	return w, whole, err
}

// payoutVSize is the size, in vB, of a usual payout on Bitcoin, with the quarter
// that providers add to the fee rate (protocol: lp-protocol.md §8.1).
const payoutVSize = 200

const (
	probeTimeout = 10 * time.Second
	probeEvery   = time.Minute
)

// worths remembers by pair what limits were computed with, and when the providers were
// probed: one that names no bounds must not be asked for a quote with every request
// for limits. The pairs of the registry are few. Safe for concurrent use.
type worths struct {
	flight async.Group
	mu     sync.Mutex
	pairs  map[string]*held
}

type held struct {
	worth      discovery.Worth // never changed
	at, probed time.Time
	asking     bool // behind a call
}

// of returns a pair's entry; the caller has the lock.
func (s *worths) of(pair string) *held {
	if s.pairs == nil {
		s.pairs = map[string]*held{}
	}
	if s.pairs[pair] == nil {
		s.pairs[pair] = &held{}
	}
	return s.pairs[pair]
}

// get returns what is known and its age, which is below zero if nothing is or the clock was set
// back. The caller whom it tells to asks for it anew, and then calls asked.
func (s *worths) get(pair string, now time.Time) (w discovery.Worth, age time.Duration, ask bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	h := s.of(pair)
	if h.at.IsZero() {
		return w, -1, false
	}
	age = now.Sub(h.at)
	if age >= worthFresh && age < worthAge && !h.asking {
		h.asking, ask = true, true
	}
	return h.worth, age, ask
}

func (s *worths) asked(pair string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.of(pair).asking = false
}

func (s *worths) set(pair string, w discovery.Worth, at time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	h := s.of(pair)
	h.worth, h.at = w, at
}

// probe reports whether it is time to probe, and takes note of it.
func (s *worths) probe(pair string, now time.Time) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	h := s.of(pair)
	if !h.probed.IsZero() && now.Sub(h.probed) < probeEvery {
		return false
	}
	h.probed = now
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
