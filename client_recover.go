package swapper

import (
	"context"
	"errors"

	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/internal/recovery"
)

// Recover rebuilds the swaps of a signer after the store was lost, from the
// history of every chain on which the signer is a valid address. It returns the
// swaps that were not in the store yet, and those that were there with an end that
// the chain contradicts and are corrected. The chains are read from the contracts'
// first block on, which can take minutes. Amounts on the other side, prices and
// fees are not on the chain and stay unknown; refunds work all the same. A
// provider is asked to authorize one as soon as it is among those configured and
// answers; until then the money comes back by time alone. Swaps
// that were found are stored and returned even together with an error.
func (c *Client) Recover(ctx context.Context, signer string) (_ []ListSwapOutput, err error) {
	ctx, end, err := c.life.begin(ctx)
	if err != nil {
		return nil, err
	}
	defer end(&err)
	if signer == "" {
		return nil, fault.Invalid("signer", "is required")
	}
	// A swap's provider is found by its address once it is loaded, then or later.
	if err := c.loaded(ctx); err != nil {
		c.config.Logger.Warn("recovering swaps without the liquidity providers", "err", err)
	}
	var out []ListSwapOutput
	var failed error
	valid := false
	for _, ch := range c.chains {
		own, err := ch.Address(signer)
		if err != nil {
			continue
		}
		valid = true
		found, err := recovery.Recover(ctx, c.quoter, ch.Info().ID, own)
		for _, r := range found {
			out = append(out, c.listed(ctx, r))
		}
		failed = errors.Join(failed, err)
	}
	if !valid {
		return nil, fault.Invalid("signer", "is not an address on any configured chain")
	}
	return out, failed
}
