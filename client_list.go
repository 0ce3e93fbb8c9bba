package swapper

import (
	"context"
	"errors"

	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/internal/engine"
	"github.com/swapper-go/swapper/internal/swap"
)

// ListSwaps implements [Service]. Swaps are listed newest first, from the store
// alone.
func (c *Client) ListSwaps(ctx context.Context, in ListSwapsInput) (_ []ListSwapOutput, err error) {
	ctx, end, err := c.life.begin(ctx)
	if err != nil {
		return nil, err
	}
	defer end(&err)
	return c.list(ctx, in, false, listable)
}

// ListPendingSwaps implements [Service]. Swaps are listed newest first, from
// the store alone.
func (c *Client) ListPendingSwaps(ctx context.Context, in ListSwapsInput) (_ []ListSwapOutput, err error) {
	ctx, end, err := c.life.begin(ctx)
	if err != nil {
		return nil, err
	}
	defer end(&err)
	return c.list(ctx, in, true, listable)
}

// listable reports whether lists show swaps of a type: all but gas for on-chain
// bitcoin (protocol: utilities.md §3, swap-flows-spv-and-core.md B2).
func listable(t swap.Type) bool { return t != swap.TrustedFromBTC }

func (c *Client) list(ctx context.Context, in ListSwapsInput, pending bool, show func(swap.Type) bool) ([]ListSwapOutput, error) {
	if err := in.Validate(); err != nil {
		return nil, err
	}
	accounts, err := c.Accounts(in.Signer, in.ChainID)
	if err != nil {
		return nil, err
	}
	var after *swap.Record
	if in.After != "" {
		if after, err = c.engine.Load(ctx, in.After); fault.CodeOf(err) == fault.NotFound {
			return nil, fault.Invalid("after", "is not a swap of this list; start again without it")
		} else if err != nil {
			return nil, err
		}
	}
	out := []ListSwapOutput{}
	found := after == nil
	for _, a := range accounts {
		if !found && (after.Chain != a.Chain || after.Signer != a.Signer) {
			continue // listed before
		}
		from := after
		if found {
			from = nil
		}
		found = true
		for r, err := range c.engine.List(ctx, a.Chain, a.Signer, pending, from, in.Limit-len(out)) {
			if err != nil {
				if errors.Is(err, engine.ErrUnreadable) {
					c.config.Logger.Error("stored swap is unreadable; left out of the list", "err", err)
					continue
				}
				return nil, err
			}
			if !show(r.Type) {
				continue
			}
			if out = append(out, c.listed(ctx, r)); len(out) == in.Limit {
				return out, nil
			}
		}
	}
	if !found {
		return nil, fault.Invalid("after", "is not a swap of this list; start again without it")
	}
	return out, nil
}
