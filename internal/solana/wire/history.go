package wire

import (
	"slices"

	"github.com/swapper-go/swapper/chains"
)

// SeenTx is a transaction in the history of an address, as far as it matters here.
type SeenTx struct {
	ID           string
	Slot         uint64
	Time         int64 // Unix seconds, of its block
	Failed       bool  // it did nothing, whatever it logged
	Logs         []string
	Instructions []Instruction // of its message, and those that programs call as far as they are known
}

// Occurrence is an event of the swap program with the transaction that it happened in.
type Occurrence struct {
	Event
	Opened *SwapData // Initialized: the escrow; nil where the node does not tell the call that opened it
	Tx     string
	Block  chains.Block
}

// Occurrences returns what happened in a transaction, in its order. One that failed
// did nothing; what cannot be read is passed over (§9, §21.9). truncated says that the
// node left a part of the log out.
func (p Programs) Occurrences(tx SeenTx) (all []Occurrence, truncated bool) {
	if tx.Failed {
		return nil, false
	}
	events, truncated := p.Events(tx.Logs)
	for _, e := range events {
		o := Occurrence{Event: e, Tx: tx.ID, Block: chains.Block{Height: tx.Slot, Time: tx.Time}}
		if e.Kind == Initialized {
			o.Opened = p.opened(tx, e)
		}
		all = append(all, o)
	}
	return all, truncated
}

// Fact says what became of an escrow: from its account, which is nil if there is none,
// and from what happened at the account's address, newest first (§17). The account of
// another escrow with the same payment hash does not count, nor does what happened to
// an escrow that has the same hash and sequence, but other parties or terms: anybody
// can open one. That the account was read at another state than the history is the
// caller's affair: an escrow that was only just opened has a history and no account.
func (p Programs) Fact(d *SwapData, account []byte, newestFirst []Occurrence) (chains.EscrowFact, error) {
	f := chains.EscrowFact{}
	switch s, err := p.DecodeEscrow(account); {
	case err == nil:
		if p.Match(s, d) == nil {
			f.State = chains.EscrowOpen
		}
	case len(account) > 0:
		return f, err
	}
	open := f.State == chains.EscrowOpen
	for _, o := range newestFirst {
		switch {
		case o.Hash != d.PaymentHash || o.Sequence != d.Sequence:
		case o.Kind == Initialized && o.Opened != nil && !d.sameEscrow(o.Opened):
			if !open { // what ended since then was that one
				f = chains.EscrowFact{}
			}
		case o.Kind == Initialized:
			f.InitTx, f.Opened = o.Tx, o.Block
			return f, nil // what ended before it was opened anew ended another one
		case open || f.State != chains.EscrowNone: // the newest end is the one that counts
		case o.Kind == Claimed:
			f.State, f.ClaimTx, f.Finished, f.Result = chains.EscrowClaimed, o.Tx, o.Block, slices.Clone(o.Result[:])
		default:
			f.State, f.RefundTx, f.Finished = chains.EscrowRefunded, o.Tx, o.Block
		}
	}
	return f, nil
}

// sameEscrow reports whether an escrow that was opened is the one that is described.
// Who opened it, and what was published beside it, does not matter.
func (d *SwapData) sameEscrow(opened *SwapData) bool {
	return d.Terms() == opened.Terms() && d.Offerer == opened.Offerer && d.Claimer == opened.Claimer && d.Token == opened.Token &&
		d.SecurityDeposit == opened.SecurityDeposit && d.ClaimerBounty == opened.ClaimerBounty &&
		(d.ClaimerATA == nil || opened.ClaimerATA == nil || *d.ClaimerATA == *opened.ClaimerATA)
}

// opened returns the escrow that a transaction opens with an event, nil if none of its
// instructions does.
func (p Programs) opened(tx SeenTx, e Event) *SwapData {
	for _, ix := range tx.Instructions {
		if d, ok, err := p.OpenedData(ix, &e); err == nil && ok && d.PaymentHash == e.Hash && d.Sequence == e.Sequence {
			return d
		}
	}
	return nil
}

// Since cuts a history, newest first, off below a slot. All of that slot is kept: the
// network's clients lose one transaction here (§21.8).
func Since[T any](history []T, slot func(T) uint64, from uint64) []T {
	i := slices.IndexFunc(history, func(tx T) bool { return slot(tx) < from })
	if i < 0 {
		return history
	}
	return history[:i]
}
