package bank

import (
	"encoding/binary"
	"slices"

	"github.com/gagliardetto/solana-go"

	"github.com/swapper-go/swapper/internal/solana/wire"
)

// Commitment is how sure a block is.
type Commitment int

// The commitments.
const (
	Processed Commitment = iota
	Confirmed
	Finalized
)

func (c Commitment) String() string { return [...]string{"processed", "confirmed", "finalized"}[c] }

// View is the ledger as a node knows it up to a block. It is valid during
// [Bank.Read] only.
type View struct {
	bank *Bank
	last int // index of the newest block that the node knows
	top  int // of the newest one of the commitment
}

// Read calls f with the ledger at a commitment, as it looked behind blocks ago.
// Nothing changes meanwhile, so f must not call the bank.
func (b *Bank) Read(c Commitment, behind int, f func(*View)) {
	b.mu.RLock()
	defer b.mu.RUnlock()
	last := max(len(b.ledger.blocks)-1-behind, 0)
	f(&View{bank: b, last: last, top: max(last-b.lags[c], 0)})
}

// Head returns the newest block of the commitment. Blocks must not be changed.
func (v *View) Head() *Block { return v.bank.ledger.blocks[v.top] }

// Commitment returns how sure a block is that the view knows.
func (v *View) Commitment(b *Block) Commitment {
	for _, c := range []Commitment{Finalized, Confirmed} {
		if at := v.last - v.bank.lags[c]; at >= 0 && b.Slot <= v.bank.ledger.blocks[at].Slot {
			return c
		}
	}
	return Processed
}

// Newest returns the newest block that the node knows, whatever the commitment.
func (v *View) Newest() *Block { return v.bank.ledger.blocks[v.last] }

// Depth returns how many blocks the node knows on top of a block.
func (v *View) Depth(b *Block) int { return v.last - v.bank.ledger.upTo(b.Slot) }

// Block returns the block of a slot, nil if there is none up to the view's head.
func (v *View) Block(slot uint64) *Block {
	if i := v.bank.ledger.upTo(slot); i >= 0 && i <= v.top && v.bank.ledger.blocks[i].Slot == slot {
		return v.bank.ledger.blocks[i]
	}
	return nil
}

// Blocks returns the slots from first to last, both included, that have a block.
func (v *View) Blocks(first, last uint64) []uint64 {
	slots := []uint64{}
	for i := max(v.bank.ledger.upTo(first), 0); i <= v.top; i++ {
		if s := v.bank.ledger.blocks[i].Slot; s >= first && s <= last {
			slots = append(slots, s)
		}
	}
	return slots
}

// Recent returns the newest blocks of the view, count at most, oldest first.
func (v *View) Recent(count int) []*Block {
	return v.bank.ledger.blocks[max(v.top+1-count, 0) : v.top+1]
}

// Account returns an account, and false if it does not exist. Its data must not be
// changed.
func (v *View) Account(k Key) (Account, bool) {
	switch k {
	case solana.SysVarClockPubkey:
		h, clock := v.Head(), clockOf(v.Head())
		var data []byte
		for _, n := range []uint64{h.Slot, 0, clock.Epoch, clock.Epoch + 1, uint64(h.Time)} {
			data = binary.LittleEndian.AppendUint64(data, n)
		}
		return Account{Lamports: 1_169_280, Owner: sysvars, Data: data}, true
	case solana.SysVarRentPubkey:
		// 3480 lamports for a byte and a year; accounts hold those of two years; half of what is collected is burnt.
		data := append(binary.LittleEndian.AppendUint64(nil, 3480), 0, 0, 0, 0, 0, 0, 0, 0x40, 50)
		return Account{Lamports: 1_009_200, Owner: sysvars, Data: data}, true
	}
	a := v.bank.ledger.at(k, v.Head().Slot)
	return *a, a.Lamports > 0
}

var sysvars = wire.MustKey("Sysvar1111111111111111111111111111111111111")

// Token returns a token account, and false if there is none at the address.
func (v *View) Token(k Key) (t Token, ok bool) {
	a, _ := v.Account(k)
	data, err := readToken(&a)
	if err != nil || data.state == tokenNew {
		return t, false
	}
	mint, ok := v.Mint(data.mint)
	return Token{Mint: data.mint, Owner: data.owner, Amount: data.amount, Decimals: mint.Decimals, Frozen: data.state == tokenHeld,
		Native: data.native, Delegate: data.delegate, Delegated: data.delegated, Closer: data.closer}, ok
}

