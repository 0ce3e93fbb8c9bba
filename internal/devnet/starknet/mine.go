package starknet

import (
	"sync"
	"time"

	"github.com/swapper-go/swapper/internal/devnet/loopback"
)

// Mine closes count blocks; the first takes what waits.
func (n *Net) Mine(count int) { n.chain.Produce(count) }

// SetMining says whether a block is closed for each transaction. Without that,
// transactions are pre-confirmed until a block is made.
func (n *Net) SetMining(automatic bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.manual = !automatic
	n.chain.SetAutomatic(automatic && n.paced == 0)
}

// Pace leaves the closing of blocks to a ticker, also of what somebody waits for. It
// lasts until stop is called, which closes blocks as before.
func (n *Net) Pace(every time.Duration) (stop func()) {
	n.mu.Lock()
	n.paced++
	n.chain.SetAutomatic(false)
	n.mu.Unlock()
	end := loopback.Every(every, func() { n.chain.Produce(1) })
	return sync.OnceFunc(func() {
		end()
		n.mu.Lock()
		defer n.mu.Unlock()
		if n.paced--; n.paced == 0 {
			n.chain.SetAutomatic(!n.manual)
		}
	})
}

// Hold says whether transactions wait, as received, until the next block is made.
func (n *Net) Hold(on bool) { n.chain.Hold(on) }

// Advance makes a block whose time is d after that of the newest one.
func (n *Net) Advance(d time.Duration) { n.chain.Advance(d) }

// Elapse makes a block of the present time, after the network's clock was moved.
func (n *Net) Elapse() { n.chain.Advance(0) }

// Time returns the time of the newest block.
func (n *Net) Time() time.Time { return time.Unix(n.Head().Time, 0) }

// Branch replaces the last depth blocks by a branch of length empty ones. The
// transactions of the replaced blocks wait again and are executed in the next block.
func (n *Net) Branch(depth, length int) error { return n.chain.Branch(depth, length, false) }

// Reorg is [Net.Branch] by one that is a block longer.
func (n *Net) Reorg(depth int) error { return n.chain.Branch(depth, depth+1, false) }

// Forget is [Net.Reorg] after which the transactions are lost.
func (n *Net) Forget(depth int) error { return n.chain.Branch(depth, depth+1, true) }

// DropPending forgets all transactions that wait, as nodes do under pressure.
func (n *Net) DropPending() { n.chain.DropPending() }

// DropPreConfirmed forgets the open block with its transactions: those who saw them
// pre-confirmed see them no more.
func (n *Net) DropPreConfirmed() { n.chain.DropPreConfirmed() }
