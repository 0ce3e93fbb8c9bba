package bank

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/gagliardetto/solana-go"

	"github.com/swapper-go/swapper/internal/solana/wire"
)

const (
	maxAge     = 150 // blocks for which the hash of another one is good
	epochSlots = 432_000
	votes      = 1_000_000 * solana.LAMPORTS_PER_SOL // that the validator has for its votes: there is one in each block, so that no block is without fees
	kept       = 150                                 // blocks of a jump in time that are made: clients look back so far
)

// Options of a bank. The zero value is good for tests.
type Options struct {
	Now      func() time.Time // the network's clock; nil: time.Now
	Programs map[Key]Program  // beside those of Solana itself
	Accounts map[Key]Account  // that exist from the start

	Manual   bool          // blocks are made on demand only
	SlotTime time.Duration // a block is made at least this often; 0: only for transactions

	// How many blocks below the head the newest confirmed and the newest finalized
	// block are.
	ConfirmedLag, FinalizedLag int
}

// Bank is a ledger and what extends it. Its methods are safe for concurrent use.
type Bank struct {
	now      func() time.Time
	programs map[Key]*program
	leader   Key
	lags     [3]int
	stop     context.CancelFunc
	stopped  sync.WaitGroup
	came     chan struct{} // a transaction is waiting

	mu      sync.RWMutex
	ledger  *ledger
	waiting []*Tx
	queued  map[wire.Signature]bool
	manual  bool
	offset  time.Duration // of the chain's time to the clock
	burnt   uint64        // lamports of fees that were burnt
	moved   chan struct{} // closed when the chain has changed
	split   *Split        // nil: there is one chain
}

// New makes a bank with a first block.
func New(o Options) (*Bank, error) {
	if o.ConfirmedLag < 0 || o.FinalizedLag < o.ConfirmedLag {
		return nil, fmt.Errorf("a finalized block is confirmed: the lags %d and %d do not fit", o.ConfirmedLag, o.FinalizedLag)
	}
	leader := sha256.Sum256([]byte("local solana network: validator"))
	b := &Bank{now: o.Now, programs: builtins(), leader: Key(solana.PrivateKey(seedKey(leader)).PublicKey()), ledger: newLedger(), queued: map[wire.Signature]bool{},
		lags: [3]int{0, o.ConfirmedLag, o.FinalizedLag}, manual: o.Manual, came: make(chan struct{}, 1), moved: make(chan struct{})}
	if b.now == nil {
		b.now = time.Now
	}
	for id, p := range o.Programs {
		if b.programs[id] != nil {
			return nil, fmt.Errorf("the program %s is part of the bank", id)
		}
		b.programs[id] = &program{Program: p}
	}
	first := &Block{Time: b.now().Unix(), Leader: b.leader, Hash: sha256.Sum256([]byte("local solana network"))}
	for id, p := range b.programs {
		b.ledger.set(id, 0, p.account(id))
	}
	b.ledger.set(b.leader, 0, &Account{Lamports: votes, Owner: wire.SystemProgram})
	b.ledger.set(wire.WSOL, 0, nativeMint())
	for k, a := range o.Accounts {
		if a.Lamports < wire.Rent(len(a.Data)) {
			return nil, fmt.Errorf("account %s: %d bytes need %d lamports, not %d", k, len(a.Data), wire.Rent(len(a.Data)), a.Lamports)
		}
		b.ledger.set(k, 0, a.clone())
	}
	b.ledger.adopt(first)
	ctx, cancel := context.WithCancel(context.Background())
	b.stop = cancel
	b.produceInBackground(ctx, o.SlotTime)
	return b, nil
}

// Close ends the making of blocks. It may be called more than once.
func (b *Bank) Close() error {
	b.stop()
	b.stopped.Wait()
	return nil
}

