package swapper

import (
	"context"
	"fmt"

	"golang.org/x/sync/errgroup"
)

// Ready reports whether swaps can be made now: liquidity providers are known,
// and the smart chains and the Bitcoin backend answer. It takes one round trip,
// all of them at once, and the loading of the providers if none is known.
func (c *Client) Ready(ctx context.Context) (err error) {
	ctx, end, err := c.life.begin(ctx)
	if err != nil {
		return err
	}
	defer end(&err)
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error {
		if err := c.loaded(ctx); err != nil {
			return fmt.Errorf("liquidity providers: %w", err)
		}
		return nil
	})
	g.Go(func() error {
		if _, err := c.config.Bitcoin.TipHeight(ctx); err != nil {
			return fmt.Errorf("bitcoin: %w", err)
		}
		return nil
	})
	for _, ch := range c.chains {
		g.Go(func() error {
			if _, err := ch.Heads(ctx); err != nil {
				return fmt.Errorf("chain %s: %w", ch.Info().ID, err)
			}
			return nil
		})
	}
	return g.Wait()
}
