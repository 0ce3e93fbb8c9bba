package e2e

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/btcsuite/btcd/wire"

	"github.com/swapper-go/swapper"
	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/internal/devnet/evm"
	"github.com/swapper-go/swapper/internal/devnet/lp"
	"github.com/swapper-go/swapper/internal/devnet/solana"
	"github.com/swapper-go/swapper/internal/devnet/watchtower"
	"github.com/swapper-go/swapper/internal/trial"
)

// safeDepth is how far below the head the chain's blocks are final in these tests.
const safeDepth = 6

// unsettled is a world in which nothing is mined but by the test, and whose chain
// may replace its newest blocks.
func unsettled(t *testing.T, o options) *world {
	o.slow = true
	o.net.EVM = func(o *evm.Options) { o.SafeDepth, o.FinalDepth = safeDepth, safeDepth }
	o.net.OnSolana = func(o *solana.Options) { o.FinalizedLag = safeDepth }
	return start(t, o)
}

// closed waits until what the user handed in counts as done: what is still under
// way is sent again when the network forgets it.
func (w *world) closed(id string) {
	w.t.Helper()
	w.eventually("closed", func() bool {
		e, err := w.store.Get(w.t.Context(), id)
		var r struct {
			Submission struct{ Closed bool }
		}
		return err == nil && json.Unmarshal(e.Body, &r) == nil && r.Submission.Closed
	})
}

// payoutsUndone are the reorganisations of a swap out of the chain.
func (w *world) payoutsUndone(t *testing.T) {
	t.Run("init of the user's", func(t *testing.T) {
		w := w.in(t)
		before := w.book()
		w.net.LPs[0].Misbehave(lp.Fault{NeverPay: true})
		defer w.net.LPs[0].Misbehave(lp.Fault{})
		s := w.create(w.outgoing()[swapper.SwapToBTCLN]())
		w.act(s.SwapID)
		w.reached(s.SwapID, "COMMITED")
		w.undo(1)
		w.reached(s.SwapID, "QUOTE_SOFT_EXPIRED")
		w.only(w.since(before), map[string]int64{})
		w.redo(1)
		w.reached(s.SwapID, "COMMITED")
		w.net.LPs[0].Misbehave(lp.Fault{})
		w.ended(s.SwapID, "CLAIMED")
		paid := raw(s.Quote.InputAmount)
		w.only(w.since(before), map[string]int64{"user WBTC": -paid, "LP WBTC": paid, "LP msat": -50_000_000, "recipient msat": 50_000_000})
		w.redo(safeDepth)
	})
	t.Run("init of the user's, for ever", func(t *testing.T) {
		w := w.in(t)
		before := w.book()
		w.net.LPs[0].Misbehave(lp.Fault{NeverPay: true})
		defer w.net.LPs[0].Misbehave(lp.Fault{})
		s := w.create(w.outgoing()[swapper.SwapToBTC]())
		w.act(s.SwapID)
		w.reached(s.SwapID, "COMMITED")
		w.closed(s.SwapID)
		w.undo(1)
		w.dropWaiting()
		w.reached(s.SwapID, "QUOTE_SOFT_EXPIRED")
		w.advance(time.Hour)
		w.redo(safeDepth + 1)
		w.reached(s.SwapID, "QUOTE_SOFT_EXPIRED") // it was open once, so it is looked for much longer
		w.advance(30 * 24 * time.Hour)
		w.redo(safeDepth + 1)
		w.ended(s.SwapID, "QUOTE_EXPIRED")
		w.only(w.since(before), map[string]int64{})
	})
	t.Run("claim of the LP's", func(t *testing.T) {
		w := w.in(t)
		before := w.book()
		s := w.create(w.outgoing()[swapper.SwapToBTCLN]())
		w.act(s.SwapID)
		w.ended(s.SwapID, "CLAIMED")
		w.undo(1)
		w.reached(s.SwapID, "SOFT_CLAIMED") // the LP has proven that it paid
		paid := raw(s.Quote.InputAmount)
		w.only(w.since(before), map[string]int64{"user WBTC": -paid, "escrows WBTC": paid, "LP msat": -50_000_000, "recipient msat": 50_000_000})
		w.redo(1)
		w.ended(s.SwapID, "CLAIMED")
		w.redo(safeDepth)
	})
	t.Run("refund", func(t *testing.T) {
		w := w.in(t)
		before := w.book()
		w.net.LPs[0].Misbehave(lp.Fault{NeverPay: true})
		defer w.net.LPs[0].Misbehave(lp.Fault{})
		s := w.create(w.outgoing()[swapper.SwapToBTC]())
		w.act(s.SwapID)
		w.reached(s.SwapID, "COMMITED")
		w.advance(8 * 24 * time.Hour)
		w.ended(s.SwapID, "REFUNDED")
		w.undo(1)
		w.watch(s.SwapID, is("REFUNDABLE"))
		paid := raw(s.Quote.InputAmount)
		w.only(w.since(before), map[string]int64{"user WBTC": -paid, "escrows WBTC": paid})
		w.redo(1)
		w.ended(s.SwapID, "REFUNDED")
		w.only(w.since(before), map[string]int64{})
		w.redo(safeDepth)
	})
}

