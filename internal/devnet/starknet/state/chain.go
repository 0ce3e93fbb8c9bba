package state

import (
	"slices"
	"sync"
	"time"
)

// Options of a chain.
type Options struct {
	Now     func() time.Time // the network's clock; nil: time.Now
	ChainID Felt
	Classes []Class
	// FeeToken is the contract of the token that fees are paid in: with transfer of an
	// ERC-20, and balances where [Key]("ERC20_balances", owner) says.
	FeeToken Felt
}

// Chain is a ledger and what extends it. Its methods are safe for concurrent use.
type Chain struct {
	options Options
	classes map[Felt]*class

	mu     sync.RWMutex
	ledger *ledger
	number uint64 // of the newest block
}

// New makes a chain with a first block.
func New(o Options) (*Chain, error) {
	if o.Now == nil {
		o.Now = time.Now
	}
	c := &Chain{options: o, classes: map[Felt]*class{}, ledger: newLedger()}
	for _, k := range o.Classes {
		known, err := newClass(k)
		if err != nil {
			return nil, err
		}
		c.classes[k.Hash] = known
	}
	return c, nil
}

// Impersonate calls a contract in the name of any address, without a transaction, in
// the block that is open. Setting up a network and tests of contracts need it. Nothing
// of it comes back after a reorganisation.
func (c *Chain) Impersonate(caller, to, selector Felt, calldata ...Felt) (*Invocation, error) {
	return c.act(&Invocation{Contract: to, Caller: caller, Selector: selector, Calldata: calldata, Entry: External, Kind: PlainCall})
}

// Place deploys a contract at any address, in the same way.
func (c *Chain) Place(at, class Felt, calldata ...Felt) error {
	_, err := c.act(&Invocation{Contract: at, Class: class, Selector: selectorConstructor, Calldata: calldata, Entry: Constructor, Kind: PlainCall})
	return err
}

func (c *Chain) act(i *Invocation) (*Invocation, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	open := c.number + 1
	r := c.newRun(moment{c.ledger, open}, BlockInfo{Number: open, Time: uint64(c.options.Now().Unix())}, &TxInfo{ChainID: c.options.ChainID}, 1<<62)
	if i.Entry == Constructor {
		if r.deployed(i.Contract) {
			return i, &Panic{[]Felt{addressTaken}}
		}
		r.setClass(i.Contract, i.Class)
	}
	if failed := r.guarded(i, false); failed != nil {
		return i, failed
	}
	c.ledger.apply(r, open)
	return i, nil
}

func sortEvents(all []Event) {
	slices.SortStableFunc(all, func(a, b Event) int { return a.Order - b.Order })
}
