package backendtest

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/internal/btc/single"
	"github.com/swapper-go/swapper/internal/trial"
)

// Trouble is what is wrong with a server that tells of blocks; the zero value is nothing.
// At most one member is true.
type Trouble struct {
	Cut      bool // connections end
	Flooding bool // it tells of blocks without end that do not exist
	Mute     bool // it gives signs of life, and tells of no block
	Silent   bool // connections stay, and nothing comes over them
}

// hearing is a backend that is told of blocks.
type hearing interface {
	bitcoin.Backend
	bitcoin.Listener
}

// listening is what one test hears.
type listening struct {
	*testing.T
	s Setup
	b hearing

	mu        sync.Mutex
	confirmed map[bitcoin.Hash]bool
}

func testListening(t *testing.T, s Setup) {
	if s.Listening == nil {
		testDeaf(t, s)
		return
	}
	backend, spoil := s.Listening(t)
	b, ok := backend.(hearing)
	if !ok {
		t.Fatalf("%T does not implement bitcoin.Listener, which Setup.Listening must return", backend)
	}
	l := &listening{T: t, s: s, b: b, confirmed: map[bitcoin.Hash]bool{}}
	if b.Heard() != 0 || b.Subscriptions()[0] != (bitcoin.Subscription{}) {
		t.Errorf("before Follow: mark %d, %+v", b.Heard(), b.Subscriptions())
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error)
	go func() {
		done <- b.Follow(ctx, func(ids []bitcoin.Hash) {
			l.mu.Lock()
			defer l.mu.Unlock()
			for _, id := range ids {
				l.confirmed[id] = true
			}
		})
	}()
	defer func() {
		cancel()
		if err := <-done; !errors.Is(err, context.Canceled) {
			t.Errorf("following ended with %v", err)
		}
		if b.Heard() != 0 || b.Subscriptions()[0].Alive {
			t.Error("something is heard after the end")
		}
	}()
	l.hears()
	l.payment()
	l.reorg()

	spoil(Trouble{Cut: true})
	l.eventually("nothing to be heard from a server that is away", func() bool { return b.Heard() == 0 })
	spoil(Trouble{})
	l.hears()
	l.payment()

	spoil(Trouble{Flooding: true})
	l.payment()
	spoil(Trouble{})
	l.eventually("the flood to be over", func() bool { return b.Heard() != 0 })

	if !trial.Full() {
		return // what is not told of is found within a minute, and so is a silent server
	}
	spoil(Trouble{Mute: true})
	l.payment()
	spoil(Trouble{Silent: true})
	l.eventually("a silent server to be given up", func() bool { return b.Heard() == 0 })
	spoil(Trouble{})
	l.hears()
	l.payment()
}

// testDeaf tests a backend that nothing tells of blocks: if it is a bitcoin.Listener, it says so.
func testDeaf(t *testing.T, s Setup) {
	b, ok := s.Backend.(bitcoin.Listener)
	if !ok {
		t.Skip("the backend is told of nothing")
	}
	op := s.Chain.Pay(t, s.Chain.Address(t, bitcoin.P2WPKH), 50_000)
	tx := getTx(t, s, op.Hash)
	if err := b.Follow(t.Context(), func([]bitcoin.Hash) {}); err != nil {
		t.Errorf("following nothing ended with %v", err)
	}
	if asOf, ok := b.Unchanged(tx, b.Heard()); b.Heard() != 0 || len(b.Subscriptions()) != 0 || ok || asOf != 0 {
		t.Errorf("mark %d, subscriptions %+v, unchanged %t as of %d; want nothing", b.Heard(), b.Subscriptions(), ok, asOf)
	}
}

// eventually waits for up to three minutes, in which a busy machine gets everything done.
func (l *listening) eventually(what string, holds func() bool) {
	l.Helper()
	for end := time.Now().Add(3 * time.Minute); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		if holds() {
			return
		}
	}
	l.Fatalf("waited in vain for %s", what)
}

func (l *listening) hears() {
	l.Helper()
	l.eventually("something to be heard", func() bool { return l.b.Heard() != 0 && l.b.Subscriptions()[0].Alive })
}

// ask asks for a transaction, and returns the mark from before.
func (l *listening) ask(id bitcoin.Hash) (tx *bitcoin.Tx, heard uint64) {
	l.Helper()
	heard = l.b.Heard()
	tx = trial.Must(single.Tx(l.Context(), l.b, id))(l)
	return tx, heard
}

// unchanged reports whether a transaction is unchanged, which it can only be as of a block that
// the server has, and that is not below the transaction's own.
func (l *listening) unchanged(tx *bitcoin.Tx, heard uint64) bool {
	l.Helper()
	asOf, ok := l.b.Unchanged(tx, heard)
	if !ok {
		return false
	}
	if tip, err := l.b.TipHeight(l.Context()); err != nil || asOf == 0 || asOf > tip || asOf < tx.Height {
		l.Errorf("unchanged as of block %d; the newest block is %d, that of the transaction %d, %v", asOf, tip, tx.Height, err)
	}
	return true
}

// payment is heard of when it is confirmed, and once more with the next block. Whatever the
// server tells, what has changed is not called unchanged for good.
func (l *listening) payment() {
	l.Helper()
	to := l.s.Chain.Address(l.T, bitcoin.P2WPKH)
	id := l.s.Chain.Pay(l.T, to, 50_000).Hash
	tx, heard := l.ask(id)
	if tx.Confirmed() || heard == 0 && l.unchanged(tx, heard) {
		l.Fatalf("a new payment: %d confirmations, mark %d", tx.Confirmations, heard)
	}
	if l.unchanged(tx, heard) {
		l.s.Chain.Mine(l.T, 1)
		l.eventually("the payment to be told of", func() bool {
			l.mu.Lock()
			defer l.mu.Unlock()
			return l.confirmed[id]
		})
		if l.unchanged(tx, heard) {
			l.Error("a payment that was told of is unchanged")
		}
	} else { // what was heard before the block is still being looked into
		l.s.Chain.Mine(l.T, 1)
		l.eventually("the payment's block", func() bool { return !l.unchanged(tx, heard) })
	}
	tx, heard = l.ask(id)
	if tx.Confirmations != 1 {
		l.Fatalf("%d confirmations, want 1", tx.Confirmations)
	}
	l.s.Chain.Mine(l.T, 1)
	l.eventually("the next block", func() bool { return !l.unchanged(tx, heard) })
	if tx, _ = l.ask(id); tx.Confirmations != 2 {
		l.Errorf("%d confirmations, want 2", tx.Confirmations)
	}
}

// reorg takes back what was unchanged.
func (l *listening) reorg() {
	l.Helper()
	id := l.s.Chain.Pay(l.T, l.s.Chain.Address(l.T, bitcoin.P2WPKH), 50_000).Hash
	tip, _ := l.s.Chain.Tip(l.T)
	var waiting *bitcoin.Tx
	var heard uint64
	l.eventually("a payment to be unchanged as of the newest block", func() bool { // once the blocks before it were told of
		waiting, heard = l.ask(id)
		asOf, ok := l.b.Unchanged(waiting, heard)
		return ok && asOf == tip
	})
	l.s.Chain.Reorg(l.T, 1)
	l.eventually("the other branch", func() bool { return l.b.Heard() > heard })
	if l.unchanged(waiting, heard) {
		l.Error("a payment is unchanged from before another branch")
	}
}
