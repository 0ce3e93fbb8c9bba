package engine

import (
	"context"
	"errors"
	"reflect"
	"sync"
	"time"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/internal/swap"
)

// listener is implemented by readers that nodes tell when something may have changed. A mark of
// 0 says that nothing is heard now.
type listener interface {
	// Heard marks what was told of a chain's contracts so far.
	Heard(chain string) uint64
	// HeardBitcoin marks what was told of Bitcoin so far.
	HeardBitcoin() uint64
	// TxUnchanged reports whether nothing was told since a mark that changes a transaction as
	// it was then.
	TxUnchanged(tx *bitcoin.Tx, heard uint64) bool
}

// For how long an answer is repeated of which nothing is told. What a contract holds may
// change with the time of its chain, of which nothing is told either; a transaction may be
// replaced or forgotten without a block, and a caller who waits for a swap's status is told
// of that as soon as of the rest.
const (
	repeatShown = time.Minute // of a contract; of a transaction, to a caller
	repeatTx    = time.Hour   // of a transaction, while no caller waits
)

// saidKept is of how many swaps the answers are kept: about 2 kB of each.
const saidKept = 1 << 16

// said is what was answered to a swap's last questions.
type said struct {
	escrow     reply[chains.EscrowQuery, chains.EscrowFact]
	withdrawal reply[chains.WithdrawalQuery, chains.WithdrawalFact]
	vault      reply[chains.VaultID, chains.VaultFact]
	tx         reply[bitcoin.Hash, *bitcoin.Tx]
}

type reply[Q, A any] struct {
	question Q
	answer   A
	asked    time.Time // by the engine's clock
	heard    uint64    // before; 0: the answer is not to be repeated
}

// repeater is the reader of one pass. It keeps what was answered, and repeats it while nothing
// is told that may have changed it. What it repeats is for passes that change nothing: see
// [Engine.pass].
type repeater struct {
	Reader
	hearing listener
	g       *Engine
	id      string

	mu       sync.Mutex
	said     said
	known    bool          // something was kept before
	due      swap.Millis   // the swap's next moment
	longest  time.Duration // for how long a transaction is repeated
	off      bool          // everything is asked
	repeated bool
}

// repeats returns the reader of a pass. One with input, or in which something is to be
// decided, asks everything.
func (g *Engine) repeats(id string, input swap.Input, why purpose) *repeater {
	w := &repeater{Reader: g.reader, hearing: g.hearing, g: g, id: id, longest: repeatShown, off: input != nil || why == forFacts}
	if why == asRoutine {
		w.longest = repeatTx
	}
	if g.hearing == nil {
		return w
	}
	w.said, w.known = g.said.Get(id)
	return w
}

// has reports whether anything was repeated.
func (w *repeater) has() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.repeated
}

// askAll has everything asked from now on.
func (w *repeater) askAll() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.off, w.repeated = true, false
}

// of notes which swap the questions are about.
func (w *repeater) of(r *swap.Record) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.due = r.Due
}

