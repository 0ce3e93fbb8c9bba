package relay

import (
	"context"
	"fmt"

	"golang.org/x/sync/errgroup"

	"github.com/swapper-go/swapper/chains/bitcoin"
)

// proofSource gives what proofs are made of. Every [bitcoin.Backend] is one.
type proofSource interface {
	headerSource
	// MerkleProof returns the proof that a transaction is in a block of the best chain.
	MerkleProof(ctx context.Context, id, block bitcoin.Hash) (bitcoin.MerkleProof, error)
}

// headerSource gives headers of Bitcoin's best chain.
type headerSource interface {
	// HeadersFrom returns headers from a height on, ascending and linked, at
	// most max; none means that the tip is below the height.
	HeadersFrom(ctx context.Context, from uint32, max int) ([]bitcoin.Header, error)
}

// Headers are fetched in pages, and only so many at once: a relay that is
// further behind (15 weeks) is caught up with in several plans.
const (
	headerPage     = 150 // ten pages of mempool.space
	maxSyncHeaders = 16_000
)

// headersAbove returns Bitcoin's best chain above base, up to height until, 0
// for the tip, and at most some 16,000 headers of it. Whatever the source says
// is checked by [bitcoin.CheckHeaders], so a page that ends early, a hole, or a
// reorganisation between two pages cannot slip in; the last is an error, which a
// later call with a base that is still in the chain mends.
func headersAbove(ctx context.Context, src headerSource, n bitcoin.Network, base bitcoin.Header, until uint32) ([]bitcoin.Header, error) {
	var headers []bitcoin.Header
	for last := base; len(headers) < maxSyncHeaders && (until == 0 || last.Height < until); {
		want := headerPage
		if until != 0 {
			want = int(min(uint32(headerPage), until-last.Height))
		}
		page, err := src.HeadersFrom(ctx, last.Height+1, want)
		if err != nil {
			return nil, fmt.Errorf("headers from height %d: %w", last.Height+1, err)
		}
		if len(page) == 0 {
			break
		}
		if len(page) > want {
			return nil, fmt.Errorf("headers from height %d: got %d, requested were %d", last.Height+1, len(page), want)
		}
		if err := bitcoin.CheckHeaders(n, last, page); err != nil {
			return nil, err
		}
		headers = append(headers, page...)
		last = page[len(page)-1]
	}
	return headers, nil
}

// syncUp plans what a relay needs so that it has the header of height until,
// 0 for Bitcoin's tip. It asks the relay two questions at once and the source
// for pages of headers; it sends nothing. A plan without batches means that the
// relay has what is needed. ErrNotFound of the relay stays
// recognisable in the error.
func syncUp(ctx context.Context, relay Relay, src headerSource, n bitcoin.Network, rules Rules, until uint32) (plan, error) {
	var tip, known Header
	g, gctx := errgroup.WithContext(ctx)
	g.Go(func() (err error) {
		if tip, err = relay.Tip(gctx); err != nil {
			err = fmt.Errorf("tip of the Bitcoin relay: %w", err)
		}
		return err
	})
	g.Go(func() (err error) {
		if known, err = relay.LatestKnown(gctx); err != nil {
			err = fmt.Errorf("find the latest block that the relay and Bitcoin share: %w", err)
		}
		return err
	})
	if err := g.Wait(); err != nil {
		return plan{}, err
	}
	if until != 0 && until <= known.Header.Height {
		return plan{Base: known, Top: known}, nil
	}
	limit := until
	if known.Header != tip.Header {
		limit = 0 // a fork has to outweigh the tip, at whatever height that will be
	}
	headers, err := headersAbove(ctx, src, n, known.Header, limit)
	if err != nil {
		return plan{}, err
	}
	return makePlan(n, tip, known, headers, rules, until)
}
