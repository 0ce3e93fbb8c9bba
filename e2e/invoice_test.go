package e2e

import (
	"math/big"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/ethclient"

	"github.com/swapper-go/swapper"
	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/internal/devnet/lp"
)

// send broadcasts what the current action asks for without handing it in.
func (w *world) send(id string) {
	w.t.Helper()
	signed := w.sign(id)
	node, err := ethclient.Dial(w.net.EVM.URL())
	if err != nil {
		w.t.Fatal(err)
	}
	defer node.Close()
	for _, text := range signed {
		tx := new(types.Transaction)
		if err := tx.UnmarshalBinary(hexutil.MustDecode(text)); err != nil {
			w.t.Fatal(err)
		}
		if err := node.SendTransaction(w.t.Context(), tx); err != nil {
			w.t.Fatal(err)
		}
		if _, err := w.net.EVM.Wait(w.t.Context(), tx.Hash()); err != nil {
			w.t.Fatal(err)
		}
	}
}

// sign signs what the current action asks for.
func (w *world) sign(id string) []string {
	w.t.Helper()
	s := w.until(id, func(s *swapper.GetSwapStatusOutput) bool {
		return asksFor[*swapper.SignSmartChainTransaction](s) != nil
	})
	signed, err := w.user.SignEVM(asksFor[*swapper.SignSmartChainTransaction](s).Txs)
	if err != nil {
		w.t.Fatal(err)
	}
	return signed
}

// Two swaps of one invoice: through us only one can be opened. If the wallet opens
// both by itself, both are followed, and what is not paid comes back.
func TestTwoSwapsOfOneInvoice(t *testing.T) {
	t.Parallel()
	w := start(t, options{})
	t.Run("the second is refused", func(t *testing.T) {
		w := w.in(t)
		in := w.outgoing()[swapper.SwapToBTCLN]()
		first, second := w.create(in), w.create(in)
		late := w.sign(second.SwapID)
		w.net.LPs[0].Misbehave(lp.Fault{NeverPay: true})
		defer w.net.LPs[0].Misbehave(lp.Fault{})
		w.until(first.SwapID, is("COMMITED"))
		_, err := w.client.SubmitTransaction(w.within(20*time.Second), swapper.SubmitTransactionInput{SwapID: second.SwapID, SignedTxs: late})
		if fault.CodeOf(err) != fault.InvalidState || err.Error() == "" {
			t.Errorf("the second submission: %v", err)
		}
		s, err := w.user.Look(t.Context(), second.SwapID)
		if err != nil || s.CurrentAction != nil || s.ActionError == nil || s.ActionError.Code != fault.InvalidState {
			t.Errorf("the second swap shows %+v, %v", s, err)
		}
		w.net.LPs[0].Misbehave(lp.Fault{})
		w.ended(first.SwapID, "CLAIMED")
		if _, err := w.client.CreateSwap(t.Context(), in); fault.CodeOf(err) != fault.InvalidState {
			t.Errorf("a third swap of the paid invoice: %v", err)
		}
	})
	t.Run("the wallet opens both", func(t *testing.T) {
		w := w.in(t)
		in := w.outgoing()[swapper.SwapToBTCLN]()
		first, second := w.create(in), w.create(in)
		before := w.balance(w.net.EVM.Contracts().Token)
		w.net.LPs[0].Misbehave(lp.Fault{NeverPay: true})
		defer w.net.LPs[0].Misbehave(lp.Fault{})
		w.user.Refuse = func(swapper.Action) bool { return true } // nothing is handed in
		w.send(second.SwapID)                                     // and the first follows what the second takes
		w.send(first.SwapID)
		for _, id := range []string{first.SwapID, second.SwapID} {
			w.watch(id, is("COMMITED"))
		}
		// One of them has the invoice, and the other says so.
		problems := 0
		for _, id := range []string{first.SwapID, second.SwapID} {
			if s := w.look(id); s.ActionError != nil {
				problems++
			}
		}
		if problems != 1 {
			t.Errorf("%d of two swaps show a problem", problems)
		}
		w.advance(8 * 24 * time.Hour)
		w.user.Refuse = nil
		for _, id := range []string{first.SwapID, second.SwapID} {
			w.ended(id, "REFUNDED")
		}
		if lost := new(big.Int).Sub(before, w.balance(w.net.EVM.Contracts().Token)); lost.Sign() != 0 {
			t.Errorf("%v lost", lost)
		}
	})
}
