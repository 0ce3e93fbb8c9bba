package e2e

import (
	"math/big"
	"testing"

	"github.com/swapper-go/swapper"
	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/internal/devnet/lp"
	"github.com/swapper-go/swapper/internal/devnet/starknet"
	"github.com/swapper-go/swapper/internal/devnet/starknet/contracts"
	"github.com/swapper-go/swapper/internal/devnet/watchtower"
	"github.com/swapper-go/swapper/internal/starknet/wire"
	"github.com/swapper-go/swapper/internal/trial"
)

// What a reorganisation of Starknet takes away is taken back, and what it brings back is
// believed again. One party orders the blocks, so that a branch need not be longer than
// what it replaces.
func TestStarknetReorganisations(t *testing.T) {
	trial.OnlyFull(t)
	onStarknet(t, func(t *testing.T, o options) {
		w := unsettled(t, o)
		w.payoutsUndone(t)
		w.payoutsReplaced(t)
		w.vaultClaimUndone(t)
		t.Run("opening and claim of a swap from Lightning", func(t *testing.T) {
			w := w.in(t)
			before := w.book()
			w.tower.Behave(watchtower.Behaviour{NoEscrows: true})
			defer w.tower.Behave(watchtower.Behaviour{})
			s := w.fromLightning("")
			w.act(s.SwapID)
			w.reached(s.SwapID, "CLAIM_COMMITED")
			w.undo(1)
			w.reached(s.SwapID, "PR_PAID")
			w.redo(1)
			w.reached(s.SwapID, "CLAIM_COMMITED")
			w.tower.Behave(watchtower.Behaviour{})
			w.reached(s.SwapID, "CLAIM_CLAIMED")
			w.tower.Behave(watchtower.Behaviour{NoEscrows: true})
			w.undo(1)
			w.watch(s.SwapID, is("CLAIM_COMMITED"))
			w.redo(1)
			w.reached(s.SwapID, "CLAIM_CLAIMED")
			w.eventually("settled", func() bool { return w.since(before)["LP msat"] != 0 })
			got := raw(s.Quote.OutputAmount)
			w.only(w.since(before), map[string]int64{"user msat": -100_000_000, "LP msat": 100_000_000, "LP WBTC": -got, "user WBTC": got})
		})
	})
}

// preconfirmed is a swap whose opening was handed in and is pre-confirmed: no block is
// closed by itself.
func (w *world) preconfirmed() (*swapper.CreateSwapOutput, book) {
	w.t.Helper()
	w.net.LPs[0].Misbehave(lp.Fault{})
	before := w.book()
	s := w.create(w.outgoing()[swapper.SwapToBTCLN]())
	chain := w.net.Starknet
	chain.SetMining(false)
	nonce := w.nonce()
	w.act(s.SwapID)
	w.eventually("pre-confirmed", func() bool { return w.nonce() > nonce })
	return s, before
}

// nonce is the user's, with what is pre-confirmed.
func (w *world) nonce() (n uint64) {
	w.net.Starknet.Chain().Read(0, func(v *contracts.View) { n = v.Nonce(w.net.Starknet.User.Address, v.Open()) })
	return n
}

// paidOnce checks that a swap from the chain to Lightning took place once.
func (w *world) paidOnce(s *swapper.CreateSwapOutput, before book) {
	w.t.Helper()
	w.ended(s.SwapID, "CLAIMED")
	paid := raw(s.Quote.InputAmount)
	w.only(w.since(before), map[string]int64{"user WBTC": -paid, "LP WBTC": paid, "LP msat": -50_000_000, "recipient msat": 50_000_000})
}

// A transaction that is pre-confirmed can vanish. Until it is accepted it counts as under
// way, and nothing is asked for twice or paid for.
func TestPreConfirmedTransactionsThatVanish(t *testing.T) {
	trial.OnlyFull(t)
	onStarknet(t, func(t *testing.T, o options) {
		w := unsettled(t, o)
		chain := w.net.Starknet
		refuse := func(w *world) {
			chain.Server().Misbehave(starknet.NodeFault{Fail: []string{"starknet_addInvokeTransaction"}})
		}
		transfer := func(w *world) {
			w.t.Helper()
			call, err := wire.Transfer(wire.STRK, chain.Watchtower.Address, big.NewInt(1))
			if err == nil {
				_, err = chain.User.Send(w.t.Context(), call)
			}
			if err != nil {
				w.t.Fatal(err)
			}
		}
		t.Run("and come back", func(t *testing.T) {
			w := w.in(t)
			s, before := w.preconfirmed()
			if now := w.status(s.SwapID); now.State.Name != "CREATED" || now.CurrentAction != nil {
				t.Errorf("%s, asks for %q", now.State.Name, nameOf(now.CurrentAction))
			}
			chain.DropPreConfirmed()
			nonce := w.nonce()
			w.only(w.since(before), map[string]int64{})
			w.eventually("sent again", func() bool { return w.nonce() > nonce })
			chain.SetMining(true)
			chain.Mine(1)
			w.paidOnce(s, before)
		})
		t.Run("and another one of the user's takes the nonce", func(t *testing.T) {
			w := w.in(t)
			s, before := w.preconfirmed()
			refuse(w)
			chain.DropPreConfirmed()
			chain.SetMining(true)
			transfer(w)
			chain.Server().Misbehave(starknet.NodeFault{})
			w.paidOnce(s, before)
		})
		t.Run("the nonce is taken before the transaction is handed in", func(t *testing.T) {
			w := w.in(t)
			before := w.book()
			s := w.create(w.outgoing()[swapper.SwapToBTCLN]())
			signed := trial.Must(w.user.Sign(w.asked(s.SwapID)))(t)
			transfer(w)
			if err := w.submit(s.SwapID, signed); fault.CodeOf(err) != fault.InvalidInput {
				t.Errorf("handed in with a nonce that is used: %v", err)
			}
			w.paidOnce(s, before)
		})
		t.Run("a refund", func(t *testing.T) {
			w := w.in(t)
			before := w.book()
			w.net.LPs[0].Misbehave(lp.Fault{NotPayable: true})
			defer w.net.LPs[0].Misbehave(lp.Fault{})
			s := w.create(w.outgoing()[swapper.SwapToBTC]())
			w.act(s.SwapID)
			w.reached(s.SwapID, "REFUNDABLE")
			chain.SetMining(false)
			nonce := w.nonce()
			w.act(s.SwapID)
			w.eventually("pre-confirmed", func() bool { return w.nonce() > nonce })
			if now := w.status(s.SwapID); now.State.Name != "REFUNDABLE" || now.IsFinished {
				t.Errorf("%s before it is accepted", now.State.Name)
			}
			refuse(w)
			chain.DropPreConfirmed()
			chain.SetMining(true)
			transfer(w)
			chain.Server().Misbehave(starknet.NodeFault{})
			w.ended(s.SwapID, "REFUNDED")
			w.only(w.since(before), map[string]int64{})
		})
	})
}
