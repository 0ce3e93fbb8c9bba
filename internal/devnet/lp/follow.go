package lp

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/ethereum/go-ethereum/common"

	"github.com/swapper-go/swapper/chains"
)

// deal is a swap that the LP has agreed to. Only the goroutine that follows the
// chains calls step; what others read is under the LP's mutex.
type deal interface {
	// escrow is the hash of the escrow to be looked at; false if there is none yet.
	escrow() (common.Hash, bool)
	// step does what is to be done now; done says that nothing is left.
	step(ctx context.Context, l *LP, fact *chains.EscrowFact) (done bool, err error)
}

// keep remembers a deal under the keys that clients ask with.
func (l *LP) keep(d deal, keys ...string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, k := range keys {
		l.deals[k] = d
	}
	l.live = append(l.live, d)
}

func (l *LP) find(key string) deal {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.deals[key]
}

// follow looks at the chains until the LP is closed.
func (l *LP) follow(ctx context.Context) {
	ticker := time.NewTicker(l.o.Poll)
	defer ticker.Stop()
	var seen look
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			problems := l.pass(ctx, &seen)
			l.mu.Lock()
			l.problems = problems
			l.mu.Unlock()
		}
	}
}

// look is what was last seen of the EVM network: while its head is the same there
// is nothing new to be read.
type look struct {
	head  string
	facts map[common.Hash]chains.EscrowFact
}

// pass takes every deal one step on.
func (l *LP) pass(ctx context.Context, seen *look) (problems []error) {
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	l.mu.Lock()
	live := append([]deal(nil), l.live...)
	l.mu.Unlock()
	head := l.chain.head()
	if head.Hash != seen.head {
		seen.facts = make(map[common.Hash]chains.EscrowFact)
	}
	var ask []common.Hash
	for _, d := range live {
		if hash, ok := d.escrow(); ok {
			if _, known := seen.facts[hash]; !known {
				ask = append(ask, hash)
			}
		}
	}
	if len(ask) > 0 {
		facts, err := l.chain.escrows(ctx, ask, head)
		if err != nil {
			return []error{err}
		}
		for hash, f := range facts {
			seen.facts[hash] = f
		}
	}
	seen.head = head.Hash
	finished := make(map[deal]bool)
	for _, d := range live {
		var fact *chains.EscrowFact
		if hash, ok := d.escrow(); ok {
			f, known := seen.facts[hash]
			if !known {
				continue // asked in vain; the next pass tries again
			}
			fact = &f
		}
		done, err := d.step(ctx, l, fact)
		if err != nil {
			problems = append(problems, fmt.Errorf("%T: %w", d, err))
		}
		if done {
			finished[d] = true
		}
	}
	if err := errors.Join(l.followVaults(ctx), l.replaceVaults(ctx)); err != nil {
		problems = append(problems, err)
	}
	l.forget(finished)
	return problems
}

func (l *LP) forget(finished map[deal]bool) {
	if len(finished) == 0 {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	var live []deal
	for _, d := range l.live {
		if !finished[d] {
			live = append(live, d)
		}
	}
	l.live = live
}
