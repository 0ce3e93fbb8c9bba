package settle

import (
	"bytes"
	"time"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/internal/bounds"
)

// Opening is what stays true of an escrow once its opening cannot be undone.
type Opening struct {
	Tx string
	At chains.Block
}

// Blocks are the heights at which an escrow was opened and ended, 0 for what has not
// happened.
type Blocks struct{ Opened, Ended uint64 }

// Escrow is what is remembered of one escrow that cannot be opened a second time. It is a
// value, and pure; the zero value is nothing.
type Escrow struct {
	opened Entry[Opening]
	ended  Entry[chains.EscrowFact]
}

// Opened returns how the escrow was opened, if that was settled twice.
func (e Escrow) Opened() (Opening, bool) { return e.opened.Kept() }

// Ended returns the fact of the escrow's end, if that was settled twice: it is the answer
// then, but for its head and what follows from that, and the escrow is not asked for.
func (e Escrow) Ended() (chains.EscrowFact, bool) { return e.ended.Kept() }

func (e Escrow) empty() bool { return e.opened.empty() && e.ended.empty() }

// Note takes an answer about the escrow, which was asked for at a time. stays reports
// whether what happened at a height cannot be undone any more.
func (e Escrow) Note(f chains.EscrowFact, stays func(height uint64) bool, asked time.Time, settled bool) Escrow {
	if f.Err != nil {
		return e
	}
	if stays(f.Opened.Height) {
		e.opened = e.opened.Note(Opening{f.InitTx, f.Opened}, asked, settled, Equal)
	} else if settled {
		e.opened = Entry[Opening]{}
	}
	if stays(f.Finished.Height) {
		f.Escrow = nil
		e.ended = e.ended.Note(f, asked, settled, sameEnd)
	} else if settled {
		e.ended = Entry[chains.EscrowFact]{}
	}
	return e
}

// Withdrawal is what is remembered of one withdrawal. It is a value, and pure; the zero
// value is nothing.
type Withdrawal struct {
	unpaid Entry[uint64]
	done   Entry[chains.WithdrawalFact]
}

// Done returns the fact of what became of the withdrawal, if that was settled twice: it is
// the answer then, but for its head and what follows from that.
func (w Withdrawal) Done() (chains.WithdrawalFact, bool) { return w.done.Kept() }

// From returns the height from which on the withdrawal is searched for at a time: below it
// there was nothing.
func (w Withdrawal) From(now time.Time) (uint64, bool) { return w.unpaid.Hint(now) }

func (w Withdrawal) empty() bool { return w.unpaid.empty() && w.done.empty() }

// Note takes an answer about the withdrawal, which was asked for at a time. searched is
// from where a search goes on that found nothing. stays reports whether what happened at a
// height cannot be undone any more.
func (w Withdrawal) Note(f chains.WithdrawalFact, searched uint64, stays func(height uint64) bool, asked time.Time, settled bool) Withdrawal {
	if f.State == chains.WithdrawalNone {
		w.unpaid = w.unpaid.Note(searched, asked, settled, Later)
	} else if settled {
		w.unpaid = Entry[uint64]{}
	}
	if f.State != chains.WithdrawalNone && f.State != chains.WithdrawalFronted && stays(f.Height) {
		w.done = w.done.Note(f, asked, settled, samePayout)
	} else if settled {
		w.done = Entry[chains.WithdrawalFact]{}
	}
	return w
}

// EscrowMemory has what is remembered of many escrows. It is bounded, and safe for concurrent use.
type EscrowMemory[K comparable] struct {
	table  table[K, Escrow]
	likely *bounds.Cache[K, Blocks]
}

// NewEscrowMemory returns a memory of so many escrows.
func NewEscrowMemory[K comparable](entries int) *EscrowMemory[K] {
	return &EscrowMemory[K]{newTable[K, Escrow](entries), bounds.NewCache[K, Blocks](entries)}
}

// Opened is [Escrow.Opened].
func (m *EscrowMemory[K]) Opened(k K) (Opening, bool) { return m.table.of(k).Opened() }

// Ended is [Escrow.Ended].
func (m *EscrowMemory[K]) Ended(k K) (chains.EscrowFact, bool) { return m.table.of(k).Ended() }

// Likely returns the blocks in which an escrow was seen to be opened and ended last: not
// believed, but worth asking about at once. An opening that is kept is left out.
func (m *EscrowMemory[K]) Likely(k K) (Blocks, bool) { return m.likely.Get(k) }

// Note is [Escrow.Note].
func (m *EscrowMemory[K]) Note(k K, f chains.EscrowFact, stays func(height uint64) bool, asked time.Time, settled bool) {
	m.table.change(k, func(e Escrow) Escrow { return e.Note(f, stays, asked, settled) })
	if f.Err != nil {
		return
	}
	likely := Blocks{f.Opened.Height, f.Finished.Height}
	if _, kept := m.Opened(k); kept {
		likely.Opened = 0
	}
	if _, had := m.likely.Get(k); had || likely != (Blocks{}) {
		m.likely.Add(k, likely)
	}
}

// WithdrawalMemory has what is remembered of many withdrawals. It is bounded, and safe for
// concurrent use.
type WithdrawalMemory[K comparable] struct{ table table[K, Withdrawal] }

// NewWithdrawalMemory returns a memory of so many withdrawals.
func NewWithdrawalMemory[K comparable](entries int) *WithdrawalMemory[K] {
	return &WithdrawalMemory[K]{newTable[K, Withdrawal](entries)}
}

// Done is [Withdrawal.Done].
func (m *WithdrawalMemory[K]) Done(k K) (chains.WithdrawalFact, bool) { return m.table.of(k).Done() }

// From is [Withdrawal.From].
func (m *WithdrawalMemory[K]) From(k K, now time.Time) (uint64, bool) { return m.table.of(k).From(now) }

// Note is [Withdrawal.Note].
func (m *WithdrawalMemory[K]) Note(k K, f chains.WithdrawalFact, searched uint64, stays func(height uint64) bool, asked time.Time, settled bool) {
	m.table.change(k, func(w Withdrawal) Withdrawal { return w.Note(f, searched, stays, asked, settled) })
}

// sameEnd reports whether two facts say the same end of an escrow.
func sameEnd(before, now chains.EscrowFact) bool {
	return before.State == now.State && before.Opened == now.Opened && before.Finished == now.Finished && before.InitTx == now.InitTx &&
		before.ClaimTx == now.ClaimTx && before.RefundTx == now.RefundTx && bytes.Equal(before.Result, now.Result)
}

// samePayout reports whether two facts say the same of a withdrawal.
func samePayout(before, now chains.WithdrawalFact) bool {
	return before.State == now.State && before.Height == now.Height && before.FrontTx == now.FrontTx && before.ClaimTx == now.ClaimTx && before.Close == now.Close
}
