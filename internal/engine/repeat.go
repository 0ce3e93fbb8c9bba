package engine

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"maps"
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/internal/async"
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

// mostPatience is how long a question may wait for others of which nothing is told either, or a
// twentieth of the age of the answer before: it is asked so much earlier.
const mostPatience = 6 * time.Second

const (
	saidMost   = 4096    // bytes of one swap's answers; most have 200 to 600
	saidOthers = 1 << 16 // swaps that Run does not follow, whose answers are kept: those used longest ago are forgotten
)

// said is what was answered to a swap's last questions. It is kept packed.
type said struct {
	Escrow     reply[chains.EscrowFact]
	Withdrawal reply[chains.WithdrawalFact]
	Vault      reply[chains.VaultFact]
	Tx         reply[*bitcoin.Tx]
	LP         reply[lp.Status]
	Received   reply[[]*bitcoin.Tx]
	ETA        reply[int]
}

type reply[A any] struct {
	Question digest
	Answer   A
	Since    time.Time // when it was given first of the answers in a row that were the same
	Asked    time.Time // when it was given last, by the engine's clock
	Heard    uint64    // before; 0: the answer is not to be repeated
}

// digest stands for a question.
type digest [16]byte

func digestOf(question any) (d digest, err error) {
	text, err := pack(nil, reflect.ValueOf(question))
	if err != nil {
		return d, err
	}
	sum := sha256.Sum256(text)
	return digest(sum[:]), nil
}

// packed is what is kept of s; "" if nothing may be repeated. Transactions of users may be large:
// those that are, are asked for each time.
func (s *said) packed() string {
	if s.Escrow.Heard|s.Withdrawal.Heard|s.Vault.Heard|s.Tx.Heard|s.LP.Heard|s.Received.Heard|s.ETA.Heard == 0 {
		return ""
	}
	text, err := pack(nil, reflect.ValueOf(*s))
	if err == nil && len(text) > saidMost {
		rest := said{Escrow: s.Escrow, Withdrawal: s.Withdrawal, Vault: s.Vault}
		text, err = pack(nil, reflect.ValueOf(rest))
	}
	if err != nil || len(text) > saidMost {
		return ""
	}
	return string(text)
}

func unpackSaid(text string) (s said) {
	if text != "" {
		(&unpacker{text}).unpack(reflect.ValueOf(&s).Elem())
	}
	return s
}

// kept returns the answers that are kept of a swap, and whether there are any. Those of a swap
// that Run follows are kept for as long as it is followed: the swaps of one user do not drive out
// those of another.
func (g *Engine) kept(id string) (said, bool) {
	text, followed := g.census.kept(id)
	if !followed {
		text, _ = g.said.Get(id)
	}
	return unpackSaid(text), text != ""
}

// keep keeps a swap's answers, packed, in place of those before.
func (g *Engine) keep(id, text string) {
	followed := g.census.keep(id, text)
	if _, ok := g.said.Get(id); ok && followed {
		text, followed = "", false // that are older
	}
	if !followed {
		g.said.Add(strings.Clone(id), text)
	}
}

// rule says for how long an answer is repeated of which nothing is told.
type rule[A any] struct {
	least time.Duration
	// steady reports whether it may be repeated for as long as it has been the same, while no
	// caller waits: what follows from it is not a matter of time.
	steady func(A) bool
	bare   func(A) A // without what differs although nothing has changed
	// head is the block of an answer that may change at the swap's moments, by the chain's time;
	// nil of others.
	head func(A) chains.Block
	// settles reports whether an answer becomes final by later blocks alone, of which nothing is
	// told: it is not repeated. nil of others.
	settles func(A) bool
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
	event bool              // the pass is for something that has happened, which nodes may not know yet
	asOf  map[string]uint64 // the blocks as of which something was repeated, by chain
}

