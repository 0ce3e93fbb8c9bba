package bank

import (
	"crypto/sha256"
	"encoding/binary"
	"slices"
	"sort"

	"github.com/swapper-go/swapper/internal/solana/wire"
)

// Block is what a slot brought.
type Block struct {
	Slot, ParentSlot uint64
	Height           uint64
	Hash, ParentHash wire.Hash
	Time             int64 // Unix seconds
	Txs              []*Executed
	TxCount          uint64 // of the chain up to this block

	Leader     Key
	Reward     uint64 // lamports of the fees that went to the leader
	LeaderPost uint64 // what the leader has then
	burnt      uint64 // of the fees
}

// Executed is a transaction that is part of a block.
type Executed struct {
	*Tx
	*Result
	Block *Block
	Index int // within the block
}

// version is an account from a slot on, until the next version.
type version struct {
	slot uint64
	*Account
}

// ledger is the chain and every state that it went through.
type ledger struct {
	blocks    []*Block // oldest first; slots may be missing between them
	accounts  map[Key][]version
	hashes    map[wire.Hash]uint64 // block height of each hash that is young enough to be used
	byID      map[wire.Signature]*Executed
	byMessage map[[32]byte]*Executed
	history   map[Key][]*Executed // what named an address, oldest first
	lost      map[wire.Hash]uint64
}

func newLedger() *ledger {
	return &ledger{accounts: map[Key][]version{}, hashes: map[wire.Hash]uint64{}, byID: map[wire.Signature]*Executed{},
		byMessage: map[[32]byte]*Executed{}, history: map[Key][]*Executed{}, lost: map[wire.Hash]uint64{}}
}

func (l *ledger) head() *Block { return l.blocks[len(l.blocks)-1] }

var nothing = &Account{Owner: wire.SystemProgram}

// at returns an account as it was after a slot.
func (l *ledger) at(k Key, slot uint64) *Account {
	all := l.accounts[k]
	i := sort.Search(len(all), func(i int) bool { return all[i].slot > slot })
	if i == 0 {
		return nothing
	}
	return all[i-1].Account
}

// set gives an account a new version. One without lamports is gone.
func (l *ledger) set(k Key, slot uint64, a *Account) {
	if a.Lamports == 0 {
		a = nothing
	}
	all := l.accounts[k]
	if n := len(all); n > 0 && all[n-1].slot == slot {
		all[n-1].Account = a
		return
	}
	l.accounts[k] = append(all, version{slot, a})
}

// adopt appends a block whose transactions have been carried out on the accounts.
func (l *ledger) adopt(b *Block) {
	l.blocks = append(l.blocks, b)
	l.hashes[b.Hash] = b.Height
	for h, height := range l.hashes {
		if height+2*maxAge < b.Height {
			delete(l.hashes, h)
		}
	}
	for _, tx := range b.Txs {
		l.byID[tx.ID], l.byMessage[tx.hash] = tx, tx
		for _, k := range tx.Message.AccountKeys {
			l.history[k] = append(l.history[k], tx)
		}
	}
}

// cut takes the newest block away again, with everything that it did.
func (l *ledger) cut() *Block {
	b := l.head()
	l.blocks = l.blocks[:len(l.blocks)-1]
	for k, all := range l.accounts {
		if n := len(all); n > 0 && all[n-1].slot == b.Slot {
			l.accounts[k] = all[:n-1]
		}
	}
	delete(l.hashes, b.Hash)
	l.lost[b.Hash] = b.Height
	for _, tx := range slices.Backward(b.Txs) {
		delete(l.byID, tx.ID)
		delete(l.byMessage, tx.hash)
		for _, k := range tx.Message.AccountKeys {
			l.history[k] = l.history[k][:len(l.history[k])-1]
		}
	}
	return b
}

// block returns the index of the newest block up to a slot.
func (l *ledger) upTo(slot uint64) int {
	return sort.Search(len(l.blocks), func(i int) bool { return l.blocks[i].Slot > slot }) - 1
}

// hash names a block: by what came before and what is in it.
func (b *Block) seal() {
	h := sha256.New()
	h.Write(b.ParentHash[:])
	_ = binary.Write(h, binary.LittleEndian, []uint64{b.Slot, b.Height, uint64(b.Time)}) // a hash takes everything
	for _, tx := range b.Txs {
		h.Write(tx.ID[:])
	}
	h.Sum(b.Hash[:0])
}
