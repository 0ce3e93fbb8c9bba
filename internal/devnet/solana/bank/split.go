package bank

import (
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/swapper-go/swapper/internal/solana/wire"
)

// Split is a chain that two banks tell differently, see [Bank.Split].
type Split struct {
	Bank *Bank // the second one, for [Bank.Read] and [Bank.Send]
	of   *Bank
}

// Split makes a second bank that stays with the chain as it is now. What is sent to either
// bank from then on is in its chain alone. Both chains get blocks of the same slots, heights
// and times, whenever the first one does. Until it ends, blocks are not replaced.
func (b *Bank) Split() (*Split, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.split != nil {
		return nil, errors.New("the chain is split already")
	}
	b.split = &Split{of: b, Bank: &Bank{now: b.now, programs: b.programs, leader: b.leader, lags: b.lags, came: make(chan struct{}, 1), moved: make(chan struct{}),
		ledger: b.ledger.clone(), queued: map[wire.Signature]bool{}, manual: true, burnt: b.burnt}}
	return b.split, nil
}

// follow makes a block like one of the first bank. A chain that is not split has none.
func (p *Split) follow(slots, heights uint64, offset time.Duration) {
	if p == nil {
		return
	}
	p.Bank.mu.Lock()
	defer p.Bank.mu.Unlock()
	p.Bank.offset = offset
	p.Bank.produce(slots, heights)
}

// End ends the second bank. Its chain becomes that of the first one if it prevails, whose
// own is lost then, and is lost if not. What waits to be executed in the chain that is lost
// is lost too.
func (p *Split) End(prevails bool) error {
	b, other := p.of, p.Bank
	b.mu.Lock()
	defer b.mu.Unlock()
	other.mu.Lock()
	defer other.mu.Unlock()
	if b.split != p {
		return errors.New("the split has ended")
	}
	b.split = nil
	if prevails {
		b.ledger, b.burnt, b.waiting, b.queued = other.ledger, other.burnt, other.waiting, other.queued
	}
	b.changed()
	other.changed()
	return nil
}

// clone is a ledger with the same blocks and transactions, which go their own way.
func (l *ledger) clone() *ledger {
	c := &ledger{blocks: slices.Clone(l.blocks), accounts: maps.Clone(l.accounts), hashes: maps.Clone(l.hashes), byID: maps.Clone(l.byID),
		byMessage: maps.Clone(l.byMessage), history: maps.Clone(l.history), lost: maps.Clone(l.lost)}
	for k, all := range c.accounts {
		c.accounts[k] = slices.Clone(all)
	}
	for k, all := range c.history {
		c.history[k] = slices.Clone(all)
	}
	return c
}
