package contracts

import (
	"time"

	"github.com/swapper-go/swapper/internal/starknet/wire"
)

// Block is a block of the chain, or the one that is open. It must not be changed.
type Block struct {
	Number     uint64
	Time       uint64 // Unix seconds
	Prices     Prices
	Sequencer  Felt
	Txs        []*Executed
	Hash, Root Felt // zero while the block is open
	Parent     Felt // hash of the block before
}

// Executed is a transaction that is part of a block.
type Executed struct {
	*Tx
	*Result
	Block *Block
	Index int // within the block
}

func (b *Block) info() BlockInfo { return BlockInfo{b.Number, b.Time, b.Sequencer} }

// seal names a block by what came before and what is in it. Built makes it another one
// than a block that it replaces.
func (b *Block) seal(built uint64, d Diff) {
	changes := []Felt{b.Parent}
	for _, s := range d.Storage {
		changes = append(changes, s.Contract, s.Key, s.Value)
	}
	for _, n := range d.Nonces {
		changes = append(changes, n.Contract, wire.FeltOf(n.Nonce))
	}
	for _, c := range append(d.Deployed[:len(d.Deployed):len(d.Deployed)], d.Replaced...) {
		changes = append(changes, c.Contract, c.Class)
	}
	b.Root = wire.Poseidon(changes...)
	all := []Felt{wire.ShortString("STARKNET_BLOCK_HASH1"), wire.FeltOf(b.Number), b.Root, b.Sequencer, wire.FeltOf(b.Time), b.Parent, wire.FeltOf(built)}
	for _, tx := range b.Txs {
		all = append(all, tx.Hash)
	}
	b.Hash = wire.Poseidon(all...)
}

// Head returns the newest block that is closed.
func (c *Chain) Head() *Block {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return c.head()
}

func (c *Chain) head() *Block { return c.blocks[len(c.blocks)-1] }

// current is the open block, made if there is none.
func (c *Chain) current() *Block {
	if c.open == nil {
		c.open = c.next()
	}
	return c.open
}

// next is a block to come after the head.
func (c *Chain) next() *Block {
	head := c.head()
	return &Block{Number: head.Number + 1, Parent: head.Hash, Time: max(head.Time, c.now()), Prices: c.prices, Sequencer: c.options.Sequencer}
}

func (c *Chain) now() uint64 { return uint64(max(c.options.Now().Add(c.offset).Unix(), 0)) }

// close closes the open block.
func (c *Chain) close() {
	b := c.current()
	c.open = nil
	c.built++
	b.seal(c.built, c.ledger.diff(b.Number))
	c.blocks = append(c.blocks, b)
	c.byBlock[b.Hash] = b
	c.changed()
	c.split.follow(b.Time, c.offset)
}

// changed tells those who wait.
func (c *Chain) changed() {
	close(c.moved)
	c.moved = make(chan struct{})
}

// Moved returns a channel that is closed when the chain has changed after this call.
func (c *Chain) Moved() <-chan struct{} {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return c.moved
}

// Produce closes count blocks; the first takes what waits.
func (c *Chain) Produce(count int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for range count {
		c.fill()
		c.close()
	}
}

// Advance closes the open block, if there is anything in it, and makes another one whose
// time is d after that of the newest one. Later blocks go on from there, however slow the
// clock is.
func (c *Chain) Advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.open != nil {
		c.close()
	}
	at := c.head().Time + uint64(max(d, 0)/time.Second)
	if now := c.now(); at > now {
		c.offset += time.Duration(at-now) * time.Second
	}
	c.fill()
	c.current().Time = max(c.current().Time, at)
	c.close()
}

// SetPrices changes what gas costs in the blocks to come.
func (c *Chain) SetPrices(p Prices) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.prices = p
}

// Branch replaces the last depth blocks, and the open one, by length empty ones. The
// transactions of the replaced blocks wait again and are executed in the next block;
// with lost they are forgotten instead.
func (c *Chain) Branch(depth, length int, lost bool) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.split != nil {
		return refuse(Unsupported, "the chain is split: its blocks are not replaced")
	}
	if depth < 1 || length < 1 || depth >= len(c.blocks) {
		return refuse(Unsupported, "cannot replace the last %d of %d blocks by %d", depth, len(c.blocks), length)
	}
	back := c.cutOpen()
	at := c.head().Time
	for range depth {
		b := c.head()
		c.blocks = c.blocks[:len(c.blocks)-1]
		delete(c.byBlock, b.Hash)
		back = append(c.cut(b), back...)
	}
	for range length {
		c.open = c.next()
		c.open.Time = max(c.head().Time, at)
		c.close()
	}
	if !lost {
		c.requeue(back)
	}
	return nil
}

// cutOpen takes the open block away.
func (c *Chain) cutOpen() []*Tx {
	if c.open == nil {
		return nil
	}
	b := c.open
	c.open = nil
	return c.cut(b)
}

// cut undoes what a block did, which is the newest, and returns its transactions.
func (c *Chain) cut(b *Block) []*Tx {
	c.ledger.cut(b.Number)
	var all []*Tx
	for _, tx := range b.Txs {
		delete(c.byHash, tx.Hash)
		if tx.Type != deployment { // whoever set the network up does so once
			all = append(all, tx.Tx)
		}
	}
	return all
}

func (c *Chain) requeue(back []*Tx) {
	c.waiting = append(back, c.waiting...)
	for _, tx := range back {
		c.queued[tx.Hash] = true
	}
}
