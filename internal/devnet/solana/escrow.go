package solana

import (
	"errors"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/internal/devnet/solana/bank"
	"github.com/swapper-go/swapper/internal/solana/wire"
)

// Head returns the newest block of a commitment; its height is the slot.
func Head(b *bank.Bank, c bank.Commitment) (head chains.Block) {
	b.Read(c, 0, func(v *bank.View) { head = blockOf(v.Head()) })
	return head
}

func blockOf(b *bank.Block) chains.Block {
	return chains.Block{Height: b.Slot, Hash: b.Hash.String(), Time: b.Time}
}

// errMoving says that the state of an escrow has just changed and is not confirmed yet.
var errMoving = errors.New("the escrow has just changed")

// Facts returns the states of escrows at the newest confirmed block, in their order. One
// that stands otherwise in a newer block already has errMoving as its error, so that
// what has been done is not done twice.
func Facts(b *bank.Bank, p wire.Programs, of []*wire.SwapData) []chains.EscrowFact {
	facts, newest := make([]chains.EscrowFact, len(of)), make([]chains.EscrowState, len(of))
	b.Read(bank.Processed, 0, func(v *bank.View) {
		for i, d := range of {
			newest[i] = fact(v, p, d).State
		}
	})
	b.Read(bank.Confirmed, 0, func(v *bank.View) {
		for i, d := range of {
			facts[i] = fact(v, p, d)
			facts[i].Head = blockOf(v.Head())
			if facts[i].Err == nil && facts[i].State != newest[i] {
				facts[i].Err = errMoving
			}
		}
	})
	return facts
}

func fact(v *bank.View, p wire.Programs, d *wire.SwapData) (f chains.EscrowFact) {
	at := p.Escrow(d.PaymentHash)
	if a, ok := v.Account(at); ok {
		s, err := p.DecodeEscrow(a.Data)
		switch {
		case errors.Is(err, wire.ErrAbsent):
		case err != nil:
			return chains.EscrowFact{Err: err}
		case p.Match(s, d) == nil:
			return chains.EscrowFact{State: chains.EscrowOpen}
		}
	}
	want := d.EscrowHash()
	for tx := range v.History(at) {
		if tx.Err != nil {
			continue
		}
		events, _ := p.Events(tx.Logs)
		for i := len(events) - 1; i >= 0; i-- {
			e := events[i]
			if e.EscrowHash() != want {
				continue
			}
			switch e.Kind {
			case wire.Claimed:
				return chains.EscrowFact{State: chains.EscrowClaimed, ClaimTx: tx.ID.String(), Result: e.Result[:], Finished: blockOf(tx.Block)}
			case wire.Refunded:
				return chains.EscrowFact{State: chains.EscrowRefunded, RefundTx: tx.ID.String(), Finished: blockOf(tx.Block)}
			}
		}
	}
	return f
}