// payoutsReplaced are reorganisations by branches that are not longer than what they
// replace.
func (w *world) payoutsReplaced(t *testing.T) {
	for name, b := range map[string]struct{ above, depth, length int }{ // blocks above the opening, and what replaces what
		"as long":            {0, 1, 1},
		"shorter":            {2, 3, 2},
		"below the opening":  {0, 3, 1},
		"shorter and deeper": {2, 4, 1},
	} {
		t.Run("init of the user's, by a branch that is "+name, func(t *testing.T) {
			w := w.in(t)
			w.redo(4) // what is replaced below the opening is empty
			before := w.book()
			w.net.LPs[0].Misbehave(lp.Fault{NeverPay: true})
			defer w.net.LPs[0].Misbehave(lp.Fault{})
			s := w.create(w.outgoing()[swapper.SwapToBTCLN]())
			w.act(s.SwapID)
			w.reached(s.SwapID, "COMMITED")
			w.closed(s.SwapID)
			opened := w.height()
			w.redo(b.above)
			w.branch(b.depth, b.length)
			if head := w.height(); head >= opened {
				w.reached(s.SwapID, "QUOTE_SOFT_EXPIRED")
			} else { // a node that has not come to the opening yet tells nothing of it
				w.shown(w.status(s.SwapID), "COMMITED")
			}
			w.only(w.since(before), map[string]int64{})
			w.redo(1)
			w.reached(s.SwapID, "COMMITED")
			w.net.LPs[0].Misbehave(lp.Fault{})
			w.ended(s.SwapID, "CLAIMED")
			paid := raw(s.Quote.InputAmount)
			w.only(w.since(before), map[string]int64{"user WBTC": -paid, "LP WBTC": paid, "LP msat": -50_000_000, "recipient msat": 50_000_000})
			w.redo(safeDepth)
		})
	}
	t.Run("init of the user's, for ever, by a shorter branch", func(t *testing.T) {
		w := w.in(t)
		w.redo(4)
		before := w.book()
		w.net.LPs[0].Misbehave(lp.Fault{NeverPay: true})
		defer w.net.LPs[0].Misbehave(lp.Fault{})
		s := w.create(w.outgoing()[swapper.SwapToBTC]())
		w.act(s.SwapID)
		w.reached(s.SwapID, "COMMITED")
		w.closed(s.SwapID)
		w.branch(4, 1)
		w.dropWaiting()
		w.shown(w.status(s.SwapID), "COMMITED")
		w.redo(3) // up to the height of the opening
		w.reached(s.SwapID, "QUOTE_SOFT_EXPIRED")
		w.advance(30 * 24 * time.Hour)
		w.redo(safeDepth + 1)
		w.ended(s.SwapID, "QUOTE_EXPIRED")
		w.only(w.since(before), map[string]int64{})
	})
	t.Run("claim of the LP's, by a branch as long", func(t *testing.T) {
		w := w.in(t)
		before := w.book()
		s := w.create(w.outgoing()[swapper.SwapToBTCLN]())
		w.act(s.SwapID)
		w.ended(s.SwapID, "CLAIMED")
		w.branch(1, 1)
		w.reached(s.SwapID, "SOFT_CLAIMED")
		w.redo(1)
		w.ended(s.SwapID, "CLAIMED")
		paid := raw(s.Quote.InputAmount)
		w.only(w.since(before), map[string]int64{"user WBTC": -paid, "LP WBTC": paid, "LP msat": -50_000_000, "recipient msat": 50_000_000})
		w.redo(safeDepth)
	})
}

