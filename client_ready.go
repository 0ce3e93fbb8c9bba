package swapper

import (
	"context"
	"maps"
	"slices"
	"strings"
	"sync"
)

// Parts of a client in [NotReady], beside the ids of the chains.
const (
	PartProviders = "liquidity providers"
	PartBitcoin   = "bitcoin"
)

// NotReady is the error of [Client.Ready]: what cannot be used now, and why.
// Swaps that do not need it are possible.
type NotReady struct {
	Parts map[string]error // by PartProviders, PartBitcoin or a chain's id
}

func (e *NotReady) Error() string {
	var words []string
	for _, part := range slices.Sorted(maps.Keys(e.Parts)) {
		words = append(words, part+": "+e.Parts[part].Error())
	}
	return "not ready: " + strings.Join(words, "; ")
}

// Unwrap returns the reasons.
func (e *NotReady) Unwrap() []error { return slices.Collect(maps.Values(e.Parts)) }

// Ready reports whether swaps can be made now: some liquidity provider can be
// asked for a quote, and the smart chains and the Bitcoin backend answer. It takes
// one round trip, all of them at once, and the loading of the providers if none is
// known or none could be reached lately. Errors:
// *[NotReady] with all that is missing.
func (c *Client) Ready(ctx context.Context) (err error) {
	ctx, end, err := c.life.begin(ctx)
	if err != nil {
		return err
	}
	defer end(&err)
	parts := map[string]func() error{
		PartProviders: func() error { return c.offers.Ready(ctx) },
		PartBitcoin:   func() error { _, err := c.config.Bitcoin.TipHeight(ctx); return err },
	}
	for _, ch := range c.chains {
		parts[ch.Info().ID] = func() error { _, err := ch.Heads(ctx); return err }
	}
	var all sync.WaitGroup
	var mu sync.Mutex
	missing := map[string]error{}
	for part, ask := range parts {
		all.Go(func() {
			if err := ask(); err != nil {
				mu.Lock()
				defer mu.Unlock()
				missing[part] = err
			}
		})
	}
	all.Wait()
	if len(missing) > 0 {
		return &NotReady{Parts: missing}
	}
	return nil
}
