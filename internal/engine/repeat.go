package engine

import (
	"context"
	"errors"
	"maps"
	"reflect"
	"sync"
	"time"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/internal/lp"
	"github.com/swapper-go/swapper/internal/swap"
	"github.com/swapper-go/swapper/tokens"
)

// listener is implemented by readers that nodes tell when something may have changed. A mark of
// 0 says that nothing is heard now.
type listener interface {
	// Heard marks what was told of a chain's contracts so far.
	Heard(chain string) uint64
	// HeardBitcoin marks what was told of Bitcoin so far.
	HeardBitcoin() uint64
	// TxUnchanged reports whether nothing was told since a mark that changes a transaction as
	// it was then, and up to which block.
	TxUnchanged(tx *bitcoin.Tx, heard uint64) (asOf uint32, ok bool)
}

// For how long an answer is repeated of which nothing is told. What a contract holds may
// change with the time of its chain, of which nothing is told either; a transaction may be
// replaced or forgotten without a block, and a caller who waits for a swap's status is told
// of that as soon as of the rest.
const (
	repeatShown = time.Minute   // of a contract; of a transaction, to a caller
	repeatTx    = time.Hour     // of a transaction, while no caller waits
	repeatMost  = 6 * time.Hour // while no caller waits, of what has been the same for so long
)

// saidKept is of how many swaps the answers are kept: about 3 kB of each.
const saidKept = 1 << 16

// said is what was answered to a swap's last questions.
type said struct {
	escrow     reply[chains.EscrowQuery, chains.EscrowFact]
	withdrawal reply[chains.WithdrawalQuery, chains.WithdrawalFact]
	vault      reply[chains.VaultID, chains.VaultFact]
	tx         reply[bitcoin.Hash, *bitcoin.Tx]
	lp         reply[lp.StatusQuery, lp.Status]
	received   reply[swap.ReceivedAsk, []*bitcoin.Tx]
}

// worth reports whether any of it may be repeated.
func (s *said) worth() bool {
	return s.escrow.heard != 0 || s.withdrawal.heard != 0 || s.vault.heard != 0 || s.tx.heard != 0 || s.lp.heard != 0 || s.received.heard != 0
}

type reply[Q, A any] struct {
	question Q
	answer   A
	since    time.Time // when it was given first of the answers in a row that were the same
	asked    time.Time // when it was given last, by the engine's clock
	heard    uint64    // before; 0: the answer is not to be repeated
}

// rule says for how long an answer is repeated of which nothing is told.
type rule[A any] struct {
	least time.Duration
	// steady reports whether it may be repeated for as long as it has been the same, while no
	// caller waits: what follows from it is not a matter of time.
	steady func(A) bool
	bare   func(A) A // without what differs although nothing has changed
	timed  bool      // it may change at the swap's moments, by the chain's time
}

// age is how old the answer may be that is repeated.
func (w *repeater) age(least, same time.Duration, steady bool) time.Duration {
	if !w.routine || !steady {
		return least
	}
	return max(least, min(same, repeatMost))
}

// repeater is the reader of one pass. It keeps what was answered, and repeats it while nothing
// is told that may have changed it. What it repeats is for passes that change nothing: see
// [Engine.pass].
type repeater struct {
	Reader
	hearing listener
	g       *Engine
	id      string

	routine bool // no caller waits

	mu    sync.Mutex
	said  said
	known bool              // something was kept before
	of    *swap.Record      // as the pass found it
	off   bool              // everything is asked
	asOf  map[string]uint64 // the blocks as of which something was repeated, by chain
}

// repeats returns the reader of a pass. One with input, or in which something is to be
// decided, asks everything.
func (g *Engine) repeats(id string, input swap.Input, why purpose) *repeater {
	w := &repeater{Reader: g.reader, hearing: g.hearing, g: g, id: id, routine: why == asRoutine, off: input != nil || why == forFacts}
	if g.hearing == nil {
		return w
	}
	w.said, w.known = g.said.Get(id)
	return w
}

// repeated returns the blocks as of which anything was repeated, by chain; none if nothing was.
func (w *repeater) repeated() map[string]uint64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	return maps.Clone(w.asOf)
}

// askAll has everything asked from now on.
func (w *repeater) askAll() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.off, w.asOf = true, nil
}

// about notes which swap the questions are about.
func (w *repeater) about(r *swap.Record) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.of = r
}