// Send takes a transaction in wire format. It is executed in one of the next blocks,
// if it can be: like the network's, the bank says nothing of those that cannot.
// Errors: see [Parse] and [Tx.Verify].
func (b *Bank) Send(raw []byte) (wire.Signature, error) {
	tx, err := Parse(raw)
	if err != nil {
		return wire.Signature{}, err
	}
	if err := tx.Verify(); err != nil {
		return wire.Signature{}, err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.ledger.byMessage[tx.hash] == nil && !b.queued[tx.ID] {
		b.waiting, b.queued[tx.ID] = append(b.waiting, tx), true
		select {
		case b.came <- struct{}{}:
		default:
		}
	}
	return tx.ID, nil
}

// DropPending forgets all transactions that wait, as nodes do under pressure.
func (b *Bank) DropPending() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.waiting, b.queued = nil, map[wire.Signature]bool{}
}

// SetAutomatic says whether transactions are executed as they come in. What waits is
// executed in the next block.
func (b *Bank) SetAutomatic(on bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.manual = !on
}

// Produce makes count blocks; the first takes what waits.
func (b *Bank) Produce(count int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for range count {
		b.produce(1, 0)
	}
}

// Skip leaves slots without a block: the next one comes after them.
func (b *Bank) Skip(slots uint64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.produce(1+slots, 0)
}

// Advance moves the chain's time, and with it slots and block heights as far as they
// grow in that time; at least so far that the new time is finalized. Of a long time the
// last blocks alone are kept, as by a node that began with a newer snapshot.
func (b *Bank) Advance(d time.Duration) error {
	if d < time.Second {
		return errors.New("the chain's time counts whole seconds")
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.advance(d)
	return nil
}

func (b *Bank) advance(d time.Duration) {
	at := b.ledger.head().Time + int64(d/time.Second)
	if ahead := at - b.now().Add(b.offset).Unix(); ahead > 0 {
		b.offset += time.Duration(ahead) * time.Second
	}
	b.elapse(d)
}

// Elapse is the same for a bank whose clock has been moved by d: it lets the slots of
// that time go by.
func (b *Bank) Elapse(d time.Duration) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.elapse(d)
}

func (b *Bank) elapse(d time.Duration) {
	slots := max(uint64(max(d, 0)/wire.SlotTime), 1)
	made := min(slots, kept)
	b.produce(slots-made+1, slots-made)
	for range max(made, uint64(b.lags[Finalized])+1) - 1 {
		b.produce(1, 0)
	}
}

// Expire makes the hashes of all blocks so far too old for transactions, by what is
// final.
func (b *Bank) Expire() error {
	return b.Advance(b.expiry())
}

func (b *Bank) expiry() time.Duration {
	return time.Duration(maxAge+3+b.lags[Finalized]) * wire.SlotTime
}

// Fork replaces the last depth blocks by a branch of depth+1 empty ones, in later
// slots. The transactions of the replaced blocks wait again and are executed in the
// next block, also those whose block hash is of a replaced block; with lost they are
// forgotten instead.
func (b *Bank) Fork(depth int, lost bool) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.fork(depth, lost)
}

// Lose is Fork after which the transactions are lost for good: they are too old before
// anyone can send them again.
func (b *Bank) Lose(depth int) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if err := b.fork(depth, true); err != nil {
		return err
	}
	b.waiting, b.queued = nil, map[wire.Signature]bool{}
	b.advance(b.expiry())
	return nil
}

func (b *Bank) fork(depth int, lost bool) error {
	if b.split != nil {
		return errors.New("the chain is split: its blocks are not replaced")
	}
	if depth < 1 || depth >= len(b.ledger.blocks) {
		return fmt.Errorf("cannot replace the last %d of %d blocks", depth, len(b.ledger.blocks))
	}
	slot, blocks, waiting := b.ledger.head().Slot, []*Block(nil), b.waiting
	for range depth {
		cut := b.ledger.cut()
		b.burnt -= cut.burnt
		blocks = append(blocks, cut)
	}
	b.waiting = nil
	for i := range depth + 1 {
		gap := uint64(1)
		if i == 0 {
			gap = slot - b.ledger.head().Slot + 1
		}
		b.produce(gap, 0)
	}
	if !lost {
		for i := len(blocks) - 1; i >= 0; i-- {
			for _, tx := range blocks[i].Txs {
				tx.returned = true
				b.waiting, b.queued[tx.ID] = append(b.waiting, tx.Tx), true
			}
		}
	}
	b.waiting = append(b.waiting, waiting...)
	return nil
}

