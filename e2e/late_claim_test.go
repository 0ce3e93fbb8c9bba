package e2e

import (
	"strings"
	"testing"
	"time"

	"github.com/swapper-go/swapper"
	solwire "github.com/swapper-go/swapper/internal/solana/wire"
)

// An escrow that becomes final too late for a safe claim costs the deposit, unless its
// user chooses to claim it all the same.
func TestALateClaimIsTheUsersChoice(t *testing.T) {
	t.Parallel()
	w := unsettled(t, options{on: solwire.V1})
	before := w.book()
	s := w.legacy("LIGHTNING")
	w.act(s.SwapID)
	w.reached(s.SwapID, "PR_PAID")
	w.act(s.SwapID)
	w.watch(s.SwapID, is("CLAIM_COMMITED"))
	w.advance(2400*time.Second - 9*time.Minute) // of the 40 minutes that the LP gives
	w.redo(safeDepth)
	told := w.watch(s.SwapID, func(s *swapper.GetSwapStatusOutput) bool { return is("EXPIRED")(s) && s.CurrentAction != nil })
	if a := asksFor[*swapper.SignSmartChainTransaction](told); a == nil || !strings.Contains(a.Description, "risk") || len(a.Txs) != 1 {
		t.Fatalf("asks for %+v", told.CurrentAction)
	}
	if w.since(before)["user WBTC"] != 0 {
		t.Fatal("the claim was sent without the user's choice")
	}
	w.act(s.SwapID)
	w.redo(safeDepth)
	w.ended(s.SwapID, "CLAIM_CLAIMED")
	w.eventually("settled", func() bool { return w.since(before)["LP msat"] != 0 })
	out := raw(s.Quote.OutputAmount)
	w.only(w.since(before), map[string]int64{"user msat": -100_000_000, "LP msat": 100_000_000, "LP WBTC": -out, "user WBTC": out})
}
