package contracts

import (
	"iter"
	"math/big"
	"slices"
)

// View is the chain as a node knows it. It is valid during [Chain.Read] only.
type View struct {
	chain *Chain
	last  int  // number of the newest closed block that the node knows
	late  bool // it knows no open block and no transaction that waits
}

// Read calls f with the chain as it looked behind blocks ago. Nothing changes meanwhile,
// so f must not call the chain.
func (c *Chain) Read(behind int, f func(*View)) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	f(&View{chain: c, last: max(len(c.blocks)-1-behind, 0), late: behind > 0})
}

// ChainID returns the chain's id.
func (v *View) ChainID() Felt { return v.chain.options.ChainID }

// Head returns the newest closed block.
func (v *View) Head() *Block { return v.chain.blocks[v.last] }

// L1Head returns the newest block that is accepted on L1.
func (v *View) L1Head() *Block { return v.chain.blocks[max(v.last-v.chain.options.L1Lag, 0)] }

// Open returns the block that is open: what is in it is pre-confirmed. There is always
// one, if with nothing in it.
func (v *View) Open() *Block {
	if !v.late {
		return v.chain.peek()
	}
	head := v.Head()
	return &Block{Number: head.Number + 1, Parent: head.Hash, Time: head.Time, Prices: head.Prices, Sequencer: head.Sequencer}
}

// Block returns a closed block by its number, nil if there is none.
func (v *View) Block(number uint64) *Block {
	if number > uint64(v.last) {
		return nil
	}
	return v.chain.blocks[number]
}

// BlockOf returns a closed block by its hash, nil if there is none.
func (v *View) BlockOf(hash Felt) *Block {
	if b := v.chain.byBlock[hash]; b != nil && b.Number <= uint64(v.last) {
		return b
	}
	return nil
}

// at is the ledger after a block of the view.
func (v *View) at(b *Block) moment {
	m := moment{v.chain.ledger, b.Number}
	if v.late {
		m.block = min(m.block, uint64(v.last))
	}
	return m
}

// Storage returns what is at a key of a contract's storage after a block.
func (v *View) Storage(contract, key Felt, b *Block) Felt {
	return v.at(b).storage(slot{contract, key})
}

// Nonce returns the nonce of an account after a block.
func (v *View) Nonce(of Felt, b *Block) uint64 { return v.at(b).nonceOf(of) }

// ClassAt returns the hash of a contract's class after a block, zero if there is no
// contract.
func (v *View) ClassAt(contract Felt, b *Block) Felt { return v.at(b).classAt(contract) }

// Class returns a class.
func (v *View) Class(hash Felt) (Class, bool) {
	if k := v.chain.classes[hash]; k != nil {
		return k.Class, true
	}
	return Class{}, false
}

// Diff returns what a block has changed.
func (v *View) Diff(b *Block) Diff {
	if v.late && b.Number > uint64(v.last) {
		return Diff{}
	}
	return v.chain.ledger.diff(b.Number)
}

// Call calls a contract on top of a block and keeps nothing of it. The invocation tells
// whether it failed.
func (v *View) Call(to, selector Felt, calldata []Felt, b *Block) *Invocation {
	r := v.chain.newRun(v.at(b), b.info(), &TxInfo{ChainID: v.ChainID()}, unlimited)
	i := &Invocation{Contract: to, Selector: selector, Calldata: slices.Clone(calldata), Entry: external, Kind: plainCall}
	r.guarded(i, false)
	return i
}

// Simulate executes transactions one after the other on top of a block and keeps nothing
// of them. At a *[Refusal] it ends, with the results before.
func (v *View) Simulate(txs []*Tx, flags Flags, b *Block) ([]*Result, *Refusal) {
	var on base = v.at(b)
	var all []*Result
	for _, tx := range txs {
		r, result, refused := v.chain.execute(on, b, tx, flags)
		if refused != nil {
			return all, refused
		}
		all, on = append(all, result), r
	}
	return all, nil
}

// Tx returns a transaction of a block, the open one included, nil if there is none.
func (v *View) Tx(hash Felt) *Executed {
	tx := v.chain.byHash[hash]
	if tx == nil || tx.Block.Number > uint64(v.last) && v.late {
		return nil
	}
	return tx
}

// Waiting returns a transaction that waits for a block, nil if there is none.
func (v *View) Waiting(hash Felt) *Tx {
	if v.late || !v.chain.queued[hash] {
		return nil
	}
	i := slices.IndexFunc(v.chain.waiting, func(tx *Tx) bool { return tx.Hash == hash })
	return v.chain.waiting[i]
}

// IsOpen reports whether a block is not closed yet.
func (v *View) IsOpen(b *Block) bool { return b.Number > uint64(v.last) }

// Emitted is an event with where it is from.
type Emitted struct {
	Event
	Tx    *Executed
	Index int // among the transaction's
}

// Events returns the events of the blocks from first to last, both included, in their
// order; last may be the open block's number.
func (v *View) Events(first, last uint64) iter.Seq[Emitted] {
	return func(yield func(Emitted) bool) {
		for n := first; n <= last; n++ {
			b := v.Block(n)
			if b == nil {
				if b = v.Open(); b.Number != n {
					return
				}
			}
			for _, tx := range b.Txs {
				for i, e := range tx.Events {
					if !yield(Emitted{e, tx, i}) {
						return
					}
				}
			}
		}
	}
}

// Balance returns what an account has of the token that fees are paid in.
func (v *View) Balance(of Felt, b *Block) *big.Int {
	r := v.chain.newRun(v.at(b), b.info(), &TxInfo{}, unlimited)
	return r.balance(v.chain.options.FeeToken, of)
}

// Sequencer returns who gets the fees.
func (v *View) Sequencer() Felt { return v.chain.options.Sequencer }

// FeeToken returns the contract of the token that fees are paid in.
func (v *View) FeeToken() Felt { return v.chain.options.FeeToken }

// NextNonce returns the nonce of an account's next transaction: behind those that are in
// the open block and those that wait.
func (v *View) NextNonce(of Felt) uint64 {
	next := v.Nonce(of, v.Open())
	for _, tx := range v.chain.waiting {
		if tx.Sender == of && tx.Nonce >= next {
			next = tx.Nonce + 1
		}
	}
	return next
}
