package contracts

import (
	"context"
	"math/big"
	"slices"
	"sync"
	"time"

	"github.com/swapper-go/swapper/internal/starknet/wire"
)

// Options of a chain.
type Options struct {
	Now       func() time.Time // the network's clock; nil: time.Now
	ChainID   Felt
	Classes   []Class
	FeeToken  Felt // contract of the token that fees are paid in, with balance_of and transfer of an ERC-20; zero: [wire.STRK]
	Sequencer Felt // who gets the fees; zero: an address of the chain's own
	Prices    Prices

	Manual    bool          // blocks are closed on demand only
	BlockTime time.Duration // a block is closed at this interval and not for each transaction; 0: only for transactions
	L1Lag     int           // how many blocks below the head the newest one is that is accepted on L1
}

// Chain is a ledger and what extends it. Its methods are safe for concurrent use.
//
// A transaction that is taken is executed at once into the open block, where it is
// pre-confirmed, unless [Chain.Hold] says otherwise. Then the block is closed, unless
// blocks come on demand or at an interval.
type Chain struct {
	options Options
	classes map[Felt]*class
	stop    context.CancelFunc
	stopped sync.WaitGroup

	mu      sync.RWMutex
	ledger  *ledger
	blocks  []*Block // closed, oldest first; the index is the number
	open    *Block   // nil: nothing is in it yet
	byBlock map[Felt]*Block
	byHash  map[Felt]*Executed
	waiting []*Tx
	queued  map[Felt]bool
	manual  bool
	hold    bool
	prices  Prices
	offset  time.Duration // of the chain's time to the clock
	built   uint64
	moved   chan struct{} // closed when the chain has changed
	split   *Fork         // nil: there is one chain
}

// New makes a chain with a first block, which is empty.
func New(o Options) (*Chain, error) {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.FeeToken.IsZero() {
		o.FeeToken = wire.STRK
	}
	if o.Sequencer.IsZero() {
		o.Sequencer = wire.Selector("local starknet network: sequencer")
	}
	if o.Prices.Fri.L2 == nil {
		o.Prices = DefaultPrices()
	}
	c := &Chain{options: o, classes: map[Felt]*class{}, ledger: newLedger(), byBlock: map[Felt]*Block{}, byHash: map[Felt]*Executed{}, queued: map[Felt]bool{},
		manual: o.Manual || o.BlockTime > 0, prices: o.Prices, moved: make(chan struct{})}
	for _, k := range o.Classes {
		if k.Hash.IsZero() {
			return nil, refuse(ClassNotFound, "class %s: the hash is required", k.Name)
		}
		c.classes[k.Hash] = newClass(k)
	}
	first := &Block{Time: c.now(), Prices: o.Prices, Sequencer: o.Sequencer}
	first.seal(0, Diff{})
	c.blocks = []*Block{first}
	c.byBlock[first.Hash] = first
	ctx, cancel := context.WithCancel(context.Background())
	c.stop = cancel
	if o.BlockTime > 0 {
		c.closeInBackground(ctx, o.BlockTime)
	}
	return c, nil
}

// Close ends the making of blocks. It may be called more than once.
func (c *Chain) Close() error {
	c.stop()
	c.stopped.Wait()
	return nil
}

func (c *Chain) closeInBackground(ctx context.Context, every time.Duration) {
	ticker := time.NewTicker(every)
	c.stopped.Go(func() {
		defer ticker.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-ticker.C:
				c.mu.Lock()
				if !c.hold {
					c.fill()
				}
				c.close()
				c.mu.Unlock()
			}
		}
	})
}

// SetAutomatic says whether a block is closed for each transaction.
func (c *Chain) SetAutomatic(on bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.manual = !on
}

// Hold says whether transactions wait, as received, until the next block.
func (c *Chain) Hold(on bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.hold = on
}

// DropPending forgets all transactions that wait, as nodes do under pressure.
func (c *Chain) DropPending() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.waiting, c.queued = nil, map[Felt]bool{}
	c.changed()
}