// keep has what was answered repeated to later passes.
func (w *repeater) keep() {
	if w.hearing == nil {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if s := &w.said; w.known || s.escrow.heard != 0 || s.withdrawal.heard != 0 || s.vault.heard != 0 || s.tx.heard != 0 {
		w.g.said.Add(w.id, *s)
	}
}

// onlyWaits reports whether a view says that the user has to wait, so that it may be shown by
// what is repeated: nothing has ended, and the user is told to do nothing.
func onlyWaits(v swap.View) bool {
	_, waits := v.Action.(*swap.Wait)
	return !v.Row.Finished && (v.Action == nil || waits) && v.Blocked == nil && (v.Reveal == nil || !*v.Reveal)
}

// errRepeated is the error of a write by what was repeated.
var errRepeated = errors.New("a swap was to be changed by what was not asked")

// mayRepeat reports whether the result of a pass by repeated answers is one: it has changed
// nothing, nothing is to be done, and no caller waits who would be shown more than that the
// user has to wait. Such a caller, if he comes later, gets another pass.
func (g *Engine) mayRepeat(f *passRun, res *Result, due []swap.Effect, err error) bool {
	if err != nil || len(due) > 0 {
		return false
	}
	g.mu.Lock()
	unseen := f.routine
	f.partial = f.partial || unseen
	g.mu.Unlock()
	return unseen || onlyWaits(g.View(res))
}

// repeat returns what was answered to a question lately, or asks.
func repeat[Q, A any](w *repeater, in *reply[Q, A], q Q, longest time.Duration, mark func() uint64, unchanged func(reply[Q, A]) bool, ask func() (A, error)) (A, error) {
	now := w.g.Now()
	w.mu.Lock()
	old, off := *in, w.off
	w.mu.Unlock()
	if age := now.Sub(old.asked); !off && old.heard != 0 && age >= 0 && age < longest && reflect.DeepEqual(old.question, q) && unchanged(old) {
		w.mu.Lock()
		w.repeated = true
		w.mu.Unlock()
		return old.answer, nil
	}
	heard := mark()
	a, err := ask()
	if err != nil {
		heard = 0
	}
	w.mu.Lock()
	if *in = (reply[Q, A]{}); heard != 0 {
		*in = reply[Q, A]{q, a, now, heard}
	}
	w.mu.Unlock()
	return a, err
}

// ofContract repeats what a chain's contracts hold. After the swap's next moment everything is
// asked: what follows then is a matter of the chain's time.
func ofContract[Q, A any](w *repeater, in *reply[Q, A], chain string, q Q, settled bool, ask func() (A, error)) (A, error) {
	if settled || w.hearing == nil {
		return ask()
	}
	mark := func() uint64 { return w.hearing.Heard(chain) }
	return repeat(w, in, q, repeatShown, mark, func(old reply[Q, A]) bool {
		w.mu.Lock()
		due := w.due
		w.mu.Unlock()
		return mark() == old.heard && (due == 0 || !due.Reached(w.g.Now()))
	}, ask)
}

// Escrow implements Reader.
func (w *repeater) Escrow(ctx context.Context, chain, contract string, q chains.EscrowQuery) (chains.EscrowFact, error) {
	return ofContract(w, &w.said.escrow, chain, q, q.Settled || q.Auth != nil, func() (chains.EscrowFact, error) {
		return w.Reader.Escrow(ctx, chain, contract, q)
	})
}

// Withdrawal implements Reader.
func (w *repeater) Withdrawal(ctx context.Context, chain, contract string, q chains.WithdrawalQuery) (chains.WithdrawalFact, error) {
	return ofContract(w, &w.said.withdrawal, chain, q, q.Settled, func() (chains.WithdrawalFact, error) {
		return w.Reader.Withdrawal(ctx, chain, contract, q)
	})
}

// Vault implements Reader.
func (w *repeater) Vault(ctx context.Context, chain, contract string, q chains.VaultID) (chains.VaultFact, error) {
	return ofContract(w, &w.said.vault, chain, q, false, func() (chains.VaultFact, error) {
		return w.Reader.Vault(ctx, chain, contract, q)
	})
}

// BitcoinTx implements Reader. That there is no transaction is not repeated.
func (w *repeater) BitcoinTx(ctx context.Context, id bitcoin.Hash) (*bitcoin.Tx, error) {
	if w.hearing == nil {
		return w.Reader.BitcoinTx(ctx, id)
	}
	return repeat(w, &w.said.tx, id, w.longest, w.hearing.HeardBitcoin, func(old reply[bitcoin.Hash, *bitcoin.Tx]) bool {
		return old.answer != nil && w.hearing.TxUnchanged(old.answer, old.heard)
	}, func() (*bitcoin.Tx, error) { return w.Reader.BitcoinTx(ctx, id) })
}
