package swapper

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/internal/async"
	"github.com/swapper-go/swapper/internal/engine"
)

// Stats returns what is under way, and asks the chains, the Bitcoin backend and, if none is
// known, the liquidity providers whether they respond, and the store whether it can write,
// every ten seconds at most: all in parallel, in one round trip. A part that does not respond within ctx is reported in
// Parts. The error is [ErrClosed], or that of a ctx that ended before anything was asked.
func (c *Client) Stats(ctx context.Context) (_ *Stats, err error) {
	ctx, end, err := c.life.begin(ctx)
	if err != nil {
		return nil, err
	}
	defer end(&err)
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	relays := async.Start(ctx, c.askRelays)
	s := &Stats{Instances: c.fleet.Members(), Shards: len(c.fleet.Shards()), Parts: c.askParts(ctx)}
	heights, _ := relays.Wait(ctx)
	for id, height := range heights {
		part := s.Parts[id]
		part.Relay = height
		s.Parts[id] = part
	}
	if c.life.over() {
		return nil, ErrClosed
	}
	census := c.engine.Census()
	for _, g := range slices.SortedFunc(maps.Keys(census.Groups), func(a, b engine.Group) int {
		return cmp.Or(cmp.Compare(a.Type, b.Type), strings.Compare(a.Chain, b.Chain), cmp.Compare(a.State, b.State))
	}) {
		s.Swaps = append(s.Swaps, SwapCount{Type: SwapType(g.Type.String()), Chain: g.Chain, State: g.State, Name: g.Name, Count: census.Groups[g]})
	}
	for _, sum := range census.UnderWay {
		s.UnderWay = append(s.UnderWay, TokenTotal{Token: sum.Token.ID(), Amount: sum.Raw, Decimals: sum.Token.Decimals})
	}
	slices.SortFunc(s.UnderWay, func(a, b TokenTotal) int { return strings.Compare(a.Token, b.Token) })
	kinds := maps.Clone(census.Running)
	maps.Copy(kinds, census.Waiting)
	for _, kind := range slices.Sorted(maps.Keys(kinds)) {
		s.Effects = append(s.Effects, EffectCount{Kind: string(kind), Running: census.Running[kind], Waiting: census.Waiting[kind]})
	}
	for _, p := range c.offers.Standings() {
		s.Providers = append(s.Providers, ProviderStats{
			URL: p.URL, Loaded: p.Loaded, Excluded: p.Boxed, Strikes: p.Strikes,
			Answered: p.Calls.Answered, Refused: p.Calls.Refused, Failed: p.Calls.Failed, Took: p.Calls.Took, LastAnswer: p.Calls.Last,
		})
	}
	return s, nil
}

// Instances returns how many processes share the work on the store: those whose Run is active, as
// this one knows them while its own is, and at least 1. It sends no request. What each of them
// may do of something, such as requests, is its part of what all may do.
func (c *Client) Instances() int { return c.fleet.Members() }

// askRelays returns up to which height the relays of the chains have Bitcoin's headers, of those that
// answer.
func (c *Client) askRelays(ctx context.Context) (map[string]uint64, error) {
	asked := map[string]*async.Future[uint32]{}
	for _, ch := range c.chains {
		k, _ := ch.Contract(ch.Info().Default)
		if relay, ok := k.(chains.RelayContract); ok {
			asked[ch.Info().ID] = async.Start(ctx, relay.RelayTip)
		}
	}
	out := map[string]uint64{}
	for id, f := range asked {
		if height, err := f.Wait(ctx); err == nil {
			out[id] = uint64(height)
		}
	}
	return out, nil
}

// askParts asks everything that swaps depend on whether it responds.
func (c *Client) askParts(ctx context.Context) map[string]PartStats {
	parts := map[string]func(*PartStats) error{
		partProviders: func(*PartStats) error { return c.offers.Ready(ctx) },
		partBitcoin: func(p *PartStats) error {
			height, err := c.config.Bitcoin.TipHeight(ctx)
			p.Height = uint64(height)
			if s, ok := c.config.Bitcoin.(bitcoin.Listener); ok {
				p.Subscriptions = s.Subscriptions()
			}
			return err
		},
	}
	parts[partStore] = func(*PartStats) error { return c.stored.writes(ctx, c.config.Store) }
	for _, ch := range c.chains {
		parts[ch.Info().ID] = func(p *PartStats) error {
			heads, err := ch.Heads(ctx)
			if err == nil {
				p.Height, p.Time = heads.Latest.Height, time.Unix(heads.Latest.Time, 0)
			}
			if n, ok := ch.(chains.Contradictions); ok {
				p.Contradictions = n.Contradictions()
			}
			if s, ok := ch.(chains.Subscriptions); ok {
				p.Subscriptions = s.Subscriptions()
			}
			return err
		}
	}
	var all sync.WaitGroup
	var mu sync.Mutex
	out := make(map[string]PartStats, len(parts))
	for name, ask := range parts {
		all.Go(func() {
			began := time.Now()
			var p PartStats
			p.Err = ask(&p)
			p.Took = time.Since(began)
			mu.Lock()
			defer mu.Unlock()
			out[name] = p
		})
	}
	all.Wait()
	return out
}