// DropPreConfirmed forgets the open block with its transactions: those who saw them
// pre-confirmed see them no more.
func (c *Chain) DropPreConfirmed() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.cutOpen()
	c.changed()
}

// nonceGap is how far ahead of its account a transaction may be.
const nonceGap = 200

// Send takes a transaction. A *[Refusal] is why it does not.
func (c *Chain) Send(tx *Tx) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if refused := c.admit(tx); refused != nil {
		return refused
	}
	if i := c.rival(tx); i >= 0 {
		delete(c.queued, c.waiting[i].Hash)
		c.waiting[i] = tx
	} else {
		c.waiting = append(c.waiting, tx)
	}
	c.queued[tx.Hash] = true
	if !c.hold {
		c.fill()
		if !c.manual {
			c.close()
			return nil
		}
	}
	c.changed()
	return nil
}

// admit says whether a transaction may wait for a block.
func (c *Chain) admit(tx *Tx) *Refusal {
	switch done := c.byHash[tx.Hash]; {
	case tx.Query:
		return refuse(Unsupported, "The transaction was made to ask for its fee.")
	case c.queued[tx.Hash], done != nil && done.Block == c.open:
		return refuse(Duplicate, "The transaction %s is there already.", wire.Hex(tx.Hash))
	case tx.NonceMode != wire.DAModeL1, tx.FeeMode != wire.DAModeL1, len(tx.PaymasterData) > 0, len(tx.AccountDeploymentData) > 0:
		return refuse(Unsupported, "The data availability modes must be L1, the paymaster data and the account deployment data empty.")
	}
	if most := tx.Bounds.L2.MaxAmount; most > mostGas {
		return refuse(Unsupported, "Max gas amount is too high: max_gas_amount: %d, max_max_gas_amount: %d.", most, mostGas)
	}
	block := c.peek()
	on := c.top()
	account := on.nonceOf(tx.Sender)
	if tx.Nonce < account || tx.Nonce > account+nonceGap || tx.Type == wire.DeployAccount && tx.Nonce != 0 {
		return wrongNonce(tx, account)
	}
	deploys := false
	for _, w := range c.waiting {
		if w.Sender == tx.Sender && w.Nonce == tx.Nonce && !tx.outbids(w) {
			return refuse(Underpriced, "Another transaction of %s with the nonce %#x waits already.", wire.Hex64(tx.Sender), tx.Nonce)
		}
		deploys = deploys || w.Sender == tx.Sender && w.Type == wire.DeployAccount
	}
	if deploys { // an account that is not deployed cannot be asked
		return nil
	}
	_, _, refused := c.execute(ahead{on, tx}, block, tx, Flags{admission: true})
	return refused
}

// rival is the place of a waiting transaction with the same sender and nonce, -1 if there
// is none.
func (c *Chain) rival(tx *Tx) int {
	return slices.IndexFunc(c.waiting, func(w *Tx) bool { return w.Sender == tx.Sender && w.Nonce == tx.Nonce })
}

// outbids reports whether a transaction takes the place of one that waits: it must offer a
// tenth more, in the price of L2 gas and in the tip.
func (t *Tx) outbids(w *Tx) bool {
	more := func(now, before *big.Int) bool {
		tenth := new(big.Int).Quo(before, big.NewInt(10))
		return now.Cmp(tenth.Add(tenth, before)) >= 0
	}
	return more(t.Bounds.L2.MaxPrice, w.Bounds.L2.MaxPrice) && more(new(big.Int).SetUint64(t.Tip), new(big.Int).SetUint64(w.Tip))
}

// ahead is a ledger in which an account has the nonce of a transaction to come.
type ahead struct {
	base
	tx *Tx
}

func (a ahead) nonceOf(at Felt) uint64 {
	if at == a.tx.Sender {
		return a.tx.Nonce
	}
	return a.base.nonceOf(at)
}

// top is the ledger with what is in the open block.
func (c *Chain) top() moment { return moment{c.ledger, c.head().Number + 1} }

// peek is the open block, or what it would be.
func (c *Chain) peek() *Block {
	if c.open != nil {
		return c.open
	}
	return c.next()
}