// repeats returns the reader of a pass. One with input, or in which something is to be
// decided, asks everything.
func (g *Engine) repeats(id string, input swap.Input, why purpose) *repeater {
	event := input != nil || why == forFacts
	w := &repeater{Reader: g.reader, hearing: g.hearing, g: g, id: id, routine: why == asRoutine, off: event || why == atMoment, event: event}
	if g.hearing == nil {
		return w
	}
	w.said, w.known = g.kept(id)
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
	if text := w.said.packed(); w.known || text != "" {
		w.g.keep(w.id, text)
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
func repeat[Q, A any](ctx context.Context, w *repeater, in *reply[A], chain string, q Q, by rule[A], mark func() uint64, unchanged func(reply[A]) (asOf uint64, ok bool), ask func(context.Context) (A, error)) (A, error) {
	now := w.g.Now()
	question, err := digestOf(q)
	if err != nil {
		return ask(ctx)
	}
	w.mu.Lock()
	old, off := *in, w.off
	w.mu.Unlock()
	known := !off && old.Heard != 0 && old.Question == question
	if age := now.Sub(old.Asked); known && age >= 0 {
		patience := min(age/20, mostPatience)
		asOf, ok := unchanged(old)
		if ok && age+patience < lasts(w, old, by) {
			w.repeats(chain, asOf)
			return old.Answer, nil
		}
		if ok && w.routine {
			ctx = async.Patient(ctx, patience)
		}
	}
	heard := mark()
	a, err := ask(ctx)
	if err != nil {
		heard = 0
	}
	since := now // of an answer after an event: the node that gave it may be behind
	if !w.event {
		since = w.unchanged(old.Since, !old.Asked.IsZero() && !same(by.bare(old.Answer), by.bare(a)), now)
	}
	w.mu.Lock()
	if *in = (reply[A]{}); heard != 0 {
		*in = reply[A]{question, a, since, now, heard}
	}
	w.mu.Unlock()
	return a, err
}

// same reports whether two answers are equal.
func same(a, b any) bool {
	x, err := pack(nil, reflect.ValueOf(a))
	if err != nil {
		return false
	}
	y, err := pack(nil, reflect.ValueOf(b))
	return err == nil && bytes.Equal(x, y)
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

// lasts is how old an answer may become that is repeated. What is not steady, and what a caller is
// shown, is soon asked again; the rest once it is twice as old. The chain's time may be behind ours:
// if it had not reached the swap's last moment, the answer counts as new as that.
func lasts[A any](w *repeater, old reply[A], by rule[A]) time.Duration {
	if by.settles != nil && by.settles(old.Answer) {
		return 0
	}
	if !w.routine || !by.steady(old.Answer) {
		return by.least
	}
	since := old.Since
	if by.head != nil {
		if moment := w.moment(since, old.Asked); by.head(old.Answer).Time < moment.Unix() {
			since = moment
		}
	}
	return max(by.least, min(old.Asked.Sub(since), repeatMost))
}

// ofContract repeats what a chain's contracts hold, as of the block at which it was read. At
// each moment of the swap everything is asked: what follows then is a matter of the chain's time.
func ofContract[Q, A any](ctx context.Context, w *repeater, in *reply[A], chain string, q Q, settled bool, by rule[A], ask func(context.Context) (A, error)) (A, error) {
	if settled || w.hearing == nil {
		return ask(ctx)
	}
	mark := func() uint64 { return w.hearing.Heard(chain) }
	return repeat(ctx, w, in, chain, q, by, mark, func(old reply[A]) (uint64, bool) {
		return by.head(old.Answer).Height, mark() == old.Heard && w.moment(old.Asked, w.g.Now()).Equal(old.Asked)
	}, ask)
}

// unchanged returns since when an answer has been the same, as far as is known: since as long as the
// record if there was none before.
func (w *repeater) unchanged(since time.Time, differs bool, now time.Time) time.Time {
	if differs {
		return now
	}
	if since.IsZero() {
		w.mu.Lock()
		since = max(w.of.Changed, w.of.CreatedAt).Time()
		w.mu.Unlock()
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
	}, escrowHead, func(f chains.EscrowFact) bool { return f.State != chains.EscrowNone && !f.Final && !f.Unsettled }}
	ofWithdrawal = rule[chains.WithdrawalFact]{repeatShown, func(f chains.WithdrawalFact) bool { return f.Final || f.Unsettled }, func(f chains.WithdrawalFact) chains.WithdrawalFact {
		f.Head = chains.Block{}
		return f
	}, withdrawalHead, func(f chains.WithdrawalFact) bool {
		return f.State != chains.WithdrawalNone && !f.Final && !f.Unsettled
	}}
	ofVault = rule[chains.VaultFact]{repeatShown, func(chains.VaultFact) bool { return true }, func(f chains.VaultFact) chains.VaultFact {
		f.Head = chains.Block{}
		return f
	}, vaultHead, nil}
	ofLP = rule[lp.Status]{repeatShown, func(lp.Status) bool { return true }, func(s lp.Status) lp.Status {
		s.Age = 0
		return s
	}, nil, nil}
)

// Escrow implements Reader.
func (w *repeater) Escrow(ctx context.Context, chain, contract string, q chains.EscrowQuery) (chains.EscrowFact, error) {
	return ofContract(ctx, w, &w.said.Escrow, chain, q, q.Settled || q.Auth != nil, ofEscrow, func(ctx context.Context) (chains.EscrowFact, error) {
		return w.Reader.Escrow(ctx, chain, contract, q)
	})
}

// Withdrawal implements Reader.
func (w *repeater) Withdrawal(ctx context.Context, chain, contract string, q chains.WithdrawalQuery) (chains.WithdrawalFact, error) {
	return ofContract(ctx, w, &w.said.Withdrawal, chain, q, q.Settled, ofWithdrawal, func(ctx context.Context) (chains.WithdrawalFact, error) {
		return w.Reader.Withdrawal(ctx, chain, contract, q)
	})
}

// Vault implements Reader.
func (w *repeater) Vault(ctx context.Context, chain, contract string, q chains.VaultID) (chains.VaultFact, error) {
	return ofContract(ctx, w, &w.said.Vault, chain, q, false, ofVault, func(ctx context.Context) (chains.VaultFact, error) {
		return w.Reader.Vault(ctx, chain, contract, q)
	})
}

// BitcoinTx implements Reader. That there is no transaction is not repeated.
func (w *repeater) BitcoinTx(ctx context.Context, id bitcoin.Hash) (*bitcoin.Tx, error) {
	if w.hearing == nil {
		return w.Reader.BitcoinTx(ctx, id)
	}
	by := rule[*bitcoin.Tx]{repeatShown, func(*bitcoin.Tx) bool { return true }, func(tx *bitcoin.Tx) *bitcoin.Tx { return tx }, nil, nil}
	if w.routine {
		by.least = repeatTx
	}
	return repeat(ctx, w, &w.said.Tx, tokens.Bitcoin, id, by, w.hearing.HeardBitcoin, func(old reply[*bitcoin.Tx]) (uint64, bool) {
		if old.Answer == nil {
			return 0, false
		}
		asOf, ok := w.hearing.TxUnchanged(old.Answer, old.Heard)
		return uint64(asOf), ok
	}, func(ctx context.Context) (*bitcoin.Tx, error) { return w.Reader.BitcoinTx(ctx, id) })
}

// Received implements Reader. Payments that have come are repeated while no caller waits; that
// none has is not.
func (w *repeater) Received(ctx context.Context, q swap.ReceivedAsk) ([]*bitcoin.Tx, error) {
	if w.hearing == nil {
		return w.Reader.Received(ctx, q)
	}
	by := rule[[]*bitcoin.Tx]{0, func([]*bitcoin.Tx) bool { return true }, func(all []*bitcoin.Tx) []*bitcoin.Tx { return all }, nil, nil}
	if w.routine {
		by.least = repeatTx
	}
	return repeat(ctx, w, &w.said.Received, tokens.Bitcoin, q, by, w.hearing.HeardBitcoin, func(old reply[[]*bitcoin.Tx]) (asOf uint64, ok bool) {
		for _, tx := range old.Answer {
			at, unchanged := w.hearing.TxUnchanged(tx, old.Heard)
			if !unchanged {
				return 0, false
			}
			asOf, ok = uint64(at), true
		}
		return asOf, ok
	}, func(ctx context.Context) ([]*bitcoin.Tx, error) { return w.Reader.Received(ctx, q) })
}

// ETA implements Reader. How long a payment will take is repeated for as long as the payment is the
// same, unless a block was told of.
func (w *repeater) ETA(ctx context.Context, q swap.ETAAsk) (seconds int, err error) {
	if w.hearing == nil {
		return w.Reader.ETA(ctx, q)
	}
	by := rule[int]{repeatShown, func(int) bool { return false }, func(seconds int) int { return seconds }, nil, nil}
	return repeat(ctx, w, &w.said.ETA, tokens.Bitcoin, q, by, w.hearing.HeardBitcoin, func(old reply[int]) (uint64, bool) {
		w.mu.Lock()
		txs := append(slices.Clip(w.said.Received.Answer), w.said.Tx.Answer)
		w.mu.Unlock()
		i := slices.IndexFunc(txs, func(tx *bitcoin.Tx) bool { return tx != nil && tx.ID == q.TxID })
		if i < 0 || w.hearing.HeardBitcoin() != old.Heard {
			return 0, false
		}
		asOf, ok := w.hearing.TxUnchanged(txs[i], old.Heard)
		return uint64(asOf), ok
	}, func(ctx context.Context) (int, error) { return w.Reader.ETA(ctx, q) })
}

// LPStatus implements Reader. What an LP says of a swap whose escrow is open is repeated, while no
// caller waits, for as long as it has said so, and to a caller for a twentieth of that: what it does
// is told of by the chain, and all that it may say earlier is that it has paid, or gives the escrow back.
func (w *repeater) LPStatus(ctx context.Context, q lp.StatusQuery) (lp.Status, error) {
	if w.hearing == nil {
		return w.Reader.LPStatus(ctx, q)
	}
	w.mu.Lock()
	chain, escrow, before := w.of.Chain, w.said.Escrow, w.said.LP
	w.mu.Unlock()
	mark, by := func() uint64 { return w.hearing.Heard(chain) }, ofLP
	if !w.routine {
		by.least = min(before.Asked.Sub(before.Since)/20, repeatShown)
	}
	quiet := func() bool {
		return escrow.Answer.State == chains.EscrowOpen && escrow.Heard != 0 && escrow.Heard == mark()
	}
	return repeat(ctx, w, &w.said.LP, chain, q, by, mark, func(old reply[lp.Status]) (uint64, bool) {
		return escrow.Answer.Head.Height, quiet() && old.Heard == escrow.Heard
	}, func(ctx context.Context) (lp.Status, error) {
		if w.routine && quiet() { // what came too late for the pass before will do
			ctx = async.Patient(ctx, mostPatience)
		}
		return w.Reader.LPStatus(ctx, q)
	})
}
