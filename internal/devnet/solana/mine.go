package solana

import (
	"sync"
	"time"

	"github.com/swapper-go/swapper/internal/devnet/loopback"
	"github.com/swapper-go/swapper/internal/devnet/solana/bank"
)

// Head returns the newest block. It must not be changed.
func (n *Net) Head() (b *bank.Block) {
	n.bank.Read(bank.Processed, 0, func(v *bank.View) { b = v.Head() })
	return b
}

// Mine makes count blocks; the first takes what waits.
func (n *Net) Mine(count int) { n.bank.Produce(count) }

// SetMining says whether transactions are executed as they come in. What waits is
// executed in the next block.
func (n *Net) SetMining(automatic bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.manual = !automatic
	n.bank.SetAutomatic(automatic && n.paced == 0)
}

// Pace leaves the making of blocks to a ticker, also of what somebody waits for: a block
// that often holds whatever came in between. It lasts until stop is called, which makes
// blocks as before.
func (n *Net) Pace(every time.Duration) (stop func()) {
	n.mu.Lock()
	n.paced++
	n.bank.SetAutomatic(false)
	n.mu.Unlock()
	end := loopback.Every(every, func() { n.bank.Produce(1) })
	return sync.OnceFunc(func() {
		end()
		n.mu.Lock()
		defer n.mu.Unlock()
		if n.paced--; n.paced == 0 {
			n.bank.SetAutomatic(!n.manual)
		}
	})
}

// Advance moves the chain's time by d, of a second or more, and with it slots and
// block heights: see [bank.Bank.Advance].
func (n *Net) Advance(d time.Duration) error { return n.bank.Advance(d) }

// Elapse lets the slots of d go by, after the network's clock was moved by d.
func (n *Net) Elapse(d time.Duration) { n.bank.Elapse(d) }

// Time returns the time of the newest block.
func (n *Net) Time() time.Time { return time.Unix(n.Head().Time, 0) }

// Reorg replaces the last depth blocks by a branch of depth+1 empty blocks. The
// transactions of the replaced blocks wait again and are executed in the next block.
func (n *Net) Reorg(depth int) error { return n.bank.Fork(depth, false) }

// Forget is [Net.Reorg] after which the transactions are lost.
func (n *Net) Forget(depth int) error { return n.bank.Fork(depth, true) }

// Lose is [Net.Forget] after which the transactions are too old to be sent again.
func (n *Net) Lose(depth int) error { return n.bank.Lose(depth) }

// DropPending forgets all transactions that wait, as nodes do under pressure.
func (n *Net) DropPending() { n.bank.DropPending() }

// Expire makes all block hashes so far too old for transactions.
func (n *Net) Expire() error { return n.bank.Expire() }
