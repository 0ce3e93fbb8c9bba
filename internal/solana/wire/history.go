package wire

import (
	"slices"
	"time"

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

func (tx SeenTx) block() chains.Block { return chains.Block{Height: tx.Slot, Time: tx.Time} }

// Fact says what became of an escrow: from its account, which is nil if there is none,
// and from the history of the account's address, newest first (§17). The account of
// another escrow with the same payment hash does not count. That the account was read
// at another commitment than the history is the caller's affair: an escrow that was
// only just opened has a history and no account.
func (p Programs) Fact(d *SwapData, account []byte, history []SeenTx) (chains.EscrowFact, error) {
	f := chains.EscrowFact{}
	switch s, err := p.DecodeEscrow(account); {
	case err == nil:
		if p.Match(s, d) == nil {
			f.State = chains.EscrowOpen
		}
	case len(account) > 0:
		return f, err
	}
	ended := false // the newest end is the one that counts
	for _, tx := range history {
		if tx.Failed {
			continue
		}
		events, _ := p.Events(tx.Logs)
		for _, e := range slices.Backward(events) {
			if e.Hash != d.PaymentHash || e.Sequence != d.Sequence {
				continue
			}
			if e.Kind == Initialized {
				if f.InitTx == "" {
					f.InitTx, f.Opened = tx.ID, tx.block()
				}
				continue
			}
			// What ended before it was opened anew ended another one.
			if f.State == chains.EscrowOpen || ended || f.InitTx != "" {
				continue
			}
			ended = true
			f.Finished = tx.block()
			if e.Kind == Claimed {
				f.State, f.ClaimTx, f.Result = chains.EscrowClaimed, tx.ID, slices.Clone(e.Result[:])
			} else {
				f.State, f.RefundTx = chains.EscrowRefunded, tx.ID
			}
		}
	}
	return f, nil
}

// PaidTo reports the status of the newest escrow of a payment hash, regardless of
// its parties: before paying a hash one must know that it is not being paid and has
// not been paid (§17).
func (p Programs) PaidTo(paymentHash [32]byte, account []byte, history []SeenTx) chains.EscrowState {
	if len(account) > 0 {
		return chains.EscrowOpen
	}
	for _, tx := range history {
		if tx.Failed {
			continue
		}
		events, _ := p.Events(tx.Logs)
		for _, e := range slices.Backward(events) {
			if e.Hash == paymentHash && e.Kind == Claimed {
				return chains.EscrowClaimed
			}
			if e.Hash == paymentHash && e.Kind == Refunded {
				return chains.EscrowRefunded
			}
		}
	}
	return chains.EscrowNone
}

// PastEscrow is an escrow in the history of one of its parties.
type PastEscrow struct {
	Hash [32]byte  // escrow hash
	Data *SwapData // nil if its opening is not in the history
	Fact chains.EscrowFact
}

// Past finds the escrows in a party's history, oldest transaction first, in the order
// in which they come up. Transactions that failed, and what cannot be read, are passed
// over (§18, §21.9).
func (p Programs) Past(history []SeenTx) []PastEscrow {
	var all []*PastEscrow
	by := map[[32]byte]*PastEscrow{}
	for _, tx := range history {
		if tx.Failed {
			continue
		}
		events, _ := p.Events(tx.Logs)
		for _, e := range events {
			var opened *SwapData
			if e.Kind == Initialized {
				if opened = p.opened(tx, e); opened == nil {
					continue // by another program, whose calls the history does not have
				}
			}
			hash := e.EscrowHash()
			past := by[hash]
			if past == nil {
				past = &PastEscrow{Hash: hash}
				by[hash] = past
				all = append(all, past)
			}
			switch e.Kind {
			case Initialized:
				past.Data, past.Fact = opened, chains.EscrowFact{State: chains.EscrowOpen, InitTx: tx.ID, Opened: tx.block()}
			case Claimed:
				past.Fact.State, past.Fact.ClaimTx, past.Fact.Result, past.Fact.Finished = chains.EscrowClaimed, tx.ID, slices.Clone(e.Result[:]), tx.block()
			case Refunded:
				past.Fact.State, past.Fact.RefundTx, past.Fact.Finished = chains.EscrowRefunded, tx.ID, tx.block()
			}
		}
	}
	out := make([]PastEscrow, len(all))
	for i, past := range all {
		out[i] = *past
	}
	return out
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

// Refundable says whether an open escrow can be taken back: after its expiry, and, in
// v1, by its offerer alone.
func (p Programs) Refundable(d *SwapData, who Key, open bool, now time.Time) bool {
	return open && d.Expired(who, now, true) && (p.Version == V2 || d.IsOfferer(who))
}

// Claimable says whether an open escrow can still be claimed by who.
func (d *SwapData) Claimable(who Key, open bool, now time.Time) bool {
	return open && d.IsClaimer(who) && !d.Expired(who, now, false)
}