// fill executes what waits into the open block. Those that are refused now are gone;
// those that come before their turn wait on.
func (c *Chain) fill() {
	for progress := true; progress && len(c.waiting) > 0; {
		progress = false
		waiting := c.waiting
		c.waiting = nil
		for _, tx := range waiting {
			r, result, refused := c.execute(c.top(), c.current(), tx, Flags{})
			if refused != nil && refused.Kind == InvalidNonce && tx.Nonce > c.top().nonceOf(tx.Sender) {
				c.waiting = append(c.waiting, tx)
				continue
			}
			progress = true
			delete(c.queued, tx.Hash)
			if refused != nil {
				continue
			}
			b := c.current()
			c.ledger.apply(r, b.Number)
			c.keep(b, tx, result)
		}
	}
}

// Impersonate calls a contract in the name of any address, without a transaction, in
// the block that is open. Setting up a network and tests of contracts need it. Nothing
// of it comes back after a reorganisation.
func (c *Chain) Impersonate(caller, to, selector Felt, calldata ...Felt) (*Invocation, error) {
	return c.act(&Invocation{Contract: to, Caller: caller, Selector: selector, Calldata: calldata, Entry: external, Kind: plainCall}, 0)
}

// deployment is the type of a transaction that deploys a contract by itself, as the
// network's first ones did.
const deployment wire.TxType = "DEPLOY"

// Place deploys a contract at any address, in the same way. It is a transaction of the
// open block, so that the constructor's events are found.
func (c *Chain) Place(at, class Felt, calldata ...Felt) error {
	_, err := c.act(placement(at, class, calldata), 0)
	return err
}

// PlaceAccount deploys an account as its own first transaction does, without a signature
// and a fee: the nonce 0 is spent. Wallets tell by it that an account is deployed.
func (c *Chain) PlaceAccount(d wire.Deploy) error {
	_, err := c.act(placement(d.Address(), d.ClassHash, d.ConstructorCalldata), 1)
	return err
}

func placement(at, class Felt, calldata []Felt) *Invocation {
	return &Invocation{Contract: at, Class: class, Selector: selectorConstructor, Calldata: calldata, Entry: constructor, Kind: plainCall}
}

// act runs an invocation that no transaction asked for. nonce is what the contract has
// then; 0 leaves it.
func (c *Chain) act(i *Invocation, nonce uint64) (*Invocation, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	b := c.current()
	r := c.newRun(c.top(), b.info(), &TxInfo{ChainID: c.options.ChainID}, unlimited)
	if i.Entry == constructor {
		if r.deployed(i.Contract) {
			return i, because(addressTaken)
		}
		r.setClass(i.Contract, i.Class)
	}
	if failed := r.guarded(i, false); failed != nil {
		return i, failed
	}
	if nonce > 0 {
		r.nonces[i.Contract] = nonce
	}
	if i.Entry == constructor {
		tx := &Tx{Transaction: &wire.Transaction{Type: deployment, Signed: true}, Hash: wire.Poseidon(wire.ShortString("deploy"), i.Contract, i.Class, c.options.ChainID)}
		tx.Sender, tx.Deploy = i.Contract, wire.Deploy{ClassHash: i.Class, ConstructorCalldata: i.Calldata}
		c.keep(b, tx, &Result{Construct: i, Fee: new(big.Int), Prices: b.Prices, Gas: wire.Gas{L2: r.used}, Events: i.AllEvents(), Diff: r.diff()})
	}
	c.ledger.apply(r, b.Number)
	return i, nil
}

// keep puts a transaction into a block.
func (c *Chain) keep(b *Block, tx *Tx, result *Result) {
	done := &Executed{Tx: tx, Result: result, Block: b, Index: len(b.Txs)}
	b.Txs = append(b.Txs, done)
	c.byHash[tx.Hash] = done
}

func sortEvents(all []Event) {
	slices.SortStableFunc(all, func(a, b Event) int { return a.Order - b.Order })
}

// ID returns the chain's id.
func (c *Chain) ID() Felt { return c.options.ChainID }
