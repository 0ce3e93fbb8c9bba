package contracts

import (
	"errors"
	"maps"
	"slices"
	"time"
)

// Fork is a chain that two of them tell differently, see [Chain.Split].
type Fork struct {
	Chain *Chain // the second one, for [Chain.Read] and [Chain.Send]
	of    *Chain
}

// Split makes a second chain that stays with this one as it is now, without what is in the
// open block. What is sent to either from then on is in it alone. Both get blocks of the
// same heights and times, whenever the first one does. Until it ends, blocks are not
// replaced.
func (c *Chain) Split() (*Fork, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.split != nil {
		return nil, errors.New("the chain is split already")
	}
	if c.open != nil {
		c.close()
	}
	c.split = &Fork{of: c, Chain: &Chain{options: c.options, classes: c.classes, ledger: c.ledger.clone(), blocks: slices.Clone(c.blocks), byBlock: maps.Clone(c.byBlock),
		byHash: maps.Clone(c.byHash), queued: map[Felt]bool{}, manual: true, prices: c.prices, built: c.built, moved: make(chan struct{})}}
	return c.split, nil
}

// follow closes a block like one of the first chain. One that is not split has none.
func (p *Fork) follow(at uint64, offset time.Duration) {
	if p == nil {
		return
	}
	c := p.Chain
	c.mu.Lock()
	defer c.mu.Unlock()
	c.offset = offset
	c.fill()
	c.current().Time = at
	c.close()
}

// End ends the second chain. It becomes the first one if it prevails, whose own blocks are
// lost then, and is lost if not. What waits to be executed in the chain that is lost is lost
// too.
func (p *Fork) End(prevails bool) error {
	c, other := p.of, p.Chain
	c.mu.Lock()
	defer c.mu.Unlock()
	other.mu.Lock()
	defer other.mu.Unlock()
	if c.split != p {
		return errors.New("the split has ended")
	}
	c.split = nil
	if prevails {
		c.ledger, c.blocks, c.open, c.byBlock, c.byHash, c.built = other.ledger, other.blocks, other.open, other.byBlock, other.byHash, other.built
		c.waiting, c.queued = other.waiting, other.queued
	}
	c.changed()
	other.changed()
	return nil
}

func (l *ledger) clone() *ledger {
	return &ledger{l.slots.clone(), l.classes.clone(), l.nonces.clone()}
}

// clone is a history with the same past, which goes its own way.
func (h history[K, T]) clone() history[K, T] {
	c := history[K, T]{maps.Clone(h.all), maps.Clone(h.changed)}
	for k, all := range c.all {
		c.all[k] = slices.Clone(all)
	}
	for block, keys := range c.changed {
		c.changed[block] = slices.Clone(keys)
	}
	return c
}
