package watchtower

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/storage"
)

// Report says how the claims on a chain stand. Amounts are base units.
type Report struct {
	Book
	Info    chains.Info   // of the chain, with its tokens
	Account string        // the signer's
	Balance *big.Int      // of the native token; nil: the nodes do not say
	Waiting int           // what is stored and not over
	Refused int           // what could be claimed, of this and of what others say, and does not pay
	Late    time.Duration // how long something that is not refused, or is an own user's, can have been claimed
}

// Reports returns how the claims stand, by chain in the order of the configuration. It reads
// all that waits. Errors are the store's.
func (t *Tower) Reports(ctx context.Context) ([]Report, error) {
	all := make([]Report, len(t.on))
	g, ctx := errgroup.WithContext(ctx)
	for i, on := range t.on {
		g.Go(func() (err error) {
			all[i], err = on.report(ctx)
			return err
		})
	}
	if err := g.Wait(); err != nil {
		return nil, err
	}
	return all, nil
}

func (c *claimer) report(ctx context.Context) (Report, error) {
	b, _, err := c.book(ctx)
	if err != nil {
		return Report{}, err
	}
	p := Report{Book: b.Book, Info: c.info, Account: c.self, Refused: c.heard.refusedNow()}
	now := c.now()
	for e, err := range c.config.Store.Find(ctx, storage.Query{Index: index, Value: c.id}) {
		if err != nil && !errors.Is(err, storage.ErrCorrupt) {
			return Report{}, fmt.Errorf("what waits on %s: %w", c.id, err)
		}
		p.Waiting++
		if err != nil {
			continue
		}
		r, err := read(e)
		if err != nil {
			continue
		}
		if r.Refused {
			p.Refused++
		}
		if r.Open != 0 && (r.Own || !r.Refused) {
			p.Late = max(p.Late, now.Sub(time.UnixMilli(r.Open)))
		}
	}
	if p.Balance, err = c.chain.Balance(ctx, c.self, c.info.Native.Address); err != nil {
		p.Balance = nil
	}
	return p, nil
}
