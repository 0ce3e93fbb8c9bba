package evm

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core"
	"github.com/ethereum/go-ethereum/core/types"

	"github.com/swapper-go/swapper/internal/devnet/loopback"
)

// Head returns the header of the newest block.
func (n *Net) Head() *types.Header { return n.node.head() }

// Mine mines count blocks; the first takes what the pool holds.
func (n *Net) Mine(count int) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	for range count {
		if err := n.mine(); err != nil {
			return err
		}
	}
	return nil
}

// SetMining says whether transactions are mined as they come in. What waits is
// mined with the next block.
func (n *Net) SetMining(automatic bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.manual = !automatic
}

// Pace leaves the mining to a ticker, also of what somebody waits for: a block at most
// that often holds whatever came in between. Blocks are a second apart at least, so
// that very many of them in a short time would carry the chain's time away from the
// clock. It lasts until stop is called, which mines as before.
func (n *Net) Pace(every time.Duration) (stop func()) {
	n.mu.Lock()
	n.paced++
	n.mu.Unlock()
	end := loopback.Every(every, func() { _ = n.Mine(1) }) // the next tick tries again
	return sync.OnceFunc(func() {
		end()
		n.mu.Lock()
		n.paced--
		n.mu.Unlock()
	})
}

// Advance mines one block whose time is d, of a second or more, after the newest
// one's. Later blocks continue from there, however slow the clock is.
func (n *Net) Advance(d time.Duration) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	if d < time.Second {
		return errors.New("blocks are a second apart at least")
	}
	head := n.node.head()
	at := time.Unix(int64(head.Time), 0).Add(d)
	if ahead := at.Sub(n.options.Now().Add(n.offset)); ahead > 0 {
		n.offset += ahead
	}
	return n.mineAt(uint64(at.Unix()))
}

// advanceTo is [Net.Advance] to a block of the given time.
func (n *Net) advanceTo(at time.Time) error {
	return n.Advance(at.Sub(time.Unix(int64(n.Head().Time), 0)))
}

// Time returns the time of the newest block.
func (n *Net) Time() time.Time { return time.Unix(int64(n.Head().Time), 0) }

// Reorg replaces the last depth blocks by a longer branch, of depth+1 empty blocks.
// The transactions of the replaced blocks wait again and are mined with the next
// block.
func (n *Net) Reorg(depth uint64) error { return n.Branch(depth, depth+1) }

// Branch is [Net.Reorg] to a branch of any length: a chain whose blocks one party
// orders need not grow when it takes blocks back.
func (n *Net) Branch(depth, length uint64) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	head := n.node.head()
	if n.split != nil {
		return errors.New("the network is split: its blocks are not replaced")
	}
	if depth < 1 || depth > head.Number.Uint64() || length < 1 {
		return fmt.Errorf("cannot replace the last %d of %d blocks by %d", depth, head.Number, length)
	}
	parent := n.node.eth.BlockChain().GetHeaderByNumber(head.Number.Uint64() - depth)
	n.returns(parent.Number.Uint64() + 1)
	at := max(parent.Time, head.Time-min(length, head.Time)) // no earlier than what it replaces, nor alike
	var block *types.Block
	for range length {
		var err error
		at++
		if block, err = n.node.build(context.Background(), parent, at, false); err != nil {
			return err
		}
		parent = block.Header()
	}
	return n.node.adopt(block, n.options.SafeDepth, n.options.FinalDepth)
}

// DropPending forgets all transactions that wait to be mined, as nodes do under
// pressure.
func (n *Net) DropPending() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.node.eth.TxPool().Clear()
}

func (n *Net) mine() error {
	at := n.options.Now().Add(n.offset - Drift).Unix()
	return n.mineAt(max(uint64(max(at, 0)), n.node.head().Time+1))
}

func (n *Net) mineAt(at uint64) error {
	nodes := []*engineNode{n.node}
	if n.split != nil {
		nodes = append(nodes, n.split.node)
	}
	for _, node := range nodes {
		block, err := node.build(context.Background(), node.head(), at, true)
		if err != nil {
			return err
		}
		if err := node.adopt(block, n.options.SafeDepth, n.options.FinalDepth); err != nil {
			return err
		}
	}
	return nil
}

// mineInBackground mines what comes in, and by the clock, until the context ends. What
// comes in is taken from the pool whatever else goes on: the pool waits for that, and who
// makes a block waits for the pool.
func (n *Net) mineInBackground(ctx context.Context) {
	news := make(chan core.NewTxsEvent, 64)
	sub := n.node.eth.TxPool().SubscribeTransactions(news, false)
	var tick <-chan time.Time
	stopTick := func() {}
	if n.options.BlockTime > 0 {
		ticker := time.NewTicker(n.options.BlockTime)
		tick, stopTick = ticker.C, ticker.Stop
	}
	batches := make(chan []*types.Transaction)
	n.stopped.Go(func() {
		defer sub.Unsubscribe()
		defer close(batches)
		var came []*types.Transaction
		for {
			var out chan<- []*types.Transaction
			if len(came) > 0 {
				out = batches
			}
			select {
			case <-ctx.Done():
				return
			case <-sub.Err():
				return
			case e := <-news:
				came = append(came, e.Txs...)
			case out <- came:
				came = nil
			}
		}
	})
	n.stopped.Go(func() {
		defer stopTick()
		for {
			select {
			case came, ok := <-batches:
				if !ok {
					return
				}
				n.mineWaiting(came)
			case <-tick:
				n.mu.Lock()
				_ = n.mine() // the next tick tries again
				n.mu.Unlock()
			}
		}
	})
}

// mineSent mines the transaction of a hash, so that who has sent it is answered when it is in a
// block, if it can be and mining is not on demand.
func (n *Net) mineSent(answer json.RawMessage) {
	var id common.Hash
	if json.Unmarshal(answer, &id) != nil {
		return
	}
	pool := n.node.eth.TxPool()
	n.mu.Lock() // of those who wait for the pool at the same time, it would forget all but one
	err := pool.Sync()
	n.mu.Unlock()
	if tx := pool.Get(id); err == nil && tx != nil { // else it has been mined
		n.mineWaiting([]*types.Transaction{tx})
	}
}

// mineWaiting mines until nothing waits that a block takes, unless mining is on
// demand or all that came in is back from a reorganisation. Waiters for receipts
// notice if it fails.
func (n *Net) mineWaiting(came []*types.Transaction) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if !slices.ContainsFunc(came, func(tx *types.Transaction) bool { return !n.returned[tx.Hash()] }) {
		return
	}
	for !n.manual && n.paced == 0 {
		if waiting, _ := n.node.eth.TxPool().Stats(); waiting == 0 {
			return
		}
		if err := n.mine(); err != nil || n.node.head().GasUsed == 0 {
			return
		}
	}
}
