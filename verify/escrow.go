package verify

import (
	"context"
	"strings"

	"github.com/swapper-go/swapper"
	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/fault"
)

// fact is what the wallet's own nodes say of the swap's escrow; nil for a swap without one.
// All of them are asked. What they do not answer is in its Err.
func (v *verifier) fact(ctx context.Context, o *opened, t terms) *chains.EscrowFact {
	if t.Escrow == nil {
		return nil
	}
	k, ok := o.byID[t.Src.Chain].Contract(t.Escrow.Version)
	if !ok {
		return &chains.EscrowFact{Err: fault.New(fault.Unsupported, "the contracts %s of %s are not known", t.Escrow.Version, t.Src.Chain)}
	}
	facts, err := k.Escrows(ctx, []chains.EscrowQuery{{Escrow: t.Escrow, Settled: true}})
	if err != nil {
		return &chains.EscrowFact{Err: err}
	}
	return &facts[0]
}

// ended fills in what the wallet's own nodes say of how a swap out of a smart chain went.
// What is not final is no end.
func ended(out *swapper.ListSwapOutput, fact *chains.EscrowFact) {
	switch {
	case fact == nil:
		out.State.Description = "No escrow is agreed on. " + out.State.Description
		return
	case fact.Err != nil:
		out.State.Description = "The wallet's own nodes do not say how the escrow is. " + out.State.Description
		return
	}
	out.IsExpired = out.IsExpired && fact.State == chains.EscrowNone
	out.IsFinished = fact.Final && (fact.State == chains.EscrowClaimed || fact.State == chains.EscrowRefunded)
	out.IsSuccess = out.IsFinished && fact.State == chains.EscrowClaimed
	out.IsFailed = out.IsFinished && fact.State == chains.EscrowRefunded
	how := map[chains.EscrowState]string{
		chains.EscrowNone:     "the escrow is not open",
		chains.EscrowOpen:     "the escrow is open",
		chains.EscrowClaimed:  "the provider has proven the payment and got the escrow",
		chains.EscrowRefunded: "the escrow was refunded",
	}[fact.State]
	if fact.State != chains.EscrowNone && !fact.Final {
		how += ", which is not final yet"
	}
	out.State.Description = strings.TrimSpace("By the wallet's own nodes " + how + ". " + out.State.Description)
}