// Token is a token account.
type Token struct {
	Mint, Owner Key
	Amount      uint64
	Decimals    uint8
	Frozen      bool
	Native      *uint64 // of a WSOL account: its rent
	Delegate    *Key
	Delegated   uint64
	Closer      *Key
}

// Mint returns a mint, and false if there is none at the address.
func (v *View) Mint(k Key) (m Mint, ok bool) {
	a, _ := v.Account(k)
	data, err := readMint(&a)
	if err != nil {
		return m, false
	}
	return Mint{Supply: data.supply, Decimals: data.decimals, Authority: data.authority, Freeze: data.freeze}, true
}

// Mint is a token.
type Mint struct {
	Supply            uint64
	Decimals          uint8
	Authority, Freeze *Key
}

// Owned returns the addresses of a program's accounts, in their order.
func (v *View) Owned(program Key) (all []Key) {
	for k := range v.bank.ledger.accounts {
		if a := v.bank.ledger.at(k, v.Head().Slot); a.Lamports > 0 && a.Owner == program {
			all = append(all, k)
		}
	}
	slices.SortFunc(all, func(a, b Key) int { return slices.Compare(a[:], b[:]) })
	return all
}

// Tx returns a transaction of the chain, nil if there is none up to the view's head.
func (v *View) Tx(id wire.Signature) *Executed {
	if tx := v.bank.ledger.byID[id]; tx != nil && tx.Block.Slot <= v.Head().Slot {
		return tx
	}
	return nil
}

// History returns the transactions whose message names an address, newest first, up
// to the view's head.
func (v *View) History(k Key) func(yield func(*Executed) bool) {
	return func(yield func(*Executed) bool) {
		for _, tx := range slices.Backward(v.bank.ledger.history[k]) {
			if tx.Block.Slot <= v.Head().Slot && !yield(tx) {
				return
			}
		}
	}
}

// LastValid returns the height of the last block that takes a transaction with a
// block's hash.
func LastValid(b *Block) uint64 { return b.Height + maxAge }

// Valid reports whether a transaction with a block hash can be executed in the block
// after the view's head.
func (v *View) Valid(h wire.Hash) bool {
	height, ok := v.bank.ledger.hashes[h]
	return ok && height <= v.Head().Height && v.Head().Height-height <= maxAge
}

// Simulate executes a transaction on top of the view and keeps nothing of it. With
// anyHash its block hash is not looked at. A refusal is a *[TxError]; a failure for
// which the payer would pay is in the result. After are the accounts of the message
// as they would be.
func (v *View) Simulate(tx *Tx, anyHash bool) (result *Result, after []Account, err error) {
	head := v.Head()
	if !anyHash {
		if done := v.bank.ledger.byMessage[tx.hash]; done != nil && done.Block.Slot <= head.Slot {
			return nil, nil, &TxError{Name: "AlreadyProcessed"}
		}
		if !v.Valid(tx.Message.RecentBlockhash) {
			return nil, nil, &TxError{Name: "BlockhashNotFound"}
		}
	}
	next := *head
	next.Slot, next.Height = head.Slot+1, head.Height+1
	base := func(k Key) *Account { return v.bank.ledger.at(k, head.Slot) }
	if result, err = (execution{programs: v.bank.programs, clock: clockOf(&next), base: base}).do(tx); err != nil {
		return nil, nil, err
	}
	for _, k := range tx.Message.AccountKeys {
		a := base(k)
		if now, ok := result.changed[k]; ok {
			a = now
		}
		after = append(after, *a)
	}
	return result, after, nil
}

// Burnt returns the lamports of fees that were burnt, and Supply all others.
func (v *View) Burnt() uint64 { return v.bank.burnt }

// Supply returns the lamports of all accounts at the view's head.
func (v *View) Supply() (sum uint64) {
	for k := range v.bank.ledger.accounts {
		sum += v.bank.ledger.at(k, v.Head().Slot).Lamports
	}
	return sum
}

// Genesis returns the hash of the first block.
func (b *Bank) Genesis() wire.Hash {
	b.mu.RLock()
	defer b.mu.RUnlock()
	return b.ledger.blocks[0].Hash
}

// Moved returns a channel that is closed when the chain has changed after this call.
func (b *Bank) Moved() <-chan struct{} {
	b.mu.RLock()
	defer b.mu.RUnlock()
	return b.moved
}

// Root returns the newest block that was finalized when a block was the newest.
func (v *View) Root(b *Block) *Block {
	return v.bank.ledger.blocks[max(v.bank.ledger.upTo(b.Slot)-v.bank.lags[Finalized], 0)]
}