// keep has what was answered repeated to later passes.
func (w *repeater) keep() {
	if w.hearing == nil {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.known || w.said.worth() {
		w.g.said.Add(w.id, w.said)
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
// user has to wait. Such a caller, if he comes later, gets another pass, and so does one who
// joins a routine pass.
func (g *Engine) mayRepeat(f *passRun, w *repeater, res *Result, due []swap.Effect, err error) bool {
	if err != nil || len(due) > 0 {
		return false
	}
	g.mu.Lock()
	unseen := f.routine
	f.partial = f.partial || unseen
	g.mu.Unlock()
	return unseen || !w.routine && onlyWaits(g.View(res))
}

// repeat returns what was answered to a question lately, or asks. unchanged says as of which
// block of the chain an answer holds.
func repeat[Q, A any](w *repeater, in *reply[Q, A], chain string, q Q, by rule[A], mark func() uint64, unchanged func(reply[Q, A]) (asOf uint64, ok bool), ask func() (A, error)) (A, error) {
	now := w.g.Now()
	w.mu.Lock()
	old, off := *in, w.off
	w.mu.Unlock()
	known := !off && old.heard != 0 && reflect.DeepEqual(old.question, q)
	if age := now.Sub(old.asked); known && age >= 0 && age < w.age(by.least, old.asked.Sub(old.since), by.steady(old.answer)) {
		if asOf, ok := unchanged(old); ok {
			w.repeats(chain, asOf)
			return old.answer, nil
		}
	}
	heard := mark()
	a, err := ask()
	if err != nil {
		heard = 0
	}
	since := now // of an answer after an event: the node that gave it may be behind
	if !off {
		since = w.unchanged(old.since, !old.asked.IsZero() && !reflect.DeepEqual(by.bare(old.answer), by.bare(a)), by.timed, now)
	}
	w.mu.Lock()
	if *in = (reply[Q, A]{}); heard != 0 {
		*in = reply[Q, A]{q, a, since, now, heard}
	}
	w.mu.Unlock()
	return a, err
}

// repeats notes that something of a chain is repeated as of a block. What is shown holds as of
// the lowest of them.
func (w *repeater) repeats(chain string, asOf uint64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.asOf == nil {
		w.asOf = map[string]uint64{}
	}
	if lowest, ok := w.asOf[chain]; ok {
		asOf = min(asOf, lowest)
	}
	w.asOf[chain] = asOf
}

// ofContract repeats what a chain's contracts hold, as of the block at which it was read. At
// each moment of the swap everything is asked: what follows then is a matter of the chain's time.
func ofContract[Q, A any](w *repeater, in *reply[Q, A], chain string, q Q, settled bool, by rule[A], head func(A) chains.Block, ask func() (A, error)) (A, error) {
	if settled || w.hearing == nil {
		return ask()
	}
	mark := func() uint64 { return w.hearing.Heard(chain) }
	return repeat(w, in, chain, q, by, mark, func(old reply[Q, A]) (uint64, bool) {
		return head(old.answer).Height, mark() == old.heard && w.moment(old.asked, w.g.Now()).Equal(old.asked)
	}, ask)
}

// unchanged returns since when an answer has been the same, as far as is known: since as long as the
// record if there was none before, but at most since the swap's last moment, as the chain's
// time may be behind ours.
func (w *repeater) unchanged(since time.Time, differs, timed bool, now time.Time) time.Time {
	switch {
	case differs:
		return now
	case since.IsZero():
		w.mu.Lock()
		since = max(w.of.Changed, w.of.CreatedAt).Time()
		w.mu.Unlock()
	}
	if timed {
		since = w.moment(since, now)
	}
	return since
}

// moment returns the last of the swap's moments between two times, or the first of these if
// there is none.
func (w *repeater) moment(from, to time.Time) time.Time {
	w.mu.Lock()
	r := w.of
	w.mu.Unlock()
	for r != nil {
		next := r.NextMoment(from)
		if next == 0 || !next.Reached(to) {
			break
		}
		from = next.Time()
	}
	return from
}

var (
	ofEscrow = rule[chains.EscrowFact]{repeatShown, func(f chains.EscrowFact) bool { return f.Final || f.Unsettled }, func(f chains.EscrowFact) chains.EscrowFact {
		f.Head = chains.Block{}
		return f
	}, true}
	ofWithdrawal = rule[chains.WithdrawalFact]{repeatShown, func(f chains.WithdrawalFact) bool { return f.Final || f.Unsettled }, func(f chains.WithdrawalFact) chains.WithdrawalFact {
		f.Head = chains.Block{}
		return f
	}, true}
	ofVault = rule[chains.VaultFact]{repeatShown, func(chains.VaultFact) bool { return true }, func(f chains.VaultFact) chains.VaultFact {
		f.Head = chains.Block{}
		return f
	}, true}
	ofLP = rule[lp.Status]{0, func(lp.Status) bool { return true }, func(s lp.Status) lp.Status { return s }, false}
)

// Escrow implements Reader.
func (w *repeater) Escrow(ctx context.Context, chain, contract string, q chains.EscrowQuery) (chains.EscrowFact, error) {
	return ofContract(w, &w.said.escrow, chain, q, q.Settled || q.Auth != nil, ofEscrow, escrowHead, func() (chains.EscrowFact, error) {
		return w.Reader.Escrow(ctx, chain, contract, q)
	})
}

// Withdrawal implements Reader.
func (w *repeater) Withdrawal(ctx context.Context, chain, contract string, q chains.WithdrawalQuery) (chains.WithdrawalFact, error) {
	return ofContract(w, &w.said.withdrawal, chain, q, q.Settled, ofWithdrawal, withdrawalHead, func() (chains.WithdrawalFact, error) {
		return w.Reader.Withdrawal(ctx, chain, contract, q)
	})
}

// Vault implements Reader.
func (w *repeater) Vault(ctx context.Context, chain, contract string, q chains.VaultID) (chains.VaultFact, error) {
	return ofContract(w, &w.said.vault, chain, q, false, ofVault, vaultHead, func() (chains.VaultFact, error) {
		return w.Reader.Vault(ctx, chain, contract, q)
	})
}

// BitcoinTx implements Reader. That there is no transaction is not repeated.
func (w *repeater) BitcoinTx(ctx context.Context, id bitcoin.Hash) (*bitcoin.Tx, error) {
	if w.hearing == nil {
		return w.Reader.BitcoinTx(ctx, id)
	}
	by := rule[*bitcoin.Tx]{repeatShown, func(*bitcoin.Tx) bool { return true }, func(tx *bitcoin.Tx) *bitcoin.Tx { return tx }, false}
	if w.routine {
		by.least = repeatTx
	}
	return repeat(w, &w.said.tx, tokens.Bitcoin, id, by, w.hearing.HeardBitcoin, func(old reply[bitcoin.Hash, *bitcoin.Tx]) (uint64, bool) {
		if old.answer == nil {
			return 0, false
		}
		asOf, ok := w.hearing.TxUnchanged(old.answer, old.heard)
		return uint64(asOf), ok
	}, func() (*bitcoin.Tx, error) { return w.Reader.BitcoinTx(ctx, id) })
}

// Received implements Reader. Payments that have come are repeated while no caller waits; that
// none has is not.
func (w *repeater) Received(ctx context.Context, q swap.ReceivedAsk) ([]*bitcoin.Tx, error) {
	if w.hearing == nil {
		return w.Reader.Received(ctx, q)
	}
	by := rule[[]*bitcoin.Tx]{0, func([]*bitcoin.Tx) bool { return true }, func(all []*bitcoin.Tx) []*bitcoin.Tx { return all }, false}
	if w.routine {
		by.least = repeatTx
	}
	return repeat(w, &w.said.received, tokens.Bitcoin, q, by, w.hearing.HeardBitcoin, func(old reply[swap.ReceivedAsk, []*bitcoin.Tx]) (asOf uint64, ok bool) {
		for _, tx := range old.answer {
			at, unchanged := w.hearing.TxUnchanged(tx, old.heard)
			if !unchanged {
				return 0, false
			}
			asOf, ok = uint64(at), true
		}
		return asOf, ok
	}, func() ([]*bitcoin.Tx, error) { return w.Reader.Received(ctx, q) })
}

// LPStatus implements Reader. What an LP says of a swap whose escrow is open is repeated, while no
// caller waits, for as long as it has said so: what it does is told of by the chain, and all
// that it may say earlier is that it has paid, or gives the escrow back.
func (w *repeater) LPStatus(ctx context.Context, q lp.StatusQuery) (lp.Status, error) {
	if w.hearing == nil {
		return w.Reader.LPStatus(ctx, q)
	}
	w.mu.Lock()
	chain, escrow := w.of.Chain, w.said.escrow
	w.mu.Unlock()
	mark := func() uint64 { return w.hearing.Heard(chain) }
	return repeat(w, &w.said.lp, chain, q, ofLP, mark, func(old reply[lp.StatusQuery, lp.Status]) (uint64, bool) {
		open := escrow.answer.State == chains.EscrowOpen && escrow.heard == old.heard
		return escrow.answer.Head.Height, open && mark() == old.heard
	}, func() (lp.Status, error) { return w.Reader.LPStatus(ctx, q) })
}
