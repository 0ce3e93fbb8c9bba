package swap

import (
	"testing"
	"time"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/internal/lp"
)

// TestWhatADecisionRestsOn keeps the block of what was seen, or the head where that is
// not known, and nothing when nothing was decided.
func TestWhatADecisionRestsOn(t *testing.T) {
	for name, c := range map[string]struct {
		fact   chains.EscrowFact
		before uint64
		moved  bool
		want   uint64
	}{
		"opened":                    {chains.EscrowFact{State: chains.EscrowOpen, Opened: chains.Block{Height: 90}}, 0, true, 90},
		"opened, block not known":   {chains.EscrowFact{State: chains.EscrowOpen}, 0, true, 100},
		"gone":                      {chains.EscrowFact{Opened: chains.Block{Height: 90}}, 0, true, 100},
		"gone, and nothing decided": {chains.EscrowFact{}, 0, false, 0},
		"never back":                {chains.EscrowFact{}, 200, true, 200},
		"seen in an earlier block":  {chains.EscrowFact{State: chains.EscrowOpen, Opened: chains.Block{Height: 90}}, 95, false, 90},
		"behind what was seen":      {chains.EscrowFact{State: chains.EscrowOpen, Opened: chains.Block{Height: 90}}, 101, false, 101},
	} {
		c.fact.Head.Height = 100
		next := &Record{Head: Head{Seen: Seen{Chain: c.before, At: 5}}}
		Decision{Obs: &Observation{Escrow: known(c.fact)}, Now: noon}.noteSeen(next, c.moved)
		if next.Seen.Chain != c.want || (next.Seen.At == At(noon)) != (c.want != c.before) {
			t.Errorf("%s: %+v, want %d", name, next.Seen, c.want)
		}
	}
}

// TestAutoReorganisations lets only a node that has reached the block of an end, or of
// the opening, contradict it; and the escrow is searched where the provider may lie.
func TestAutoReorganisations(t *testing.T) {
	seen := func(state int, s chains.EscrowState) func() Decision {
		return passOf(autoPass(state, chains.EscrowFact{State: s}), func(in *Decision) { in.R.Seen.Chain = 100 })
	}
	behind := changes{
		"the node is behind what was seen": func(in *Decision) { in.R.Seen.Chain = 101 },
		"it is not known what was seen":    func(in *Decision) { in.R.Seen = Seen{} },
		"the chain does not answer":        func(in *Decision) { in.Obs.Escrow = failed(in.Obs.Escrow.Value) },
	}
	f := newFromBTCLNAuto()
	checkRows(t, f, []row{
		{why: "the escrow was claimed, not refunded", pass: seen(LnFailed, chains.EscrowClaimed), without: behind},
		{why: "the escrow was refunded, not claimed", pass: seen(LnClaimed, chains.EscrowRefunded), without: behind},
		{why: "a reorganisation opened the escrow again", pass: seen(LnClaimed, chains.EscrowOpen), without: behind},
		{why: "a reorganisation removed the escrow", pass: seen(LnClaimed, chains.EscrowNone), without: behind},
		{why: "a reorganisation removed the escrow", pass: seen(LnCommitted, chains.EscrowNone), without: behind},
	})
	searches := func(in Decision) bool { return f.Ask(in).Found != nil }
	needs(t, passOf(autoPass(LnCreated, chains.EscrowFact{}), lpSilent), searches, changes{
		"the provider was not asked": func(in *Decision) { in.Obs.LP = Fact[lp.Status]{} },
		"the provider waits for it":  says(lp.CodeUnpaid),
		"that was done":              func(in *Decision) { in.Obs.Found = known(chains.EscrowFact{}) },
	})
	allows(t, autoPass(LnCreated, chains.EscrowFact{}), searches, changes{
		"the provider says expired":     says(lp.CodeExpired),
		"the provider says settled":     says(lp.CodeSettled),
		"the provider is not known":     func(in *Decision) { in.R.LP = LP{} },
		"an event hints":                func(in *Decision) { in.Input = Look{} },
		"the quote is over":             func(in *Decision) { in.R.State = LnExpired },
		"the quote is about to be over": all(says(lp.CodeUnpaid), func(in *Decision) { in.R.State = LnSoftExpired }),
	})
}

// TestQuotesThatMayBeUsed leaves open what a vault's provider holds, and takes nothing
// after the deadline, however long the quote is shown.
func TestQuotesThatMayBeUsed(t *testing.T) {
	f := newSPVFromBTC()
	needs(t, spvPass(SPVSoftExpired), func(in Decision) bool { return f.IsUnpaid(in.R) }, changes{
		"the provider has a transaction": func(in *Decision) { in.R.Bitcoin.Posted = true },
		"it was signed":                  func(in *Decision) { in.R.State = SPVSigned },
	})
	needs(t, submits(spvPass(SPVCreated), Submit{Action: ActionFund, PSBT: psbtOf()}), takesRow(f, "the user signed"), changes{
		"the deadline is over before the quote": func(in *Decision) { in.R.Expiry = 0; in.Now = in.R.Vault.Deadline.Time().Add(time.Millisecond) },
	})
	reorg := passOf(refundPass(sent("me")), func(in *Decision) { in.R.Submission.Txs[0].Sent = true })()
	if next, _ := newToBTC().Step(reorg); next.Submission.Txs[0].Sent {
		t.Error("a transaction that waits again counts as confirmed")
	}
}
