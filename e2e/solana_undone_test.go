package e2e

import (
	"testing"

	"github.com/swapper-go/swapper"
	"github.com/swapper-go/swapper/internal/devnet/watchtower"
	"github.com/swapper-go/swapper/internal/solana/wire"
	"github.com/swapper-go/swapper/internal/trial"
)

// What a rollback of slots takes away from a swap that pays out on Solana is taken
// back, and what it brings back is believed again.
func TestSolanaReorganisationsOfIncomingSwaps(t *testing.T) {
	trial.OnlyFull(t)
	onSolana(t, func(t *testing.T, o options) {
		w := unsettled(t, o)
		t.Run("opening and claim of a swap from Bitcoin", func(t *testing.T) {
			w := w.in(t)
			before := w.book()
			s := w.openedButNotFinal()
			w.closed(s.SwapID)
			w.undo(1)
			w.watch(s.SwapID, func(s *swapper.GetSwapStatusOutput) bool { return s.State.Name != "CLAIM_COMMITED" })
			w.only(w.since(before), map[string]int64{})
			w.redo(1)
			w.watch(s.SwapID, asksToWaitForTheEscrow)
			w.redo(safeDepth)
			w.watch(s.SwapID, func(s *swapper.GetSwapStatusOutput) bool { return nameOf(s.CurrentAction) == "Deposit on Bitcoin" })
			w.act(s.SwapID)
			w.mine(2)
			w.ended(s.SwapID, "CLAIM_CLAIMED")
			w.tower.Behave(watchtower.Behaviour{NoEscrows: true, NoProofs: true})
			defer w.tower.Behave(watchtower.Behaviour{})
			w.undo(1)
			w.watch(s.SwapID, is("BTC_TX_CONFIRMED"))
			w.redo(1)
			w.settledFromBitcoin(s, before)
			w.redo(safeDepth)
		})
		t.Run("opening of a swap from Bitcoin, for ever", func(t *testing.T) {
			w := w.in(t)
			before := w.book()
			s := w.openedButNotFinal()
			w.closed(s.SwapID)
			trial.Do(t, w.net.Solana.Forget(1))
			told := w.watch(s.SwapID, func(s *swapper.GetSwapStatusOutput) bool { return s.State.Name != "CLAIM_COMMITED" })
			if asksFor[*swapper.SendToAddress](told) != nil {
				t.Errorf("asks for bitcoin in %s", told.State.Name)
			}
			w.only(w.since(before), map[string]int64{})
		})
		t.Run("opening and claim of a swap from Lightning", func(t *testing.T) {
			w := w.in(t)
			before := w.book()
			s := w.legacy("LIGHTNING")
			w.act(s.SwapID)
			if o.on == wire.V1 {
				w.reached(s.SwapID, "PR_PAID")
				w.act(s.SwapID)
			}
			w.watch(s.SwapID, is("CLAIM_COMMITED"))
			w.undo(1)
			w.watch(s.SwapID, is("PR_PAID"))
			undone := w.since(before)
			delete(undone, "user msat") // the payment is held
			w.only(undone, map[string]int64{})
			w.redo(1)
			early := w.watch(s.SwapID, is("CLAIM_COMMITED"))
			if nameOf(early.CurrentAction) == "Settle manually" {
				t.Error("asks to publish the preimage before the escrow is final")
			}
			w.redo(safeDepth)
			w.ended(s.SwapID, "CLAIM_CLAIMED")
			w.undo(1)
			w.watch(s.SwapID, is("CLAIM_COMMITED"))
			w.redo(1)
			w.reached(s.SwapID, "CLAIM_CLAIMED")
			w.eventually("settled", func() bool { return w.since(before)["LP msat"] != 0 })
			out := raw(s.Quote.OutputAmount)
			w.only(w.since(before), map[string]int64{"user msat": -100_000_000, "LP msat": 100_000_000, "LP WBTC": -out, "user WBTC": out})
		})
	})
}

// openedButNotFinal is a swap from Bitcoin whose escrow is open, in a slot that can still be
// undone: its bitcoin is not asked for yet.
func (w *world) openedButNotFinal() *swapper.CreateSwapOutput {
	w.t.Helper()
	s := w.legacy("BITCOIN")
	w.act(s.SwapID)
	w.watch(s.SwapID, asksToWaitForTheEscrow)
	return s
}

// asksToWaitForTheEscrow reports whether a swap from Bitcoin is open and must not be paid yet.
func asksToWaitForTheEscrow(s *swapper.GetSwapStatusOutput) bool {
	return is("CLAIM_COMMITED")(s) && nameOf(s.CurrentAction) == "Bitcoin confirmations" && s.Steps[1].Status == "awaiting"
}