// What a reorganisation of the chain takes away is taken back, and what it brings
// back is believed again.
func TestChainReorganisations(t *testing.T) {
	trial.OnlyFull(t)
	t.Parallel()
	w := unsettled(t, options{})
	w.payoutsUndone(t)
	w.payoutsReplaced(t)
	t.Run("init and claim of a swap from Lightning", func(t *testing.T) {
		w := w.in(t)
		before := w.book()
		claimed := len(w.tower.Claims())
		s := w.fromLightning("")
		w.act(s.SwapID)
		w.reached(s.SwapID, "CLAIM_COMMITED")
		w.undo(1)
		w.reached(s.SwapID, "PR_PAID")
		w.redo(1)
		w.reached(s.SwapID, "CLAIM_COMMITED")
		w.advance(2 * time.Minute) // nobody is told the preimage, and the user is not asked to publish it
		early := w.status(s.SwapID)
		if nameOf(early.CurrentAction) != "Automatic settlement" || early.ActionError == nil || early.ActionError.Code != fault.InvalidState {
			t.Errorf("asks for %q, %+v, before the escrow is final", nameOf(early.CurrentAction), early.ActionError)
		}
		if n := len(w.tower.Claims()); n != claimed {
			t.Errorf("claimed %d times", n-claimed)
		}
		w.redo(safeDepth)
		end := w.watch(s.SwapID, finished)
		w.shown(end, "CLAIM_CLAIMED")
		w.undo(1)
		w.watch(s.SwapID, is("CLAIM_COMMITED"))
		w.redo(1)
		w.reached(s.SwapID, "CLAIM_CLAIMED")
		w.eventually("settled", func() bool { return w.since(before)["LP msat"] != 0 })
		got := raw(s.Quote.OutputAmount)
		w.only(w.since(before), map[string]int64{"user msat": -100_000_000, "LP msat": 100_000_000, "LP WBTC": -got, "user WBTC": got})
		w.redo(safeDepth)
	})
	w.vaultClaimUndone(t)
}

// vaultClaimUndone is the reorganisation of what a vault has paid.
func (w *world) vaultClaimUndone(t *testing.T) {
	t.Run("claim from a vault", func(t *testing.T) {
		w := w.in(t)
		s := w.withdrawal("WBTC")
		w.act(s.SwapID)
		w.reached(s.SwapID, "BROADCASTED")
		w.mine(2)
		w.ended(s.SwapID, "CLAIMED")
		w.tower.Behave(watchtower.Behaviour{NoVaults: true}) // it would bring the claim back at once
		defer w.tower.Behave(watchtower.Behaviour{})
		w.undo(1)
		w.watch(s.SwapID, is("BTC_TX_CONFIRMED"))
		w.redo(1)
		w.reached(s.SwapID, "CLAIMED")
	})
}

