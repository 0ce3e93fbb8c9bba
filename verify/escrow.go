package verify

import (
	"context"
	"errors"
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
	return &v.facts(ctx, o, []terms{t})[0]
}

// facts are what the wallet's own nodes say of escrows of one contract set, asked at once.
func (v *verifier) facts(ctx context.Context, o *opened, of []terms) []chains.EscrowFact {
	var facts []chains.EscrowFact
	chain, version := of[0].smart().Chain, of[0].Escrow.Version
	var k chains.Contract
	known := false
	if ch := o.byID[chain]; ch != nil {
		k, known = ch.Contract(version)
	}
	err := error(fault.New(fault.Unsupported, "the contracts %s of %s are not known", version, chain))
	if known {
		queries := make([]chains.EscrowQuery, len(of))
		for i, t := range of {
			queries[i] = chains.EscrowQuery{Escrow: t.Escrow, Settled: true}
		}
		facts, err = k.Escrows(ctx, queries)
	}
	if err != nil {
		facts = make([]chains.EscrowFact, len(of))
		for i := range facts {
			facts[i].Err = err
		}
	}
	return facts
}

// byEscrowNow shows a swap by what was agreed and by what the wallet's own nodes say of how
// its escrow is. Only a final state ends it.
func (v *verifier) byEscrowNow(id string, t terms, state swapper.SwapState, fact *chains.EscrowFact) swapper.ListSwapOutput {
	out := swapper.ListSwapOutput{SwapOutputBase: t.base(id, state), IsExpired: !t.Expiry.After(v.config.Now())}
	out.LNURL = t.link(fact)
	switch {
	case fact == nil:
		out.State.Description = "No escrow is agreed on. " + out.State.Description
		return out
	case errors.Is(fact.Err, errNotAsked):
		out.State.Description = "The wallet's own nodes were not asked about the escrow. " + out.State.Description
		return out
	case fact.Err != nil:
		out.State.Description = "The wallet's own nodes do not say how the escrow is. " + out.State.Description
		return out
	}
	out.IsExpired = out.IsExpired && fact.State == chains.EscrowNone
	out.IsFinished = fact.Final && (fact.State == chains.EscrowClaimed || fact.State == chains.EscrowRefunded)
	out.IsSuccess = out.IsFinished && fact.State == chains.EscrowClaimed
	out.IsFailed = out.IsFinished && fact.State == chains.EscrowRefunded
	how := map[chains.EscrowState]string{
		chains.EscrowNone:     "the escrow is not open",
		chains.EscrowOpen:     "the escrow is open",
		chains.EscrowClaimed:  map[bool]string{false: "the provider has proven the payment and got the escrow", true: "the escrow was paid out to " + t.Recipient}[t.receives()],
		chains.EscrowRefunded: "the escrow was refunded",
	}[fact.State]
	if fact.State != chains.EscrowNone && !fact.Final {
		how += ", which is not final yet"
	}
	out.State.Description = strings.TrimSpace("By the wallet's own nodes " + how + ". " + out.State.Description)
	return out
}