// produce makes one block, slots after the last and heights higher than the next.
func (b *Bank) produce(slots, heights uint64) {
	l, parent := b.ledger, b.ledger.head()
	block := &Block{Slot: parent.Slot + slots, ParentSlot: parent.Slot, ParentHash: parent.Hash, Height: parent.Height + 1 + heights,
		Time: max(parent.Time, b.now().Add(b.offset).Unix()), Leader: b.leader}
	e := execution{programs: b.programs, clock: clockOf(block), base: func(k Key) *Account { return l.at(k, block.Slot) }}
	waiting := b.waiting
	b.waiting = nil
	var base, total uint64
	for _, tx := range waiting {
		delete(b.queued, tx.ID)
		if b.refusal(tx, block.Height) != nil {
			continue
		}
		result, err := e.do(tx)
		if err != nil {
			continue
		}
		for k, a := range result.changed {
			l.set(k, block.Slot, a)
		}
		done := &Executed{Tx: tx, Result: result, Block: block, Index: len(block.Txs)}
		block.Txs = append(block.Txs, done)
		l.byMessage[tx.hash] = done // the next one may be the same
		base, total = base+tx.baseFee(), total+result.Fee
	}
	base, total = base+signatureFee, total+signatureFee // of the validator's vote, which is not shown
	block.burnt = base / 2
	block.Reward = total - block.burnt
	b.burnt += block.burnt
	leader := l.at(b.leader, block.Slot).clone()
	leader.Lamports += block.Reward - signatureFee
	block.LeaderPost = leader.Lamports
	l.set(b.leader, block.Slot, leader)
	block.TxCount = parent.TxCount + uint64(len(block.Txs))
	block.seal()
	l.adopt(block)
	b.changed()
	b.split.follow(slots, heights, b.offset)
}

// changed tells those who wait.
func (b *Bank) changed() {
	close(b.moved)
	b.moved = make(chan struct{})
}

// refusal says why a transaction cannot be in a block of a height, whatever it does.
func (b *Bank) refusal(tx *Tx, height uint64) error {
	if b.ledger.byMessage[tx.hash] != nil {
		return &TxError{Name: "AlreadyProcessed"}
	}
	of, ok := b.ledger.hashes[tx.Message.RecentBlockhash]
	if !ok && tx.returned {
		of, ok = b.ledger.lost[tx.Message.RecentBlockhash]
	}
	if !ok || of >= height || height-1-of > maxAge {
		return &TxError{Name: "BlockhashNotFound"}
	}
	return nil
}

func clockOf(b *Block) Clock {
	return Clock{Slot: b.Slot, Epoch: b.Slot / epochSlots, Time: time.Unix(b.Time, 0)}
}

// produceInBackground makes blocks for what comes in, and by the clock.
func (b *Bank) produceInBackground(ctx context.Context, every time.Duration) {
	var tick <-chan time.Time
	stopTick := func() {}
	if every > 0 {
		ticker := time.NewTicker(every)
		tick, stopTick = ticker.C, ticker.Stop
	}
	b.stopped.Go(func() {
		defer stopTick()
		for {
			select {
			case <-ctx.Done():
				return
			case <-b.came:
				b.mu.Lock()
				if !b.manual && len(b.waiting) > 0 {
					b.produce(1, 0)
				}
				b.mu.Unlock()
			case <-tick:
				b.mu.Lock()
				waiting := b.waiting
				if b.manual {
					b.waiting = nil
				}
				b.produce(1, 0)
				if b.manual {
					b.waiting = waiting
				}
				b.mu.Unlock()
			}
		}
	})
}
