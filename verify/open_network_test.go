package verify_test

import (
	"math/big"
	"strings"

	"github.com/swapper-go/swapper"
	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/internal/trial"
)

// A payment over Lightning for which the user opens the escrow: the service gets the opening
// of the agreed escrow and no other, and never the secret. The claim needs no service.
func opensFromLightning(w *world) {
	if !w.opensItself() {
		w.Skip("providers open the escrows here")
	}
	v := w.wallet()
	toOpen := func(id string) *swapper.SignSmartChainTransaction {
		w.Helper()
		out := trial.Must(w.net.User.FinishUntil(w.Context(), v, id, signs))(w)
		return out.CurrentAction.(*swapper.SignSmartChainTransaction)
	}
	other := toOpen(w.in(v).SwapID)
	before := w.balance()
	s := w.in(v)
	reveal := true
	for name, c := range map[string]struct {
		refused bool
		lie     func(*swapper.GetSwapStatusOutput)
	}{
		"an escrow for another payment": {true, func(out *swapper.GetSwapStatusOutput) {
			out.CurrentAction.(*swapper.SignSmartChainTransaction).Txs = other.Txs
		}},
		"two escrows": {true, func(out *swapper.GetSwapStatusOutput) {
			a := out.CurrentAction.(*swapper.SignSmartChainTransaction)
			a.Txs = append(a.Txs, other.Txs...)
		}},
		"another signer": {true, func(out *swapper.GetSwapStatusOutput) {
			out.CurrentAction.(*swapper.SignSmartChainTransaction).RequiredSigner = "?"
		}},
		"another chain": {true, func(out *swapper.GetSwapStatusOutput) {
			out.CurrentAction.(*swapper.SignSmartChainTransaction).Chain = "MARS"
		}},
		"the secret before the escrow opens": {false, func(out *swapper.GetSwapStatusOutput) { out.CurrentAction, out.RequiresSecretReveal = nil, &reveal }},
	} {
		w.service.status = func(out *swapper.GetSwapStatusOutput) {
			if signs(out) {
				c.lie(out)
			}
		}
		var got *swapper.GetSwapStatusOutput
		_, err := w.net.User.FinishUntil(w.Context(), v, s.SwapID, func(out *swapper.GetSwapStatusOutput) bool { got = out; return out.ActionError != nil || signs(out) })
		if c.refused && !refuses(err) || !c.refused && (err != nil || got.ActionError == nil || got.ActionError.Code != fault.Unsupported || !strings.Contains(got.ActionError.Error, "secret")) {
			w.Errorf("%s: got %+v, %v", name, got, err)
		}
	}
	w.service.status = nil
	toOpen(s.SwapID)
	if _, err := v.SubmitTransaction(w.Context(), swapper.SubmitTransactionInput{SwapID: s.SwapID, SignedTxs: other.Txs}); err == nil {
		w.Error("another swap's opening is taken")
	}
	taken := len(w.service.taken)
	if _, err := w.net.User.FinishUntil(w.Context(), v, s.SwapID, func(*swapper.GetSwapStatusOutput) bool { return len(w.service.taken) > taken }); err != nil {
		w.Fatal(err)
	}
	opened := func(out *swapper.GetSwapStatusOutput) bool {
		return strings.HasPrefix(out.State.Description, "By the wallet's own nodes the escrow is open")
	}
	if _, err := w.net.User.FinishUntil(w.Context(), v, s.SwapID, opened); err != nil {
		w.Fatal(err)
	}
	w.service.gone = true
	end := trial.Must(w.net.User.Finish(w.Context(), v, s.SwapID))(w)
	if !end.IsSuccess {
		w.Errorf("the swap ends as %+v", end.ListSwapOutput)
	}
	if got := new(big.Int).Sub(w.balance(), before); got.Cmp(s.Quote.OutputAmount.RawAmount) != 0 {
		w.Errorf("received %s, want the agreed %s", got, s.Quote.OutputAmount.RawAmount)
	}
	if w.service.secrets != 0 || len(w.service.taken) != taken+1 {
		w.Errorf("the service heard the secret %d times and got %d submissions, want none and the opening", w.service.secrets, len(w.service.taken)-taken)
	}
}
