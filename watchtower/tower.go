package watchtower

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/internal/fleet"
	"github.com/swapper-go/swapper/storage"
)

// Tower is a watchtower. Its methods are safe for concurrent use.
//
// Everything that it is going to send is stored before it is sent, so that it can be killed
// at any moment: the next one on the same store goes on.
type Tower struct {
	config Config
	on     []*claimer
	closed sync.Once
}

var _ Claimer = (*Tower)(nil)

// Open connects to the chains. A chain whose nodes are not responding is opened all the
// same; errors are those of [chains.Factory.Open], or have the code fault.InvalidInput and
// name the member of the configuration.
func Open(ctx context.Context, c Config) (*Tower, error) {
	c, err := c.fill()
	if err != nil {
		return nil, fmt.Errorf("configuration: %w", err)
	}
	if _, ok := c.Bitcoin.(bitcoin.BlockReader); c.Payments && !ok {
		c.Log.Warn("others' escrows that wait for a bitcoin payment are not found: the Bitcoin backend cannot read whole blocks")
	}
	t := &Tower{config: c, on: make([]*claimer, len(c.Chains))}
	g, inner := errgroup.WithContext(ctx)
	for i, a := range c.Chains {
		g.Go(func() (err error) {
			if t.on[i], err = openClaimer(inner, c, a); err != nil {
				return fmt.Errorf("chain %s: %w", a.Chain.ID(), err)
			}
			return nil
		})
	}
	if err := g.Wait(); err != nil {
		return nil, errors.Join(err, t.Close())
	}
	return t, nil
}

// Close releases what was opened. Run must have ended.
func (t *Tower) Close() (err error) {
	t.closed.Do(func() {
		for _, on := range t.on {
			if on == nil {
				continue
			}
			if closer, ok := on.chain.(io.Closer); ok {
				err = errors.Join(err, closer.Close())
			}
		}
	})
	return err
}

// Run claims until ctx ends, and returns its cause. What fails is logged and tried again.
// Towers of several processes on one store, which must then be a [storage.Leaser], divide the
// chains: one of them claims on each, and another takes over within seconds from one that
// dies. On any other store only one Run may be active at a time.
func (t *Tower) Run(ctx context.Context) error {
	leaser, _ := t.config.Store.(storage.Leaser)
	shared := fleet.New(fleet.Options{Leaser: leaser, Log: t.config.Log, JobsOnly: true})
	var all sync.WaitGroup
	all.Go(func() { _ = shared.Run(ctx) })
	for _, source := range t.config.Sources {
		all.Go(func() {
			if err := source.Listen(ctx, t.hear); ctx.Err() == nil {
				t.config.Log.Error("a source of messages has ended", "err", err)
			}
		})
	}
	for _, on := range t.on {
		all.Go(func() { shared.Job(ctx, index+"/"+on.id, on.run) })
	}
	all.Wait()
	return context.Cause(ctx)
}

// hear takes a message of others.
func (t *Tower) hear(m Message) {
	for _, on := range t.on {
		for _, e := range on.read(m) {
			on.heard.add(heard{escrow: e, preimage: m.Preimage, at: t.config.Now()})
		}
	}
}

// Publish takes over the claim of an own user's swap: it stores it, and [Tower.Run] claims
// it. So a Tower can be the Messenger of whoever opened the swap. The preimage must be
// handed over only once it may become public. Errors of the code fault.InvalidInput say that
// the message is about nothing that the tower can claim.
func (t *Tower) Publish(ctx context.Context, m Message) error {
	known := false
	for _, on := range t.on {
		for _, e := range on.read(m) {
			known = true
			if err := on.adopt(ctx, record{Version: e.Version, Escrow: e.Data, Preimage: m.Preimage, Own: true}, e.Hash); err != nil {
				return err
			}
		}
	}
	if !known {
		return fault.Invalid("escrow", "is none of a configured chain that its preimage opens")
	}
	return nil
}
