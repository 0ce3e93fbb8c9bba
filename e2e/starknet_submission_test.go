package e2e

import (
	"math/big"
	"testing"
	"time"

	"github.com/swapper-go/swapper"
	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/internal/devnet/lp"
	"github.com/swapper-go/swapper/internal/devnet/starknet"
	"github.com/swapper-go/swapper/internal/starknet/wire"
	"github.com/swapper-go/swapper/internal/trial"
)

// signedOnStarknet is what an action asks for, signed by the user.
func (w *world) signedOnStarknet(a *swapper.SignSmartChainTransaction) (texts []string, all []*wire.Transaction) {
	w.t.Helper()
	texts, err := w.user.SignStarknet(a.Txs)
	if err != nil {
		w.t.Fatal(err)
	}
	for _, text := range texts {
		tx, err := wire.ParseTransaction(text)
		if err != nil {
			w.t.Fatal(err)
		}
		all = append(all, tx)
	}
	return texts, all
}

// No transaction that is handed in on Starknet keeps a swap from going on.
func TestSubmissionsBlockNobodyOnStarknet(t *testing.T) {
	trial.OnlyFull(t)
	onStarknet(t, func(t *testing.T, o options) {
		w := start(t, o)
		chain := w.net.Starknet
		refundable := func(w *world) (*swapper.CreateSwapOutput, book) {
			before := w.book()
			w.net.LPs[0].Misbehave(lp.Fault{})
			s := w.create(w.outgoing()[swapper.SwapToBTC]())
			w.net.LPs[0].Misbehave(lp.Fault{NotPayable: true})
			w.until(s.SwapID, is("REFUNDABLE"))
			return s, before
		}
		t.Run("a refund whose fee is overtaken", func(t *testing.T) {
			w := w.in(t)
			s, before := refundable(w)
			chain.Hold(true)
			defer chain.Hold(false)
			slow, first := w.signedOnStarknet(w.asked(s.SwapID))
			if err := w.submit(s.SwapID, slow); err != nil && fault.CodeOf(err) != fault.Timeout {
				t.Errorf("the first: %v", err)
			}
			if a := w.look(s.SwapID).CurrentAction; a != nil {
				t.Errorf("asked to do %+v at once", a)
			}
			w.net.Clock.Add(4 * time.Minute)
			fast, second := w.signedOnStarknet(w.asked(s.SwapID))
			if first[0].Nonce != second[0].Nonce || second[0].Bounds.L2.MaxPrice.Cmp(first[0].Bounds.L2.MaxPrice) <= 0 {
				t.Errorf("nonce %d, price %v after nonce %d, price %v", second[0].Nonce, second[0].Bounds.L2.MaxPrice, first[0].Nonce, first[0].Bounds.L2.MaxPrice)
			}
			if err := w.submit(s.SwapID, fast); err != nil && fault.CodeOf(err) != fault.Timeout {
				t.Errorf("the second: %v", err)
			}
			chain.Hold(false)
			chain.Mine(1)
			w.reached(s.SwapID, "REFUNDED")
			w.only(w.since(before), map[string]int64{})
			id, err := second[0].Hash()
			if err == nil {
				err = chain.Wait(t.Context(), id)
			}
			if err != nil {
				t.Errorf("the second is in no block: %v", err)
			}
		})
		t.Run("a refund that the nodes forget", func(t *testing.T) {
			w := w.in(t)
			s, before := refundable(w)
			chain.Hold(true)
			defer chain.Hold(false)
			forgotten, _ := w.signedOnStarknet(w.asked(s.SwapID))
			if err := w.submit(s.SwapID, forgotten); err != nil && fault.CodeOf(err) != fault.Timeout {
				t.Errorf("taken by the node: %v", err)
			}
			chain.Server().Misbehave(starknet.NodeFault{Fail: []string{"starknet_addInvokeTransaction"}}) // it is not sent again
			chain.DropPending()
			w.look(s.SwapID)
			w.advance(20 * time.Minute)
			again := w.asked(s.SwapID)
			chain.Server().Misbehave(starknet.NodeFault{})
			chain.Hold(false)
			if err := w.user.Do(w.within(30*time.Second), s.SwapID, again); err != nil {
				t.Logf("again: %v", err) // an attempt to send the first one may have got through
			}
			w.ended(s.SwapID, "REFUNDED")
			w.only(w.since(before), map[string]int64{})
		})
		t.Run("the opening without the account's deployment", func(t *testing.T) {
			w := w.in(t)
			w.net.LPs[0].Misbehave(lp.Fault{})
			newcomer := chain.NewAccount()
			trial.Do(t, chain.Fund(t.Context(), newcomer.Address, starknet.STRK(10)))
			trial.Do(t, chain.Mint(t.Context(), starknet.WBTC, newcomer.Address, big.NewInt(100_000)))
			user := *w.user
			user.Starknet = &newcomer.Key
			w.user = &user
			in := w.outgoing()[swapper.SwapToBTCLN]()
			in.SrcAddress = wire.Hex64(newcomer.Address)
			s := w.create(in)
			all, txs := w.signedOnStarknet(w.asked(s.SwapID))
			if len(txs) != 2 || txs[0].Type != wire.DeployAccount || txs[1].Type != wire.Invoke {
				t.Fatalf("%d transactions", len(txs))
			}
			if err := w.submit(s.SwapID, all[1:]); fault.CodeOf(err) != fault.InvalidInput {
				t.Errorf("without the first: %v", err)
			}
			if err := w.submit(s.SwapID, all); err != nil {
				t.Error(err)
			}
			if end := w.finish(s.SwapID); !end.IsSuccess {
				t.Errorf("ended as %s", end.State.Name)
			}
			if left, want := w.holds(in.SrcAddress, "WBTC").Int64(), 100_000-raw(s.Quote.InputAmount); left != want {
				t.Errorf("has %d, want %d", left, want)
			}
		})
	})
}