// The same on Bitcoin.
func TestBitcoinReorganisations(t *testing.T) {
	trial.OnlyFull(t)
	t.Parallel()
	w := start(t, options{slow: true})
	undo := func(w *world, blocks int, with ...*wire.MsgTx) {
		w.t.Helper()
		if err := w.net.Bitcoin.Reorg(blocks, with...); err != nil {
			w.t.Fatal(err)
		}
	}
	vault := func(t *testing.T, run func(w *world, id string)) (*world, *swapper.CreateSwapOutput, book) {
		w := w.in(t)
		before := w.book()
		s := w.withdrawal("WBTC")
		w.act(s.SwapID)
		w.reached(s.SwapID, "BROADCASTED")
		run(w, s.SwapID)
		return w, s, before
	}
	paid := func(w *world, s *swapper.CreateSwapOutput, before book) {
		w.t.Helper()
		w.ended(s.SwapID, "CLAIMED")
		changed := w.since(before)
		in, out := raw(s.Quote.InputAmount), raw(s.Quote.OutputAmount)
		w.only(changed, map[string]int64{"user sats": changed["user sats"], "LP sats": in, "user WBTC": out, "tower WBTC": changed["tower WBTC"], "vaults WBTC": -out - changed["tower WBTC"]})
	}
	t.Run("one confirmation is lost", func(t *testing.T) {
		w, s, before := vault(t, func(w *world, id string) {
			w.mine(1)
			w.watch(id, confirmations(1))
			undo(w, 1)
			w.watch(id, confirmations(0))
			w.shown(w.status(id), "BROADCASTED")
			w.mine(2)
		})
		paid(w, s, before)
	})
	t.Run("a confirmed payment is lost", func(t *testing.T) {
		w, s, before := vault(t, func(w *world, id string) {
			w.tower.Behave(watchtower.Behaviour{NoVaults: true})
			w.mine(2)
			w.reached(id, "BTC_TX_CONFIRMED")
			undo(w, 2)
			w.reached(id, "BROADCASTED")
			w.mine(2)
			w.reached(id, "BTC_TX_CONFIRMED")
			w.tower.Behave(watchtower.Behaviour{})
		})
		paid(w, s, before)
	})
	for name, b := range map[string]struct{ depth, length int }{"as long": {2, 2}, "shorter": {2, 1}, "shorter and deeper": {4, 1}} {
		t.Run("a confirmed payment is lost to a branch that is "+name, func(t *testing.T) {
			w, s, before := vault(t, func(w *world, id string) {
				w.tower.Behave(watchtower.Behaviour{NoVaults: true})
				w.mine(2)
				w.reached(id, "BTC_TX_CONFIRMED")
				if err := w.net.Bitcoin.Branch(b.depth, b.length); err != nil {
					w.t.Fatal(err)
				}
				w.reached(id, "BROADCASTED")
				w.watch(id, confirmations(0))
				w.tower.Behave(watchtower.Behaviour{})
				w.mine(2)
			})
			paid(w, s, before)
		})
	}
	t.Run("a confirmed payment is lost to another one", func(t *testing.T) {
		w, s, before := vault(t, func(w *world, id string) {
			w.tower.Behave(watchtower.Behaviour{NoVaults: true})
			back, err := w.user.Bitcoin.Spend(50, w.inputs(id))
			if err != nil {
				w.t.Fatal(err)
			}
			w.mine(2)
			w.reached(id, "BTC_TX_CONFIRMED")
			undo(w, 2, back)
			w.tower.Behave(watchtower.Behaviour{})
		})
		w.ended(s.SwapID, "FAILED")
		changed := w.since(before)
		if fee := -changed["user sats"]; fee <= 0 || fee > 30_000 {
			t.Errorf("the user paid %d sats", fee)
		}
		delete(changed, "user sats")
		w.only(changed, map[string]int64{})
	})
	t.Run("the LP's payment is lost", func(t *testing.T) {
		w := w.in(t)
		before := w.book()
		to := trial.Must(w.net.Bitcoin.NewWallet(bitcoin.P2WPKH))(t)
		in := w.outgoing()[swapper.SwapToBTC]()
		in.DstAddress = to.Address.String()
		s := w.create(in)
		w.act(s.SwapID)
		soft := w.reached(s.SwapID, "SOFT_CLAIMED")
		w.mine(1)
		undo(w, 1)
		id := trial.Must(bitcoin.ParseHash(soft.Steps[1].InitTxID))(t)
		w.net.Bitcoin.Evict(id)
		w.eventually("sent again", func() bool { return w.net.Bitcoin.InMempool(id) })
		w.reached(s.SwapID, "SOFT_CLAIMED")
		w.mine(2)
		w.ended(s.SwapID, "CLAIMED")
		changed := w.since(before)
		amount, out := raw(s.Quote.InputAmount), raw(s.Quote.OutputAmount)
		w.only(changed, map[string]int64{"user WBTC": -amount, "LP WBTC": amount, "LP sats": changed["LP sats"]})
		if got := to.Balance(); got != out {
			t.Errorf("received %d, want %d", got, out)
		}
	})
}

// confirmations reports whether a payment has so many.
func confirmations(n int) func(*swapper.GetSwapStatusOutput) bool {
	return func(s *swapper.GetSwapStatusOutput) bool {
		c := s.Steps[0].Confirmations
		return c != nil && int(c.Current) == n
	}
}
