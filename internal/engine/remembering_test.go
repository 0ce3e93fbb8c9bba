package engine

import (
	"context"
	"time"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/internal/settle"
)

// remembering has the memory of those who read chains between an engine and a reader that
// answers by a truth. What it says is long since buried, and a search that found nothing goes
// on above it.
type remembering struct {
	Reader
	now         func() time.Time
	alone       bool // the chain has one node
	escrows     *settle.EscrowMemory[string]
	unopened    *settle.Memory[string, uint64]
	withdrawals *settle.WithdrawalMemory[string]
	repeated    int // answers
}

func remembers(r Reader, now func() time.Time, alone bool) *remembering {
	return &remembering{r, now, alone, settle.NewEscrowMemory[string](8), settle.NewMemory[string](8, settle.Later), settle.NewWithdrawalMemory[string](8), 0}
}

func buried(height uint64) bool { return height != 0 }

// reads reports whether a question is put to the node alone that is asked by default, whose
// word counts as that of all if there is no other.
func (m *remembering) reads(asksAll bool) (plain, settled bool) {
	return m.alone || !asksAll, m.alone || asksAll
}

func (m *remembering) Escrow(ctx context.Context, chain, contract string, q chains.EscrowQuery) (chains.EscrowFact, error) {
	f, err := m.Reader.Escrow(ctx, chain, contract, q)
	if err != nil {
		return f, err
	}
	plain, settled := m.reads(q.Settled)
	key := "the escrow"
	if q.Escrow == nil {
		search := string(q.ClaimHash)
		if from, ok := m.unopened.Hint(search, m.now()); plain && ok && f.Opened.Height < from {
			f = chains.EscrowFact{Head: f.Head, Auth: f.Auth, Unsettled: f.Unsettled}
		}
		switch {
		case f.State == chains.EscrowNone:
			m.unopened.Note(search, f.Head.Height, m.now(), settled)
			return f, nil
		case settled:
			m.unopened.Forget(search)
		}
	}
	if end, ok := m.escrows.Ended(key); plain && ok {
		m.repeated++
		end.Head, end.Auth, end.Escrow, end.Unsettled, end.Final = f.Head, f.Auth, f.Escrow, f.Unsettled, !f.Unsettled
		return end, nil
	}
	m.escrows.Note(key, f, buried, m.now(), settled)
	return f, nil
}

func (m *remembering) Withdrawal(ctx context.Context, chain, contract string, q chains.WithdrawalQuery) (chains.WithdrawalFact, error) {
	f, err := m.Reader.Withdrawal(ctx, chain, contract, q)
	if err != nil {
		return f, err
	}
	plain, settled := m.reads(q.Settled)
	key := q.TxID.String()
	if done, ok := m.withdrawals.Done(key); plain && ok {
		m.repeated++
		done.Head, done.Unsettled, done.Final = f.Head, f.Unsettled, !f.Unsettled
		return done, nil
	}
	if from, ok := m.withdrawals.From(key, m.now()); plain && ok && f.Height < from {
		f = chains.WithdrawalFact{Head: f.Head, Unsettled: f.Unsettled}
	}
	m.withdrawals.Note(key, f, f.Head.Height, buried, m.now(), settled)
	return f, nil
}
